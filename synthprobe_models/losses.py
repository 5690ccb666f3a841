"""What training makes small: the losses, by name.

Every loss is a mean over the samples of a batch of a value for each sample. Two halves of a batch
therefore average to the whole, so that a run on several processes learns as a run on one, and a
loss over a test set does not depend on its batches. (The public code of AdaBins takes one root over
all pixels of a batch, for which neither holds; its formula is that of one picture. `silog_of_batch`
alone does so, too, as a report has it.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from synthprobe_data import SynthprobeError

Loss = Callable[..., Tensor]
"""From a prediction, a target, and what else it needs, to a scalar."""

LEAST_DEPTH: Final = 1 / 256
"""Below it the logarithm goes on as a straight line; no target of RDE is smaller."""
BACKGROUND_OF_TWO: Final = 1 / 2
MIDDLE_OF_TWO: Final = 5 / 6
"""Of pictures with two ranks: what tells the background from rectangles, and the middle between the
two."""
BATCH_EPSILON: Final = 1e-6
ADABINS_SCALE: Final = 10.0
ADABINS_VARIANCE: Final = 0.85
"""The constants of AdaBins: the factor before the root, and the part of the squared mean that is
taken off."""


def scale_invariant(prediction: Tensor, target: Tensor) -> Tensor:
    """The scale-invariant loss as in AdaBins, 10 sqrt(mean(g²) - 0.85 mean(g)²).

    g = log(prediction) - log(target), and the means are over the pixels of a picture.

    Parameters
    ----------
    prediction, target
        Depths (n, 1, H, W), or any shape with one row for each picture. As a network may predict
        what has no logarithm, it is continued by its tangent below `LEAST_DEPTH`, where a clamp
        would leave nothing to learn from.
    """
    return ADABINS_SCALE * silog(prediction, target, weight=1 - ADABINS_VARIANCE)


def silog(prediction: Tensor, target: Tensor, *, weight: float = 1 - ADABINS_VARIANCE) -> Tensor:
    """The root of the variance of the log error plus `weight` times its squared mean.

    Parameters
    ----------
    prediction, target
        As for `scale_invariant`.
    weight
        0 forgives a wrong scale altogether; 1 makes it the root of the mean square.
    """
    predicted, true = _rows(prediction, target)
    error = _log(predicted) - _log(true)
    mean = error.mean(1)
    variance = (error - mean[:, None]).square().mean(1)
    return _root(variance + weight * mean.square()).mean()


def silog_of_batch(
    prediction: Tensor,
    target: Tensor,
    *,
    weight: float = 1 - ADABINS_VARIANCE,
    epsilon: float = BATCH_EPSILON,
) -> Tensor:
    """SILog as the report on two tasks has it in code: one root over all valid pixels of a batch.

    Both depths are clamped from below by `epsilon`, which is also added under the root; a pixel is
    valid where the target is above 0. The report names neither `epsilon` nor `weight` (its gamma).
    Unlike the other losses this is no mean over samples, so it depends on how they are batched.

    Parameters
    ----------
    prediction, target
        Depths, (n, 1, H, W). A prediction below `epsilon` is not learnt from.
    weight
        Of the squared mean.
    epsilon
        As above.
    """
    check_shapes(prediction, target)
    predicted, true = (_at_least_single(one) for one in (prediction, target))
    valid = true > 0
    error = true.clamp(min=epsilon).log() - predicted.clamp(min=epsilon).log()
    count = valid.sum().clamp(min=1)
    mean = torch.where(valid, error, 0).sum() / count
    variance = torch.where(valid, error - mean, 0).square().sum() / count
    return (variance + weight * mean.square() + epsilon).sqrt()


def mse(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean squared error, over all entries of the target.

    Parameters
    ----------
    prediction, target
        Of one shape, with one row for each sample.
    """
    predicted, true = _rows(prediction, target)
    return (predicted - true).square().mean()


def two_task(
    prediction: Tensor,
    target: Tensor,
    *,
    classes: Tensor,
    weight: float = 0.5,
    of_batch: bool = False,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Depth and segmentation at once: (1 - weight) x cross entropy + weight x SILog.

    Parameters
    ----------
    prediction
        (n, k + 1, H, W): a score for each of k classes, then the depth.
    target
        The depth, (n, 1, H, W).
    classes
        The class of every pixel, whole numbers (n, H, W) from 0 to k - 1.
    weight
        The part of the depth, from 0 to 1.
    of_batch
        Whether the SILog is `silog_of_batch`, as in the report, or `silog`.
    label_smoothing
        The part of each class's probability that is shared out among all classes.
    """
    if not 0 <= weight <= 1:
        raise SynthprobeError(f"weight is {weight!r}: it must be from 0 to 1.")
    scores, depth = prediction[:, :-1], prediction[:, -1:]
    scores = _at_least_single(scores)
    segmentation = F.cross_entropy(scores, classes.long(), label_smoothing=label_smoothing)
    of_depth = silog_of_batch if of_batch else silog
    return (1 - weight) * segmentation + weight * of_depth(depth, target)


def rank_cross_entropy(
    prediction: Tensor, target: Tensor, *, label_smoothing: float = 0.0
) -> Tensor:
    """The cross entropy of saying which of two ranks a pixel has, over the pixels of rectangles.

    The logit is how far the prediction lies above the middle between the two.

    Parameters
    ----------
    prediction, target
        Ranks as networks see them, (n, 1, H, W): 1/3 for the background, 2/3 and 1. Each picture
        counts the same.
    label_smoothing
        The part of the probability of the right rank that is shared out to both.
    """
    predicted, true = _rows(prediction, target)
    rectangle = true > BACKGROUND_OF_TWO
    front = (true > MIDDLE_OF_TWO).to(predicted.dtype)
    front = (1 - label_smoothing) * front + label_smoothing / 2
    entropy = F.binary_cross_entropy_with_logits(predicted - MIDDLE_OF_TWO, front, reduction="none")
    counts = rectangle.sum(1).clamp(min=1)
    return ((entropy * rectangle).sum(1) / counts).mean()


LOSSES: Final[Mapping[str, Loss]] = {
    "scale-invariant": scale_invariant,
    "silog": silog,
    "silog-of-batch": silog_of_batch,
    "mse": mse,
    "two-task": two_task,
    "rank-cross-entropy": rank_cross_entropy,
}
"""By name. All take a prediction and a target. ``rank-cross-entropy`` is for two ranks;
``two-task``, which is for networks with two tasks, also needs ``classes``."""


def find_loss(name: str) -> Loss:
    """The loss with this name; `SynthprobeError` if there is none."""
    if name not in LOSSES:
        raise SynthprobeError(f"there is no loss {name!r}: take one of {', '.join(LOSSES)}.")
    return LOSSES[name]


def make_loss(name: str, options: Mapping[str, Any] | None = None) -> Loss:
    """A loss with options of its own.

    Parameters
    ----------
    name
        In `LOSSES`.
    options
        Such as ``weight`` of ``two-task``, the part of the depth; `SynthprobeError` for one that
        the loss does not have, or that is no number from 0 to 1.
    """
    loss = find_loss(name)
    if not options:
        return loss
    known = {
        option.name: option.default
        for option in signature(loss).parameters.values()
        if option.kind is option.KEYWORD_ONLY and option.default is not option.empty
    }
    for option, value in options.items():
        if option not in known:
            raise SynthprobeError(
                f"the loss {name} has no option {option!r}: take of {', '.join(known) or 'none'}."
            )
        if isinstance(known[option], bool):
            if not isinstance(value, bool):
                raise SynthprobeError(f"{option} is {value!r}: it must be true or false.")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise SynthprobeError(f"{option} is {value!r}: it must be a number from 0 to 1.")
    return partial(loss, **options)


def check_shapes(prediction: Tensor, target: Tensor) -> None:
    """Raise `SynthprobeError` for shapes that differ, which would broadcast to nonsense."""
    if prediction.shape != target.shape:
        raise SynthprobeError(
            f"the prediction has the shape {tuple(prediction.shape)}, but the target "
            f"{tuple(target.shape)}: they must be equal."
        )


def _rows(prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both with each sample as one row, in single precision or better."""
    check_shapes(prediction, target)
    return _at_least_single(prediction).flatten(1), _at_least_single(target).flatten(1)


def _at_least_single(values: Tensor) -> Tensor:
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _log(depth: Tensor) -> Tensor:
    """The logarithm, continued by its tangent at `LEAST_DEPTH`."""
    bounded = depth.clamp(min=LEAST_DEPTH)
    return bounded.log() + (depth - bounded) / LEAST_DEPTH


def _root(square: Tensor) -> Tensor:
    """The square root, whose gradient at 0 is 0 and not infinite."""
    zero = square == 0  # NaN is not, and so stays visible
    return torch.where(zero, 0, torch.where(zero, 1, square).sqrt())
