"""What is done to the samples of a step, as far as their answers stay right.

=========  ==============================  ====================================================
name       where                           why not elsewhere
=========  ==============================  ====================================================
flip       every probe                     -
mixup      centered-square, loss mse       a blend of two scenes has no order, one of two colours
                                           no code; a painted square is linear in the pixel
cutmix     rde, two-task with weight 0     a pasted part brings cues of another scene with it and
                                           hides others, so ranks are no longer right; the colour
                                           of a pixel is
erasing    rde, two-task with weight 0     what is erased may have been the only cue; the class of
                                           an erased pixel is not asked for
=========  ==============================  ====================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from synthprobe_data import SynthprobeError
from synthprobe_models.data.feed import RunStep, stream
from synthprobe_models.networks.rank_and_color import TWO_TASK
from synthprobe_models.probes import PROBES
from synthprobe_models.training.settings import TrainSettings

_DRAWS: Final = 0x61756770  # "augp": no other draw of a run uses this stream
IGNORED: Final = -100
"""The class of a pixel that the cross entropy leaves out."""
GREATEST_ERASED: Final = 1 / 3
LEAST_ERASED: Final = 0.02
"""Shares of a picture that are erased, as in Zhong et al. 2020."""
NAMES: Final[Mapping[str, str]] = {
    "flip": "the probability that a sample is mirrored",
    "mixup": "alpha of the Beta distribution that two samples are blended by",
    "cutmix": "alpha of the Beta distribution of the part that is kept of a sample",
    "erasing": "the probability that a rectangle of a picture is filled with noise",
}


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """The augmentations of a run, with draws of their own for each step.

    Parameters
    ----------
    options
        By the names of `NAMES`: a probability, or an alpha.
    seed
        Of the draws.
    """

    options: Mapping[str, float]
    seed: int

    def __call__(
        self, x: Tensor, target: Tensor, classes: Tensor | None, at: RunStep
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Change a batch.

        Parameters
        ----------
        x, target
            The samples and what is right, one row each.
        classes
            Of two tasks: the class of each pixel.
        at
            Which step it is.
        """
        draws = stream(self.seed, _DRAWS, at)
        if "flip" in self.options:
            chosen = torch.from_numpy(draws.random(len(x)) < self.options["flip"]).to(x.device)
            x, target = _mirrored(x, chosen), _mirrored(target, chosen)
            classes = None if classes is None else _mirrored(classes, chosen)
        if "mixup" in self.options:
            share = float(draws.beta(self.options["mixup"], self.options["mixup"]))
            other = torch.from_numpy(draws.permutation(len(x))).to(x.device)
            x = share * x + (1 - share) * x[other]
            target = share * target + (1 - share) * target[other]
        if "cutmix" in self.options and classes is not None:
            kept = draws.beta(self.options["cutmix"], self.options["cutmix"])
            other = torch.from_numpy(draws.permutation(len(x))).to(x.device)
            rows, columns = _box(draws, x.shape[2:], 1 - kept)
            x, classes = x.clone(), classes.clone()
            x[..., rows, columns] = x[other][..., rows, columns]
            classes[..., rows, columns] = classes[other][..., rows, columns]
        if "erasing" in self.options and classes is not None:
            x, classes = x.clone(), classes.clone()
            for i in np.flatnonzero(draws.random(len(x)) < self.options["erasing"]):
                share = draws.uniform(LEAST_ERASED, GREATEST_ERASED)
                rows, columns = _box(draws, x.shape[2:], share)
                noise = draws.random(x[i, :, rows, columns].shape, dtype=np.float32)
                x[i, :, rows, columns] = torch.from_numpy(noise).to(x)
                classes[i, rows, columns] = IGNORED
        return x, target, classes


def make_augmentation(settings: TrainSettings) -> Augmentation | None:
    """The augmentations of a run; `SynthprobeError` for one that would make its answers wrong."""
    options = settings.augmentation
    if not options:
        return None
    for name, value in options.items():
        if name not in NAMES:
            raise SynthprobeError(f"there is no augmentation {name!r}: take of {', '.join(NAMES)}.")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        most = 1 if name in ("flip", "erasing") else 100
        if not number or not 0 < value <= most:
            raise SynthprobeError(f"{name} is {value!r}: it must be above 0, up to {most}.")
    blends = PROBES[settings.probe].blends and settings.loss == "mse"
    if "mixup" in options and not blends:
        raise SynthprobeError(
            "mixup is for centered-square with the loss mse: a blend of two other samples has no "
            "answer."
        )
    classes_alone = settings.loss == TWO_TASK and settings.loss_options.get("weight") == 0
    for name in ("cutmix", "erasing"):
        if name in options and not classes_alone:
            raise SynthprobeError(
                f"{name} is for rde with the loss two-task and weight=0, so for colours alone: it "
                f"makes ranks and other answers wrong."
            )
    return Augmentation(options=dict(options), seed=settings.seed)


def _mirrored(values: Tensor, chosen: Tensor) -> Tensor:
    """Some samples from right to left."""
    wide = chosen.view(-1, *(1,) * (values.ndim - 1))
    return torch.where(wide, values.flip(-1), values)


def _box(draws: Any, shape: Any, share: float) -> tuple[slice, slice]:
    """A rectangle of a share of the positions, cut at the border, anywhere."""
    found = []
    for side in shape:
        half = round(side * np.sqrt(share)) / 2
        middle = draws.integers(side)
        found.append(slice(max(0, int(middle - half)), min(side, int(middle + half))))
    return found[0], found[1]
