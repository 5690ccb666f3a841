"""How many parameters networks have, found without giving them values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.parts import Mix, Pointwise
from synthprobe_models.networks.stack import MakeStructure
from synthprobe_models.networks.unet import DOWN_SAMPLINGS, Scale, check_hidden, scale_shapes


def count_parameters(module: nn.Module) -> int:
    """How many trainable parameters a module has."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def nearest_width(count: Callable[[int], int], parameters: int, largest: int) -> int:
    """The width that gives a network the number of parameters nearest to a given one.

    Parameters
    ----------
    count
        From a width to the parameters, which must be no fewer with a larger one. Widths that it
        refuses with `SynthprobeError`, such as those that heads do not divide, are left out.
    parameters
        The number to come near to.
    largest
        No width above this one is taken.
    """
    counts: dict[int, int] = {}
    refusal = SynthprobeError(f"no width from 1 to {largest} can be taken.")
    widths = list(range(1, largest + 1))
    low, guess = 0, float(largest)
    while widths:
        width = min(widths, key=lambda one: abs(one - guess))
        try:
            counts[width] = count(width)
        except SynthprobeError as error:
            refusal = error
            widths.remove(width)
            continue
        if counts[width] < parameters:
            low, widths = width, [one for one in widths if one > width]
        else:
            high, widths = width, [one for one in widths if one < width]
        if widths:
            # Parameters are nearly quadratic in the width, so their root is nearly linear.
            below, above = math.sqrt(counts.get(low, 0)), math.sqrt(counts[high])
            guess = low + (high - low) * (math.sqrt(parameters) - below) / (above - below)
    if not counts:
        raise refusal
    return min(counts, key=lambda one: abs(counts[one] - parameters))


def count_unet(
    make: MakeStructure,
    *,
    inputs: int,
    outputs: int,
    shape: Sequence[int],
    width: int,
    down_samplings: int = DOWN_SAMPLINGS,
    added_hidden: int = 0,
) -> int:
    """The parameters of the `UNet` with the same arguments.

    Only the structures are built for it, one for all scales of a shape; what is around them is
    counted once for all structures.

    Parameters
    ----------
    make, inputs, outputs, shape, width, down_samplings, added_hidden
        As for `UNet`.
    """

    def build(size: Sequence[int]) -> nn.Module:
        return Mix(make(width, size), width)

    more = [
        count_parameters(build_bare(partial(build, size))) - _count_mix(width)
        for size in scale_shapes(shape, down_samplings)
    ]
    # The encoder has every scale, the decoder all but the coarsest.
    frame = _count_frame(inputs, outputs, width, down_samplings)
    check_hidden(width, added_hidden)
    added = added_hidden * hidden_step(width, down_samplings)
    return frame + added + sum(more) + sum(more[:-1])


def hidden_step(width: int, down_samplings: int = DOWN_SAMPLINGS) -> int:
    """The parameters that one more hidden channel gives a `UNet`.

    Parameters
    ----------
    width, down_samplings
        As for `UNet`.
    """
    return (2 * width + 1) * (2 * down_samplings + 1)


@cache
def _count_frame(inputs: int, outputs: int, width: int, down_samplings: int) -> int:
    """The parameters of a U-Net whose structures have none."""
    stem, head, encoder, decoder = (
        count_parameters(build_bare(build))
        for build in (
            partial(Pointwise, inputs, width),
            partial(Pointwise, width, outputs),
            partial(Scale, _no_structure, width, width, ()),
            partial(Scale, _no_structure, 2 * width, width, ()),
        )
    )
    return stem + encoder + down_samplings * (encoder + decoder) + head


@cache
def _count_mix(width: int) -> int:
    return count_parameters(build_bare(lambda: Mix(nn.Identity(), width)))


def _no_structure(channels: int, shape: Sequence[int]) -> nn.Module:
    return nn.Identity()


def build_bare(build: Callable[[], nn.Module]) -> nn.Module:
    """Build a module without values, or with them if it cannot be built without.

    Neither memory, if that can be, nor random numbers are used up.

    Parameters
    ----------
    build
        Makes the module.
    """
    with torch.random.fork_rng(devices=[]):
        try:
            with torch.device("meta"), _SkipInitialisation():
                return build()
        except SynthprobeError:
            raise
        except Exception:  # whatever a structure does with values when it is built
            return build()


_DRAWS: Final = (Tensor.normal_, Tensor.uniform_, Tensor.random_)
"""Methods that some initialisations call on the tensor itself."""


class _SkipInitialisation(TorchFunctionMode):
    """What has no values needs no initial ones; to pretend takes a third of the time."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        _types: Sequence[type],
        positional: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        if getattr(function, "__module__", "") == nn.init.__name__ or function in _DRAWS:
            return (*positional, *(named or {}).values())[0]
        return function(*positional, **(named or {}))
