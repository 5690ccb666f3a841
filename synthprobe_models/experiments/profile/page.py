"""A profile as files: a page for people, its figure, and JSON for programs."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from synthprobe_models.experiments.profile.contradictions import contradictions
from synthprobe_models.experiments.profile.facts import Cell, Profile, profile_facts
from synthprobe_models.experiments.render import grid, origins, settings_that_differ
from synthprobe_models.files import make_folder, plain_json, replaced, write_text
from synthprobe_models.probes import ability_of
from synthprobe_models.probes.ability import IN_PART, NO, NOT_LEARNT, NOT_TRIED, TOO_FEW, YES
from synthprobe_models.seeds.rules import RATES

COLORS: Final = {
    YES: "#56b88f",
    IN_PART: "#f3e37c",
    NO: "#e58a63",
    NOT_LEARNT: "#c9b8d8",
    TOO_FEW: "#dcdcdc",
    NOT_TRIED: "#ffffff",
}
"""Of the answers; told apart by the colour-blind, too."""
_BLUE: Final = "#0072b2"


@dataclass(frozen=True)
class PagePaths:
    """The files of a profile."""

    markdown: Path
    json: Path
    figure: Path


def write_page(out: Path, profile: Profile) -> PagePaths:
    """Write the page of a profile, its figure, and both as JSON."""
    make_folder(out)
    name = profile.name
    paths = PagePaths(out / f"{name}.md", out / f"{name}.json", out / f"{name}.png")
    write_text(paths.json, plain_json(profile_facts(profile), indent=1) + "\n")
    _figure(paths.figure, profile)
    write_text(paths.markdown, _markdown(profile, paths.figure.name))
    return paths


def untrained(inspection: Mapping[str, Any]) -> dict[str, str]:
    """What the checks without training say, by what they look at."""
    sight, growth = inspection["sights"][0], inspection["growth"]
    centre, corner = (sight["reached"][at]["share"] for at in ("centre", "corner"))
    step = sight["translation_errors"]["step"]
    sees = "yes" if sight["sees_all"] else "for some inputs" if sight["can_see_all"] else "no"
    moves = "no" if step is None else f"by steps of {step}"
    if sight["translation_covariant"]:
        moves = "yes"
    elif sight["covariant_but_for_a_pattern"]:
        moves = "but for a fixed pattern"
    exponent = growth and growth["exponent"]
    layer = {part["name"]: part for part in inspection["layer"]}["structure"]
    return {
        "one layer sees all positions": f"{sees} (centre {centre:.1%}, corner {corner:.1%})",
        "translation covariant": moves,
        "permutation equivariant": "yes" if sight["permutation_equivariant"] else "no",
        "deterministic": "yes" if sight["deterministic"] else "no",
        "FLOPs grow with the positions N like": f"N^{exponent:.2f}" if exponent else "none counted",
        f"parameters at {inspection['width']} channels": f"{layer['parameters']:,}",
    }


def _markdown(profile: Profile, figure: str) -> str:
    head = f"# {profile.name}: which abilities it has"
    source = f" ({profile.source})" if profile.source else ""
    rows = [["ability", "probe", "answer", "because", "measured"]]
    for probe, cell in profile.cells.items():
        ability = ability_of(probe)
        measured = "-" if cell.evidence is None else ability.describe(cell.evidence)
        answer, because = cell.outcome.answer, safe(cell.outcome.because)
        rows.append([ability.name, probe, f"**{answer}**{mark(cell)}", because, measured])
    text = [head, "", f"{profile.title}{source}, preset `{profile.preset}`.", ""]
    text += [*left_grid(rows), "", *outdated_lines([profile])]
    text += [f"![What was measured]({figure})", ""]
    for probe, cell in profile.cells.items():
        details = ability_of(probe).details
        if details is not None and cell.evidence is not None:
            text += [*grid(details(cell.results)), ""]
    text += ["Guess: " + "; ".join(_guess(probe) for probe in profile.cells) + ".", ""]
    text += ["## Without training", ""]
    if profile.inspection is None:
        text += [f"It could not be inspected: {profile.wrong}", ""]
    else:
        checks = untrained(profile.inspection)
        text += [*left_grid([["of one layer", ""], *map(list, checks.items())]), ""]
        text += [line for sentence in contradictions(profile) for line in (sentence, "")]
    text += ["## How the answers were found", ""]
    text += [line for probe in profile.cells for line in (rule_text(probe), "")]
    text += [RATES, ""]
    text += ["## Runs", "", *run_lines(profile.cells), ""]
    results = [r for cell in profile.cells.values() for r in cell.results]
    return "\n".join([*text, *origins(results)]) + "\n"


def mark(cell: Cell) -> str:
    """Of an answer that might be another one now."""
    return " †" if cell.outdated else ""


def outdated_lines(profiles: Iterable[Profile]) -> list[str]:
    """Which answers might be others now, and why, for those who see the mark."""
    reasons: dict[str, list[str]] = {}
    for one in profiles:
        for probe, cell in one.cells.items():
            if cell.outdated:
                reasons.setdefault(cell.outdated, []).append(f"{one.name} on {probe}")
    lines = [
        f"- † {safe(why)}, and not tried again: {', '.join(of)}" for why, of in reasons.items()
    ]
    return [*lines, ""] if lines else []


def run_lines(cells: Mapping[str, Cell]) -> list[str]:
    """A table of all runs."""
    rows = [
        ["run", "seed", "measure", "train", "test", "parameters", "training", "data", "seconds"]
    ]
    for probe, cell in cells.items():
        ability = ability_of(probe)
        for result in cell.results:
            chosen = result["settings"]["options"]
            options = "".join(f", {name} {value}" for name, value in chosen.items())
            rows.append(
                [
                    f"{result['name']}{options}, {probe}",
                    str(result["settings"]["seed"]),
                    ability.heading,
                    f"{result['train'][ability.measure]:.4f}",
                    f"{result['test'][ability.measure]:.4f}",
                    f"{result['parameters']:,}",
                    f"epochs {result['settings']['epochs']}, batch {result['settings']['batch']}",
                    settings_that_differ(result["data"]),
                    f"{result['seconds']:.0f}",
                ]
            )
    return grid(rows)


def _guess(probe: str) -> str:
    return f"on {probe}, {ability_of(probe).guess}"


def rule_text(probe: str) -> str:
    """How the answer of a probe is found, as a paragraph."""
    ability = ability_of(probe)
    return f"**{ability.name[0].upper()}{ability.name[1:]}** ({probe}). {ability.rule}"


def left_grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """As `grid`, but no column has figures alone."""
    head, _, *rest = grid(rows)
    return [head, "|" + " --- |" * len(rows[0]), *rest]


def safe(text: str) -> str:
    """What others wrote, in a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def _figure(path: Path, profile: Profile) -> None:
    """One panel for each probe, and one for what a layer sees."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    panels = len(profile.cells) + (profile.inspection is not None)
    canvas = Canvas(figsize=(3.5 * panels, 4.0), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(1, max(1, panels), squeeze=False)[0]
    for axis, (probe, cell) in zip(axes, profile.cells.items(), strict=False):
        _panel(axis, probe, cell)
    if profile.inspection is not None:
        _field(axes[-1], profile.inspection)
    canvas.suptitle(f"{profile.name}, preset {profile.preset}")
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})


def _panel(axis: Any, probe: str, cell: Cell) -> None:
    ability = ability_of(probe)
    axis.set_title(
        f"{_folded(ability.name)}:\n{cell.outcome.answer}{mark(cell)}",
        fontsize=10,
        backgroundcolor=COLORS[cell.outcome.answer],
        pad=10,
    )
    axis.spines[["top", "right"]].set_visible(False)
    found = cell.evidence
    if found is None:
        axis.set_axis_off()
        because = _folded(cell.outcome.because)  # which may be anybody's words
        axis.text(0.5, 0.5, because, ha="center", va="center", parse_math=False)
        return
    if ability.draw is not None:
        ability.draw(axis, cell.results)
        return
    groups = ability.bars(found)
    times = 100 if ability.percent else 1
    for place, values in enumerate(groups.values()):
        shown = [times * value for value in values]
        axis.bar(place, statistics.fmean(shown), width=0.55, color=_BLUE)
        axis.plot([place] * len(shown), shown, "k_", markersize=16)
    axis.axhline(times * found.guess, color="black", linestyle="--", linewidth=1)
    axis.text(len(groups) - 0.45, times * found.guess, "guess", va="bottom", ha="right", fontsize=8)
    axis.set_xticks(range(len(groups)), list(groups))
    axis.set_xlim(-0.6, len(groups) - 0.4)
    if ability.percent:
        axis.set_ylim(0, 105)
    axis.set_ylabel(ability.axis)


def _field(axis: Any, inspection: Mapping[str, Any]) -> None:
    """How much the centre of one layer hears of each position."""
    values = np.atleast_2d(np.array(inspection["sensitivity"], np.float64))
    largest = values.max()
    shown = np.full_like(values, np.nan)
    np.log10(values / largest if largest else values, out=shown, where=values > 0)
    image = axis.imshow(shown, cmap="viridis", vmin=-6, vmax=0, aspect="auto")
    axis.figure.colorbar(image, ax=axis, label="log10 of gradient / largest")
    axis.set_title("what the centre of one\nuntrained layer sees", fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def _folded(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 26))
