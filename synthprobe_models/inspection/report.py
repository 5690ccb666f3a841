"""What an inspection looks like on a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from synthprobe_models.inspection.costs import Growth, Part
from synthprobe_models.inspection.inspect import Inspection
from synthprobe_models.inspection.sights import Sight, Watcher
from synthprobe_models.inspection.symmetry import ROUNDING, ReceptiveField, TranslationErrors
from synthprobe_models.text import columns


def inspection_text(found: Inspection) -> str:
    """An inspection, on about one screen."""
    lines = _counted(found)
    for sight in found.sights:
        lines += ["", *_sight(sight, _what(found))]
    return "\n".join(lines)


class LiveReport(Watcher):
    """Prints the lines of `inspection_text` as soon as what they say is known."""

    def __init__(self) -> None:
        self._found: Inspection | None = None

    def counted(self, found: Inspection) -> None:
        """Print what was counted, but not twice."""
        before = [] if self._found is None else _counted(self._found)
        self._print(_counted(found)[len(before) :])
        self._found = found

    def saw(self, shape: Sequence[int], centre: ReceptiveField, corner: ReceptiveField) -> None:
        """Print what is seen."""
        assert self._found is not None  # counting comes first
        self._print(["", *_seen(_what(self._found), shape, centre, corner)])

    def moved(self, errors: TranslationErrors) -> None:
        """Print whether it is translation covariant."""
        self._print([_moved(errors)])

    def permuted(self, error: float) -> None:
        """Print whether it is permutation equivariant."""
        self._print([_permuted(error)])

    def ran_twice(self, deterministic: bool) -> None:
        """Print whether it is deterministic."""
        self._print([_twice(deterministic)])

    def _print(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                print(line, flush=True)
        except OSError as error:
            self.failure = error
            raise


def _what(found: Inspection) -> str:
    return "one layer" if found.layer else "the network"


def _counted(found: Inspection) -> list[str]:
    """What is counted, as far as it is known."""
    width = "" if found.width is None else f", {found.width} channels"
    lines = [
        f"{found.name}: {found.title}" + (f" ({found.source})" if found.source else ""),
        f"in the probe {found.probe}, {sides(found.shape)} positions{width}",
        "",
        *_parts("part of the network", found.network),
    ]
    if found.layer:
        lines += ["", *_parts("part of one layer", found.layer)]
    if found.growth is not None:
        lines += ["", growth_line(found.growth)]
    return lines


def sides(shape: Iterable[int]) -> str:
    """A shape as people write it."""
    return " x ".join(str(n) for n in shape)


def growth_line(growth: Growth) -> str:
    """How the cost grows, in one line."""
    first, last = growth.parameters[0], growth.parameters[-1]
    also = "do not" if first == last else f"do, too ({first:,} to {last:,})"
    if growth.exponent is None:
        return "no matrix product and no convolution, so no FLOPs are counted"
    return (
        f"FLOPs of the structure grow like N^{growth.exponent:.2f} (N from "
        f"{growth.positions[0]:,} to {growth.positions[-1]:,}); its parameters {also}"
    )


def _parts(heading: str, parts: Sequence[Part]) -> list[str]:
    rows = [(heading, "parameters", "MFLOPs")]
    rows += [(part.name, f"{part.parameters:,}", f"{part.flops / 1e6:,.2f}") for part in parts]
    return columns(rows, right=(1, 2))


def _sight(sight: Sight, what: str) -> list[str]:
    return [
        *_seen(what, sight.shape, sight.centre, sight.corner),
        _moved(sight.translation),
        _permuted(sight.permutation),
        _twice(sight.deterministic),
    ]


def _seen(
    what: str, shape: Sequence[int], centre: ReceptiveField, corner: ReceptiveField
) -> list[str]:
    sees = _yes(min(centre.share, corner.share) == 1)
    if min(centre.ever, corner.ever) == 1 and sees == "no":
        sees = "yes, but not for every input"
    return [
        f"{what}, {sides(shape)} positions:",
        f"  sees everything          {sees}: of the input, the centre hears {centre.share:.1%} and "
        f"the corner {corner.share:.1%}",
    ]


def _moved(errors: TranslationErrors) -> str:
    return (
        f"  translation covariant    {_covariance(errors)}: error {errors.inside:.1e}; of "
        f"contrasts {errors.contrast:.1e}, up to the edge {errors.edge:.1e}, cyclic "
        f"{errors.cyclic:.1e}"
    )


def _permuted(error: float) -> str:
    return f"  permutation equivariant  {_yes(error < ROUNDING)}: error {error:.1e}"


def _twice(deterministic: bool) -> str:
    return f"  deterministic            {_yes(deterministic)}"


def covariance(sight: Sight) -> str:
    """Whether it is translation covariant, in a word or two."""
    return _covariance(sight.translation)


def _covariance(errors: TranslationErrors) -> str:
    if errors.inside < ROUNDING:
        return "yes"
    if errors.contrast < ROUNDING:
        return "but for a fixed pattern"
    return "no" if errors.step is None else f"by steps of {errors.step}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
