"""A convolution with batch normalisation, which the structures before attention are made of."""

from __future__ import annotations

from torch import nn


def conv_norm(
    inputs: int,
    outputs: int,
    kernel: int,
    *,
    stride: int = 1,
    dilation: int = 1,
    groups: int = 1,
    bias: bool = False,
    activation: type[nn.Module] | None = nn.ReLU,
) -> nn.Sequential:
    """A convolution, batch normalisation and an activation; without a stride the size stays.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    kernel
        Width of the kernel, an odd number.
    stride, dilation, groups, bias
        Of the convolution.
    activation
        After the normalisation; ``None`` for none.
    """
    padding = dilation * (kernel // 2)
    convolution = nn.Conv2d(
        inputs, outputs, kernel, stride, padding, dilation, groups=groups, bias=bias
    )
    norm = nn.BatchNorm2d(outputs)
    return nn.Sequential(convolution, norm, *([] if activation is None else [activation()]))
