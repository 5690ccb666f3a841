"""A score as plain JSON values, and as text for a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError, __version__
from synthprobe_models.metrics import METRICS
from synthprobe_models.scoring.measure import LEVEL, Figure
from synthprobe_models.scoring.score import Score
from synthprobe_models.text import columns

FORMAT: Final = 1
"""Of the JSON."""
_MOST_BYTES: Final = 2**30
ALIGNED: Final = {
    "none": "as they are",
    "scale-shift": "after the scale and the shift of least squares for each picture",
    "scale-shift robust": "after the scale and the shift by medians for each picture",
    "order": "by their order alone",
}
"""How predictions were measured, in words."""


def score_facts(score: Score, command: str | None = None) -> dict[str, Any]:
    """All that a score says, for JSON; the values of all samples among it."""
    measured = score.measured
    return {
        "synthprobe_score": FORMAT,
        "synthprobe": __version__,
        "name": score.name,
        "kind": score.kind,
        "facts": dict(score.facts),
        "on": score.scored.path.name,
        "data": score.scored.facts(),
        "samples": score.samples,
        "align": alignment(score),
        "metrics": {name: metric_facts(name, of) for name, of in measured.figures.items()},
        "left_out": dict(measured.left_out),
        "order": measured.order,
        "notes": score.notes,
        "worst": [
            {
                "row": row,
                **{name: of.values[row] for name, of in measured.figures.items()},
            }
            for row in score.worst
        ],
        "values": {name: list(of.values) for name, of in measured.figures.items()},
        "weights": {
            name: list(of.weights)
            for name, of in measured.figures.items()
            if of.weights is not None
        },
        "together": score.scored.probe.together,
        "command": command,
    }


def alignment(score: Score) -> str:
    """How predictions were aligned: a key of `ALIGNED`."""
    return f"{score.align}{' robust' * score.robust}"


def metric_facts(name: str, figure: Figure) -> dict[str, Any]:
    """What JSON says of a metric, but for the values of the samples."""
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "level": LEVEL,
        "needs_scale": figure.needs_scale,
        "higher_is_better": METRICS[name].higher_is_better,
        "title": METRICS[name].title,
        "meaning": METRICS[name].meaning,
    }


def read_score(path: Path) -> dict[str, Any]:
    """What a ``score.json`` says, or that in a folder; `SynthprobeError` for any other file."""
    path = path / "score.json" if path.is_dir() else path
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SynthprobeError(f"{path} has more than {_MOST_BYTES} bytes.")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SynthprobeError(f"{path} could not be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise SynthprobeError(f"{path} is not a score, or it is damaged.") from error
    if not _is_score(found):
        raise SynthprobeError(f"{path} is not a score, or it is damaged.")
    if found["synthprobe_score"] != FORMAT:
        raise SynthprobeError(f"{path} is a score of another version of synthprobe.")
    return dict(found)


def _is_score(found: Any) -> bool:
    kinds: Mapping[str, Any] = {
        "synthprobe_score": int,
        "name": str,
        "kind": str,
        "on": str,
        "data": dict,
        "samples": int,
        "align": str,
        "metrics": dict,
        "values": dict,
        "notes": list,
    }
    if not isinstance(found, dict):
        return False
    if not all(isinstance(found.get(name), kind) for name, kind in kinds.items()):
        return False
    if any(not isinstance(found["data"].get(name), str) for name in ("dataset", "content_digest")):
        return False
    if set(found["metrics"]) != set(found["values"]):
        return False
    for name, values in found["values"].items():
        of = found["metrics"][name]
        if not isinstance(of, dict) or not isinstance(of.get("higher_is_better"), bool):
            return False
        if not isinstance(of.get("title"), str) or not _is_number(of.get("value")):
            return False
        if not _are_numbers(values, found["samples"]):
            return False
    weights, together = found.get("weights", {}), found.get("together", 1)
    if not isinstance(weights, dict) or type(together) is not int:
        return False
    if together < 1 or found["samples"] % together:
        return False
    return all(_are_numbers(of, found["samples"]) and None not in of for of in weights.values())


def _are_numbers(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def score_lines(score: Score) -> list[str]:
    """The figures, for people."""
    count = f"{score.samples} sample{'s' * (score.samples != 1)}"
    lines = [f"{score.name} ({score.kind}) on {count} of {score.scored.path}, {score.scored.split}"]
    rows = []
    for name, figure in score.measured.figures.items():
        metric = METRICS[name]
        better = "higher" if metric.higher_is_better else "lower"
        span = "" if figure.low is None else f"{figure.low:.4f} to {figure.high:.4f}"
        rows.append((f"  {name}", f"{figure.value:.6g}", span, f"{better} is better"))
    by_order = [row for row in rows if not _needs_scale(score, row[0].strip())]
    scaled = [row for row in rows if row not in by_order]
    if by_order:
        lines += ["order, under any increasing map:", *columns(by_order, right=(1,))]
    if scaled:
        lines += [f"{ALIGNED[alignment(score)]}:", *columns(scaled, right=(1,))]
    return [*lines, *score.notes]


def _needs_scale(score: Score, name: str) -> bool:
    return score.measured.figures[name].needs_scale
