"""What an inspection looks like on a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from synthprobe_models.costs import Growth, Part
from synthprobe_models.inspection import Inspection, Sight


def inspection_text(found: Inspection) -> str:
    """An inspection, on about one screen."""
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
    for sight in found.sights:
        lines += ["", *_sight(sight, "one layer" if found.layer else "the network")]
    return "\n".join(lines)


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
    translation = sight.translation
    centre, corner = sight.centre, sight.corner
    sees = _yes(sight.sees_all)
    if sight.can_see_all and not sight.sees_all:
        sees = "yes, but not for every input"
    return [
        f"{what}, {sides(sight.shape)} positions:",
        f"  sees everything          {sees}: of the input, the centre hears {centre.share:.1%} and "
        f"the corner {corner.share:.1%}",
        f"  translation covariant    {covariance(sight)}: error {translation.inside:.1e}; of "
        f"contrasts {translation.contrast:.1e}, up to the edge {translation.edge:.1e}, cyclic "
        f"{translation.cyclic:.1e}",
        f"  permutation equivariant  {_yes(sight.permutation_equivariant)}: error "
        f"{sight.permutation:.1e}",
        f"  deterministic            {_yes(sight.deterministic)}",
    ]


def covariance(sight: Sight) -> str:
    """Whether it is translation covariant, in a word or two."""
    step = sight.translation.step
    if sight.translation_covariant:
        return "yes"
    if sight.covariant_but_for_a_pattern:
        return "but for a fixed pattern"
    return "no" if step is None else f"by steps of {step}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def columns(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Rows of cells as lines, in columns of which some are aligned at the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    aligned = set(right)
    return [
        "  ".join(
            cell.rjust(width) if k in aligned else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
