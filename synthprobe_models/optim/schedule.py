"""The learning rate over a run, as a factor for each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from synthprobe_data import SynthprobeError
from synthprobe_models.optim.paper import BETAS

WARM_UP: Final = 0.22
"""Greatest share of a run that is warm-up."""
WARM_DOWN: Final = 0.28
"""Share of a run that is warm-down: the last 14 of the paper's 50 epochs."""
FLOOR: Final = 0.006
"""The factor of the last step. Ranger21 ends at 3e-5, which is this much of the paper's 5e-3."""


@dataclass(frozen=True, kw_only=True)
class Ranger21Schedule:
    """Linear warm-up, flat, linear warm-down.

    The warm-up has 2 / (1 - β2) steps (Ma and Yarats 2019), but at most 22% of the run. (The code
    of Ranger21 takes 22% only where the rule asks for more than 45%. The two differ for runs of
    4,445 to 9,090 steps at β2 = 0.999, which none of the paper's is.)

    Parameters
    ----------
    steps
        Of the whole run.
    beta2
        Decay of the second moment of the optimiser.
    floor
        The factor of the last step.
    warm_up_share
        Share of the run that is warm-up, instead of the rule above.
    warm_down_share
        Share of the run that is warm-down.
    """

    steps: int
    beta2: float = BETAS[1]
    floor: float = FLOOR
    warm_up_share: float | None = None
    warm_down_share: float = WARM_DOWN

    def __post_init__(self) -> None:
        """Raise `SynthprobeError` for the first option that is wrong."""
        for name in ("beta2", "floor", "warm_up_share", "warm_down_share"):
            value = getattr(self, name)
            if name == "warm_up_share" and value is None:
                continue
            if not _is_number(value) or not 0 <= value <= 1 or (name == "beta2" and value == 1):
                raise SynthprobeError(f"{name} is {value!r}: it must be a number from 0 to 1.")
        if (self.warm_up_share or 0) + self.warm_down_share > 1:
            raise SynthprobeError("warm_up_share and warm_down_share are more than 1 together.")

    @property
    def warm_up(self) -> int:
        """Steps until the factor is 1."""
        if self.warm_up_share is not None:
            return max(1, round(self.warm_up_share * self.steps))
        return max(1, min(round(2 / (1 - self.beta2)), int(WARM_UP * self.steps)))

    @property
    def warm_down(self) -> int:
        """Steps after the last with factor 1."""
        return round(self.warm_down_share * self.steps)

    def __call__(self, step: int) -> float:
        """The factor of a step, counted from 0."""
        done = min(step + 1, self.steps)
        late = done - (self.steps - self.warm_down)
        if late > 0:
            return 1 - (1 - self.floor) * late / self.warm_down
        return min(1.0, done / self.warm_up)


@dataclass(frozen=True, kw_only=True)
class ConstantSchedule:
    """The same learning rate all the way.

    Parameters
    ----------
    steps
        Of the whole run.
    """

    steps: int

    def __call__(self, step: int) -> float:
        """The factor of a step, counted from 0: 1."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class _AfterWarmUp:
    """A schedule that begins with a linear warm-up, as ScalableViT's do.

    Parameters
    ----------
    steps
        Of the whole run.
    warm_up_share
        Share of the run that is warm-up. The schedule proper runs over all steps; the warm-up only
        keeps its first ones down.
    """

    steps: int
    warm_up_share: float = 0.0

    def __post_init__(self) -> None:
        """Raise `SynthprobeError` for the first option that is wrong."""
        _check_share("warm_up_share", self.warm_up_share)

    def __call__(self, step: int) -> float:
        """The factor of a step, counted from 0."""
        warm_up = round(self.warm_up_share * self.steps)
        factor = self.after(min(step, self.steps))
        return factor * min(1.0, (step + 1) / warm_up) if warm_up else factor

    def after(self, step: int) -> float:
        """The factor of a step without the warm-up."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class CosineSchedule(_AfterWarmUp):
    """Half a wave of a cosine, from 1 down to the floor.

    Parameters
    ----------
    floor
        The factor that it ends at.
    """

    floor: float = 0.0

    def __post_init__(self) -> None:
        """Raise `SynthprobeError` for the first option that is wrong."""
        super().__post_init__()
        _check_share("floor", self.floor)

    def after(self, step: int) -> float:
        """The factor of a step without the warm-up."""
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * step / self.steps)) / 2


@dataclass(frozen=True, kw_only=True)
class PolynomialSchedule(_AfterWarmUp):
    """(1 - step / steps) to a power.

    Parameters
    ----------
    power
        0.9 for the Semantic FPN of ScalableViT, 1 for its UperNet.
    """

    power: float = 0.9

    def __post_init__(self) -> None:
        """Raise `SynthprobeError` for the first option that is wrong."""
        super().__post_init__()
        if not _is_number(self.power) or not self.power > 0:
            raise SynthprobeError(f"power is {self.power!r}: it must be a number above 0.")

    def after(self, step: int) -> float:
        """The factor of a step without the warm-up."""
        return (1 - step / self.steps) ** self.power


@dataclass(frozen=True, kw_only=True)
class MultiStepSchedule(_AfterWarmUp):
    """A tenth of the rate from each milestone on.

    Parameters
    ----------
    milestones
        As shares of the run: by default the starts of epochs 9 and 12 of 12, after the 8th and the
        11th epoch, as for the detectors of ScalableViT.
    factor
        What the rate is multiplied by at each.
    """

    milestones: Sequence[float] = (8 / 12, 11 / 12)
    factor: float = 0.1

    def __post_init__(self) -> None:
        """Raise `SynthprobeError` for the first option that is wrong."""
        super().__post_init__()
        _check_share("factor", self.factor)
        if not isinstance(self.milestones, Sequence) or isinstance(self.milestones, str):
            raise SynthprobeError(
                f"milestones is {self.milestones!r}: it must be shares of the run, such as "
                f"[0.6, 0.9]."
            )
        for share in self.milestones:
            _check_share("a milestone", share)

    def after(self, step: int) -> float:
        """The factor of a step without the warm-up."""
        return self.factor ** sum(step >= round(share * self.steps) for share in self.milestones)


SCHEDULES: Final[Mapping[str, Callable[..., Callable[[int], float]]]] = {
    "ranger21": Ranger21Schedule,
    "constant": ConstantSchedule,
    "cosine": CosineSchedule,
    "polynomial": PolynomialSchedule,
    "multi-step": MultiStepSchedule,
}
"""By name."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_share(name: str, value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise SynthprobeError(f"{name} is {value!r}: it must be a number from 0 to 1.")


def schedule(name: str, steps: int, **options: Any) -> Callable[[int], float]:
    """The factor of the learning rate for each step, counted from 0.

    What is returned has no state, and can be pickled.

    Parameters
    ----------
    name
        In `SCHEDULES`.
    steps
        Of the whole run; at least 1.
    options
        Of the schedule, such as ``floor``.
    """
    if name not in SCHEDULES:
        raise SynthprobeError(f"there is no schedule {name!r}: take one of {', '.join(SCHEDULES)}.")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise SynthprobeError(f"steps is {steps!r}: it must be a whole number from 1.")
    try:
        return SCHEDULES[name](steps=steps, **options)
    except TypeError as error:
        known = [option for option in signature(SCHEDULES[name]).parameters if option != "steps"]
        wrong = next(option for option in options if option not in known)
        raise SynthprobeError(
            f"the schedule {name} has no option {wrong!r}: take of {', '.join(known) or 'none'}."
        ) from error


def make_schedule(name: str, optimizer: Optimizer, *, steps: int, **options: Any) -> LambdaLR:
    """A schedule that sets the learning rate of an optimiser; call its `step` after each step.

    Parameters
    ----------
    name, steps, options
        As for `schedule`.
    optimizer
        Its learning rate becomes the highest one; where it has a β2, the warm-up follows it.
    """
    betas = optimizer.param_groups[0].get("betas")
    if name == "ranger21" and betas is not None:
        options = {"beta2": betas[1], **options}
    return LambdaLR(optimizer, schedule(name, steps, **options))
