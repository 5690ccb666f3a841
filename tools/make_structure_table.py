"""Write results/structures.md and .png: what each structure of the registry can see.

Everything in them is measured by the checks of `synthprobe-probe inspect`, on untrained layers; the
sentences follow from the figures. It takes some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from synthprobe_models.inspection.field_picture import draw_sheet, write_png
from synthprobe_models.inspection.inspect import Inspection, inspect
from synthprobe_models.inspection.report import covariance, sides
from synthprobe_models.inspection.sights import Sight
from synthprobe_models.inspection.symmetry import ROUNDING
from synthprobe_models.registry import STRUCTURES

CLAIM = "iwsa"

INTRODUCTION = """\
# What each structure can see

One untrained layer of each structure, in double precision, with random inputs, built as in the
probe {probe} where it fits. `python tools/make_structure_table.py` writes this page and the
picture; `synthprobe-probe inspect NAME` says more about one structure.

![Which positions the centre depends on](structures.png)

The picture shows for each structure how much the output at the centre of {canvas} positions depends
on the input at each position: mean absolute gradient at initialisation, from blue to red over
six powers of ten, white where it is zero.
"""

LEGEND = """\
- **sees all**: the output at the centre and at a corner depends on every position of the input, for
  each of the random inputs. The shares are those of the positions that they depend on.
- **translation covariant**: a patch of noise on an empty canvas is moved, and so must be the
  output, away from the edge. *error* is the largest difference, relative to the largest change that
  the patch makes; below {rounding:.0e} it is rounding. *of contrasts* is the same for the
  difference between the outputs for two arrangements of the patch. A fixed pattern over the whole
  canvas is part of the first, and cancels in the second. Whatever weighs the background by
  displacements has such a pattern, as it sees the background end at the edge.
- **permutation equivariant**: the same for random permutations of all positions, in a picture
  ({canvas}) and, where a structure takes them so, in a row ({row}).
- **FLOPs** of matrix products and convolutions grow like this power of the number of positions N,
  for pictures from {first:,} to {last:,} positions (256 to 1,024 for a structure that cannot be
  counted without being run). *parameters* are those of the structure alone, at {width} channels and
  {shape} positions.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("names", nargs="*", default=list(STRUCTURES), help="which (all)")
    given = parser.parse_args()
    found = []
    for name in given.names:
        found.append(inspect(name))
        print(name, flush=True)
    given.out.mkdir(exist_ok=True)
    (given.out / "structures.md").write_text(page(found), "utf-8")
    fields = {one.name: one.sights[0].centre for one in found if len(one.sights[0].shape) == 2}
    write_png(draw_sheet(fields), given.out / "structures.png")


def page(found: list[Inspection]) -> str:
    first = found[0]
    growth = first.growth
    assert growth is not None
    canvas = sides(first.sights[0].shape)
    row = next((sides(s.shape) for one in found for s in one.sights if len(s.shape) == 1), "none")
    legend = LEGEND.format(
        rounding=ROUNDING,
        canvas=canvas,
        row=row,
        first=growth.positions[0],
        last=growth.positions[-1],
        width=first.width,
        shape=sides(first.shape),
    )
    parts = [
        INTRODUCTION.format(probe=first.probe, canvas=canvas),
        answers(found),
        legend,
        "\n".join(table(found)),
    ]
    return "\n".join(parts) + "\n"


def answers(found: list[Inspection]) -> str:
    """The questions in words."""

    def which(holds: Callable[[Sight], bool]) -> str:
        return ", ".join(one.name for one in found if holds(one.sights[0])) or "none"

    lines = [
        f"**Global in a single layer:** {which(lambda s: s.sees_all)}.",
        f"For some inputs only: {which(lambda s: s.can_see_all and not s.sees_all)}.",
        f"Not: {which(lambda s: not s.can_see_all)}.",
        "",
        f"**Translation covariant:** {which(lambda s: covariance(s) == 'yes')}.",
        f"But for a fixed pattern: {which(lambda s: covariance(s) == 'but for a fixed pattern')}.",
        f"By whole windows or squares only: {which(lambda s: covariance(s).startswith('by'))}.",
        f"Not: {which(lambda s: covariance(s) == 'no')}.",
        "",
        f"**Permutation equivariant:** {which(lambda s: s.permutation_equivariant)}.",
        "",
    ]
    for one in found:
        if one.name == CLAIM:
            sight = one.sights[0]
            verdict = "It does" if sight.sees_all else "It does not"
            lines += [
                '**Does IWSA, as the supplement of ScalableViT says, "realize a global receptive '
                'field in a single layer"?** '
                f"{verdict}: its centre depends on {sight.centre.share:.1%} of "
                f"{sides(sight.shape)} positions and its corner on {sight.corner.share:.1%}.",
                "",
            ]
    return "\n".join(lines)


def table(found: list[Inspection]) -> list[str]:
    lines = [
        "| structure | sees all | centre, corner | translation covariant | error | of contrasts "
        "| permutation equivariant | picture | row | FLOPs | parameters |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        sight, *others = one.sights
        exponent = one.growth.exponent if one.growth is not None else None
        seen = "yes" if sight.sees_all else "for some inputs" if sight.can_see_all else "no"
        cells = [
            one.name,
            seen,
            f"{sight.centre.share:.1%}, {sight.corner.share:.1%}",
            covariance(sight),
            written(sight.translation.inside),
            written(sight.translation.contrast),
            "yes" if sight.permutation_equivariant else "no",
            written(sight.permutation),
            written(others[0].permutation) if others else "",
            "none" if exponent is None else f"N^{exponent:.2f}",
            f"{next(part.parameters for part in one.layer if part.name == 'structure'):,}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def written(error: float) -> str:
    """What is rounding is not the same on every machine, so the page does not say how much."""
    return f"< {ROUNDING:.0e}" if error < ROUNDING else f"{error:.0e}"


if __name__ == "__main__":
    main()
