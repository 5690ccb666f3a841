"""What the checks see of one layer of a structure, or of a network, at some positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models.inspection.symmetry import (
    ROUNDING,
    ReceptiveField,
    TranslationErrors,
    check_size,
    double_precision,
    is_deterministic,
    permutation_error,
    receptive_field,
    seeded,
    stir,
    translation_errors,
)

if TYPE_CHECKING:
    from synthprobe_models.inspection.inspect import Inspection


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What the checks find out about one layer of a structure, or about a network."""

    shape: tuple[int, ...]
    """The positions."""
    centre: ReceptiveField
    corner: ReceptiveField
    translation: TranslationErrors
    permutation: float
    deterministic: bool

    @property
    def sees_all(self) -> bool:
        """Whether the output everywhere depends on the input everywhere, for every input."""
        return min(self.centre.share, self.corner.share) == 1

    @property
    def can_see_all(self) -> bool:
        """Whether there is for every position an input that lets it be seen."""
        return min(self.centre.ever, self.corner.ever) == 1

    @property
    def translation_covariant(self) -> bool:
        """Whether content moves through it, away from the edge."""
        return self.translation.inside < ROUNDING

    @property
    def covariant_but_for_a_pattern(self) -> bool:
        """Whether content moves through it, if a pattern that lies over all is left aside."""
        return self.translation.contrast < ROUNDING

    @property
    def permutation_equivariant(self) -> bool:
        """Whether it treats the positions as a set."""
        return self.permutation < ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "shape": list(self.shape),
            "sees_all": self.sees_all,
            "can_see_all": self.can_see_all,
            "reached": {
                name: {"at": list(field.at), "share": field.share, "ever": field.ever}
                for name, field in (("centre", self.centre), ("corner", self.corner))
            },
            "translation_covariant": self.translation_covariant,
            "covariant_but_for_a_pattern": self.covariant_but_for_a_pattern,
            "translation_errors": {
                name: _finite(error) for name, error in vars(self.translation).items()
            },
            "permutation_equivariant": self.permutation_equivariant,
            "permutation_error": _finite(self.permutation),
            "deterministic": self.deterministic,
        }


def _finite(error: float | None) -> float | None:
    """JSON knows no infinity, which is the error of what varies, but not with the input."""
    return error if error is None or math.isfinite(error) else None


class Watcher:
    """Is told every part of an inspection as soon as it is known; this one does not care."""

    failure: Exception | None = None
    """What went wrong with the watcher itself, which is no fault of the structure."""

    def counted(self, found: Inspection) -> None:
        """Parts or growth were counted; what is not known yet is empty.

        Parameters
        ----------
        found
            As far as it is known.
        """

    def saw(self, shape: Sequence[int], centre: ReceptiveField, corner: ReceptiveField) -> None:
        """What is seen was found out, the first check with these positions."""

    def moved(self, errors: TranslationErrors) -> None:
        """Content was moved."""

    def permuted(self, error: float) -> None:
        """Positions were permuted."""

    def ran_twice(self, deterministic: bool) -> None:
        """The same was computed twice, the last check."""


@dataclass(frozen=True)
class Check:
    """One sight that is to be taken."""

    seen: Callable[[], nn.Module]
    """Makes what is asked what it sees."""
    moved: Callable[[], nn.Module]
    """Makes what is asked for its symmetries."""
    channels: int
    shape: tuple[int, ...]
    seed: int

    def try_once(self) -> None:
        """Raise whatever is wrong with the module or the positions."""
        check_size(self.shape)
        with double_precision(), seeded(self.seed):
            _check_shape(self.seen(), self.channels, self.shape)

    def look(self, watcher: Watcher) -> Sight:
        """Take it, and tell each part."""
        given, seed = (self.channels, self.shape), self.seed
        with double_precision(), seeded(seed):
            layer, module = self.seen(), self.moved()
            _check_shape(layer, *given)
            stir(module, seed)
            centre = receptive_field(layer, *given, seed=seed)
            corner = receptive_field(layer, *given, at=(0,) * len(self.shape), seed=seed)
            watcher.saw(self.shape, centre, corner)
            translation = translation_errors(module, *given, seed=seed)
            watcher.moved(translation)
            permutation = permutation_error(module, *given, seed=seed)
            watcher.permuted(permutation)
            deterministic = is_deterministic(module, *given, seed=seed)
            watcher.ran_twice(deterministic)
        return Sight(
            shape=self.shape,
            centre=centre,
            corner=corner,
            translation=translation,
            permutation=permutation,
            deterministic=deterministic,
        )


def _check_shape(module: nn.Module, channels: int, shape: tuple[int, ...]) -> None:
    with torch.no_grad():
        y = module.eval()(torch.zeros(1, channels, *shape))
    if not isinstance(y, torch.Tensor) or y.shape[2:] != shape:
        given = tuple(y.shape) if isinstance(y, torch.Tensor) else type(y).__name__
        raise SynthprobeError(
            f"(1, {channels}, {', '.join(map(str, shape))}) became {given}: "
            f"the output must have the positions of the input."
        )
