"""The learning rate over a run, as a factor for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
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
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 <= value <= 1 or (name == "beta2" and value == 1):
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


SCHEDULES: Final[Mapping[str, type[Ranger21Schedule | ConstantSchedule]]] = {
    "ranger21": Ranger21Schedule,
    "constant": ConstantSchedule,
}
"""By name."""


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
        known = [field.name for field in fields(SCHEDULES[name]) if field.name != "steps"]
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
