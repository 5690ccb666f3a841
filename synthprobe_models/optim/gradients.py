"""What is done to the gradient of a parameter before any momentum.

A unit is one entry of the first axis: an output of a convolution or a linear layer with all that
leads to it. A parameter with fewer than two axes is one unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch
from torch import Tensor

LEAST_NORM: Final = 1e-12
"""Gradients with a smaller norm, or deviation, are divided by this instead."""


def clip_by_units(gradient: Tensor, parameter: Tensor, *, most: float, least_norm: float) -> Tensor:
    """Adaptive gradient clipping (Brock et al. 2021).

    The norm of each unit's gradient is at most `most` times that of its weights.

    Parameters
    ----------
    gradient, parameter
        Of one shape.
    most
        The greatest ratio of the two norms.
    least_norm
        Weights with a smaller norm, such as those that start at 0, count as if they had this.
    """
    bound = most * _unit_norm(parameter).clamp(min=least_norm)
    norm = _unit_norm(gradient)
    # Where the norm is 0 the quotient is infinite, and 1 is taken.
    return gradient * (bound / norm).clamp(max=1)


def centralise(gradient: Tensor) -> Tensor:
    """Gradient centralisation (Yong et al. 2020): the mean of each unit is taken off.

    A gradient with fewer than two axes, such as that of a bias, stays as it is.
    """
    if gradient.ndim < 2:
        return gradient
    return gradient - gradient.mean(tuple(range(1, gradient.ndim)), keepdim=True)


def norm_pull(parameter: Tensor) -> Tensor:
    """2 (1 - 1 / |w|) for each unit w: this times w is the gradient of (1 - |w|)².

    A unit of zeros has no direction to grow in, and stays.
    """
    norm = _unit_norm(parameter)
    return 2 * (1 - 1 / norm.clamp(min=LEAST_NORM))


def divide_by_norm(gradient: Tensor) -> Tensor:
    """The gradient divided by its norm: the paper's normalised gradient descent."""
    return gradient / torch.linalg.vector_norm(gradient).clamp(min=LEAST_NORM)


def divide_by_deviation(gradient: Tensor) -> Tensor:
    """The gradient divided by the standard deviation of its entries, as Ranger21 does.

    With one or two entries, whose deviation says nothing, it stays as it is.
    """
    if gradient.numel() <= 2:
        return gradient
    return gradient / gradient.std().clamp(min=LEAST_NORM)


NORMALISATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "none": lambda gradient: gradient,
    "norm": divide_by_norm,
    "deviation": divide_by_deviation,
}
"""By name."""


def _unit_norm(values: Tensor) -> Tensor:
    axes = tuple(range(1, values.ndim)) if values.ndim > 1 else None
    return torch.linalg.vector_norm(values, dim=axes, keepdim=True)
