"""What can be said of a structure without training it: what it sees, and which symmetries it has.

All of it is measured on the module itself, with random inputs in double precision. The module is
taken as in use (``eval``), and any randomness of its own is the same in all runs that are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError

ROUNDING: Final = 1e-9
"""A relative error below this is one of rounding, in double precision."""
SMALLEST: Final = 8
"""So many positions along each axis are needed to move something about."""
_NOTICED: Final = 1e-12
"""A gradient below this part of the largest one is rounding."""
_STIR: Final = 0.1
_MARGIN: Final = 4
"""One part in so many of the canvas, on every side, is close to the edge."""


@dataclass(frozen=True, kw_only=True)
class ReceptiveField:
    """How much one position of the output hears of each position of the input."""

    at: tuple[int, ...]
    """The position of the output."""
    sensitivity: Tensor
    """Of the shape of the positions: mean absolute gradient, over random inputs."""
    share: float
    """Share of the positions that it depends on, the mean over inputs."""
    ever: float
    """Share of the positions that it depends on for one of the inputs or another."""


@dataclass(frozen=True, kw_only=True)
class TranslationErrors:
    """How far from each other are: to move the input, or to move the output.

    Each is the largest difference over positions, channels and offsets, relative to the largest
    change that the content makes to the output.
    """

    inside: float
    """Content on an empty canvas, compared away from the edge."""
    contrast: float
    """The same for what tells two arrangements of one content apart: any pattern that lies over
    the canvas, however it came there, cancels."""
    edge: float
    """As ``inside``, compared up to the edge."""
    cyclic: float
    """A full canvas, from which content that leaves on one side comes back on the other."""
    step: int | None
    """The smallest step in which content can be moved without error (inside), if there is one."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, torch draws from this seed; outside, as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def double_precision() -> Iterator[None]:
    """Inside, modules are built in double precision, with all that they compute when built."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def stir(module: nn.Module, seed: int = 0) -> nn.Module:
    """Give noise to the parameters that start constant, and return the module.

    What starts at zero, such as a learned encoding of positions, would not show otherwise.
    """
    with seeded(seed), torch.no_grad():
        for parameter in module.parameters():
            if parameter.numel() and bool((parameter == parameter.flatten()[0]).all()):
                parameter.add_(torch.randn_like(parameter), alpha=_STIR)
    return module


def receptive_field(
    module: nn.Module,
    channels: int,
    shape: Sequence[int],
    *,
    at: Sequence[int] | None = None,
    inputs: int = 8,
    seed: int = 0,
) -> ReceptiveField:
    """The gradient of one position of the output with respect to every position of the input.

    Parameters
    ----------
    module
        Maps (batch, channels, *shape) to as many positions.
    channels, shape
        Of its input.
    at
        The position of the output; the centre by default.
    inputs
        How many random inputs, each with a random mixture of the output's channels.
    seed
        Of the random inputs.
    """
    place = tuple(n // 2 for n in shape) if at is None else tuple(at)
    index = int(np.ravel_multi_index(place, tuple(shape)))
    generator = torch.Generator().manual_seed(seed)
    total = torch.zeros(tuple(shape), dtype=torch.float64)
    ever = torch.zeros(tuple(shape), dtype=torch.bool)
    count = 0
    for _ in range(inputs):
        x = _draw(channels, shape, generator).requires_grad_()
        y = _run(module, x, seed)[0].flatten(1)[:, index]
        mixture = torch.randn(y.shape, generator=generator, dtype=y.dtype)
        gradient = torch.zeros_like(x)
        if y.requires_grad:
            (found,) = torch.autograd.grad(y @ mixture, x, allow_unused=True)
            gradient = gradient if found is None else found
        size = gradient[0].abs().mean(0)
        reached = size > _NOTICED * size.max()
        total += size / inputs
        count += int(reached.sum())
        ever |= reached
    return ReceptiveField(
        at=place,
        sensitivity=total,
        share=count / (inputs * total.numel()),
        ever=int(ever.sum()) / total.numel(),
    )


def check_size(shape: Sequence[int]) -> None:
    """Raise `SynthprobeError` if these positions are too few for `translation_errors`."""
    if min(shape) < SMALLEST:
        raise SynthprobeError(
            f"{' x '.join(map(str, shape))} positions are too few to move something about: "
            f"take at least {SMALLEST} along each axis."
        )


def translation_errors(
    module: nn.Module, channels: int, shape: Sequence[int], *, seed: int = 0
) -> TranslationErrors:
    """Whether content that is moved gives the same output, moved.

    The content is a patch of noise in the middle of a canvas of zeros, and no offset takes it to
    the edge. That is covariance as the Centered Square data ask for it. The edge of the canvas,
    which a picture cannot do without, tells positions to whatever sums the background up in
    a way that depends on displacements: then ``contrast`` is free of error, ``inside`` is not.

    Parameters
    ----------
    module
        Maps (batch, channels, *shape) to as many positions.
    channels, shape
        Of its input.
    seed
        Of the content.
    """
    check_size(shape)
    axes = tuple(range(2, 2 + len(shape)))
    full = _draw(channels, shape, torch.Generator().manual_seed(seed))
    middle = [(n // 2 - n // 12, n // 2 - n // 12 + max(2, n // 6)) for n in shape]
    content, other = torch.zeros_like(full), torch.zeros_like(full)
    _crop(content, middle).copy_(_crop(full, middle))
    _crop(other, middle).copy_(_crop(full, middle).flip(axes))

    @torch.no_grad()
    def run(x: Tensor, offset: tuple[int, ...] | None = None) -> Tensor:
        return _run(module, x if offset is None else x.roll(offset, axes), seed)

    empty, still, still_other, still_full = map(run, (torch.zeros_like(full), content, other, full))
    scale, scale_contrast = _largest(still - empty), _largest(still - still_other)
    scale_full = _largest(still_full - empty)
    if scale_contrast < ROUNDING * scale:  # a structure that does not tell arrangements apart
        scale_contrast = scale
    inside = contrast = edge = cyclic = 0.0
    for offset in _offsets(shape):
        moved = run(content, offset)
        wrong = moved - still.roll(offset, axes)
        inside = max(inside, _relative(_common(wrong, offset, inner=True), scale))
        edge = max(edge, _relative(_common(wrong, offset, inner=False), scale))
        wrong = moved - run(other, offset) - (still - still_other).roll(offset, axes)
        contrast = max(contrast, _relative(_common(wrong, offset, inner=True), scale_contrast))
        wrong = run(full, offset) - still_full.roll(offset, axes)
        cyclic = max(cyclic, _relative(wrong, scale_full))
    step = 1 if inside < ROUNDING else None
    if step is None:
        for size in range(2, min(shape) // _MARGIN + 1):
            offset = (size,) * len(shape)
            wrong = run(content, offset) - still.roll(offset, axes)
            if _relative(_common(wrong, offset, inner=True), scale) < ROUNDING:
                step = size
                break
    return TranslationErrors(inside=inside, contrast=contrast, edge=edge, cyclic=cyclic, step=step)


def permutation_error(
    module: nn.Module,
    channels: int,
    shape: Sequence[int],
    *,
    permutations: int = 4,
    seed: int = 0,
) -> float:
    """How far from each other are: to permute the positions of the input, or of the output.

    Parameters
    ----------
    module
        Maps (batch, channels, *shape) to as many positions.
    channels, shape
        Of its input.
    permutations
        How many random ones.
    seed
        Of the input and of the permutations.

    Returns
    -------
    float
        The largest difference, relative to the largest change that the input makes to the output.
    """
    generator = torch.Generator().manual_seed(seed)
    x = _draw(channels, shape, generator)
    with torch.no_grad():
        still = _run(module, x, seed)
        scale = _largest(still - _run(module, torch.zeros_like(x), seed))
        error = 0.0
        for _ in range(permutations):
            order = torch.randperm(x[0, 0].numel(), generator=generator)
            y = _run(module, x.flatten(2)[..., order].view_as(x), seed)
            wrong = y.flatten(2) - still.flatten(2)[..., order]
            error = max(error, _relative(wrong, scale))
    return error


def is_deterministic(
    module: nn.Module, channels: int, shape: Sequence[int], *, seed: int = 0
) -> bool:
    """Whether the same input gives the same output twice, to the bit.

    Parameters
    ----------
    module
        Maps (batch, channels, *shape) to anything.
    channels, shape
        Of its input.
    seed
        Of the input.
    """
    x = _draw(channels, shape, torch.Generator().manual_seed(seed))
    module.eval()
    with seeded(seed), torch.no_grad():
        return torch.equal(module(x), module(x))


def _draw(channels: int, shape: Sequence[int], generator: torch.Generator) -> Tensor:
    return torch.randn(1, channels, *shape, generator=generator, dtype=torch.float64)


def _run(module: nn.Module, x: Tensor, seed: int) -> Tensor:
    module.eval()
    with seeded(seed):
        y: Tensor = module(x)
    return y


def _offsets(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """By one along each axis, and as far as the content may go along all of them."""
    units = [tuple(int(a == b) for b in range(len(shape))) for a in range(len(shape))]
    far = tuple(max(1, n // 8) * (-1) ** axis for axis, n in enumerate(shape))
    return [*units, far, tuple(-step for step in far)]


def _common(values: Tensor, offset: Sequence[int], *, inner: bool) -> Tensor:
    """The positions that are on the canvas after a move and before it, both times well inside."""
    region = []
    for n, by in zip(values.shape[2:], offset, strict=True):
        margin = n // _MARGIN if inner else 0
        region.append((margin + max(0, by), n - margin + min(0, by)))
    return _crop(values, region)


def _crop(values: Tensor, region: Sequence[tuple[int, int]]) -> Tensor:
    """A view of some positions: along each axis from the first up to the last."""
    for axis, (start, stop) in enumerate(region, start=2):
        values = values.narrow(axis, start, stop - start)
    return values


def _largest(values: Tensor) -> float:
    return float(values.abs().max())


def _relative(wrong: Tensor, scale: float) -> float:
    """The largest error; a module that gives the same for any input is right, or all wrong."""
    largest = _largest(wrong)
    if scale == 0:
        return 0.0 if largest == 0 else float("inf")
    return largest / scale
