"""The board: one JSON record for each submission, and a page that ranks what can be compared.

Records are of one comparability group, and so ranked with one another, if they were measured on
the same samples with the same alignment, and trained on the same samples for as many epochs, or
not here at all.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError
from synthprobe_models.evaluation.align import NONE
from synthprobe_models.files import plain_json, write_text
from synthprobe_models.scoring.document import markdown_table
from synthprobe_models.scoring.report import ALIGNED

FORMAT: Final = 1
ELSEWHERE: Final = "elsewhere"
"""What a network of others was trained on, as far as it matters here."""
PAGE: Final = "README.md"
_TEXT: Final = 2_000
_MOST_BYTES: Final = 1_000_000
_SHA: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class _Field:
    kind: type | tuple[type, ...]
    meaning: str
    required: bool = True


SCHEMA: Final[Mapping[str, _Field]] = {
    "synthprobe_board": _Field(int, "the version of this schema"),
    "name": _Field(str, "what was scored"),
    "who": _Field(str, "who submits it"),
    "licence": _Field(str, "of the predictions or the weights, as SPDX names it"),
    "link": _Field(str, "where it can be had", required=False),
    "kind": _Field(str, "a file, a function, a run, ..."),
    "data": _Field(dict, "dataset, version, config, seed, split and content_digest of the samples"),
    "samples": _Field(int, "how many were scored"),
    "align": _Field(str, f"one of {', '.join(ALIGNED)}"),
    "trained_on": _Field(str, f"content digest of the training samples, or {ELSEWHERE}"),
    "epochs": _Field((int, type(None)), "of the training; null if it was elsewhere"),
    "settings": _Field(dict, "all else that decided the predictions"),
    "seeds": _Field(list, "of the runs; empty if there were none"),
    "metrics": _Field(dict, "by name: title, value, low, high, interval, higher_is_better"),
    "synthprobe": _Field(str, "the version of synthprobe"),
    "commit": _Field((str, type(None)), "of synthprobe", required=False),
    "command": _Field((str, type(None)), "what made it"),
}
"""What a record has: the type of each field, and what it means."""
_METRIC: Final[Mapping[str, type | tuple[type, ...]]] = {
    "title": str,
    "value": (int, float),
    "low": (int, float, type(None)),
    "high": (int, float, type(None)),
    "interval": str,
    "higher_is_better": bool,
}


def wrong_in(record: Any) -> str | None:
    """What is wrong with a record, as the end of a sentence; ``None`` if nothing is."""
    if not isinstance(record, dict):
        return "is not an object"
    for name, field in SCHEMA.items():
        if name not in record:
            if field.required:
                return f"has no {name}: {field.meaning}"
            continue
        if not _is_kind(record[name], field.kind):
            return f"has a wrong {name}: {field.meaning}"
    if unknown := set(record) - set(SCHEMA):
        return f"has an unknown {min(unknown)!a}"
    if record["synthprobe_board"] != FORMAT:
        return f"is of schema {record['synthprobe_board']}, not {FORMAT}"
    for name in ("name", "who", "licence"):
        if not record[name].strip() or len(record[name]) > _TEXT:
            return f"has an empty or very long {name}"
    return _wrong_inside(record)


def _wrong_inside(record: Mapping[str, Any]) -> str | None:
    data = record["data"]
    for name in ("dataset", "version", "split", "content_digest"):
        if not isinstance(data.get(name), str):
            return f"has data without {name}"
    if not isinstance(data.get("config"), dict) or not _SHA.fullmatch(data["content_digest"]):
        return "has data without config, or with a content_digest that is no SHA-256"
    if record["trained_on"] != ELSEWHERE and not _SHA.fullmatch(record["trained_on"]):
        return f"has a trained_on that is neither a SHA-256 nor {ELSEWHERE}"
    if record["samples"] < 1:
        return "has no samples"
    if record["align"] not in ALIGNED:
        return f"has an align that is none of {', '.join(ALIGNED)}"
    if not all(_is_kind(seed, int) for seed in record["seeds"]):
        return "has seeds that are no whole numbers"
    if not record["metrics"]:
        return "has no metrics"
    for name, of in record["metrics"].items():
        if not isinstance(of, dict) or set(of) != set(_METRIC):
            return f"has a metric {name!a} without {', '.join(_METRIC)}"
        for part, kind in _METRIC.items():
            if not _is_kind(of[part], kind):
                return f"has a wrong {part} of {name!a}"
    return None


def _is_kind(value: Any, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) and not (isinstance(value, float) and not math.isfinite(value))


def record_of(
    facts: Mapping[str, Any], *, who: str, licence: str, link: str | None = None
) -> dict[str, Any]:
    """The record of a score, as its JSON has it.

    Parameters
    ----------
    facts
        Of `synthprobe_models.scoring.report.score_facts` or `read_score`.
    who, licence, link
        What a score cannot know.
    """
    own = facts.get("facts", {})
    settings = own.get("settings", {})
    over = {1: "samples", 2: "pairs of samples"}.get(facts.get("together", 1), "groups of samples")
    trained_on = own.get("trained_on", {}).get("content", ELSEWHERE)
    if not _SHA.fullmatch(trained_on):  # a stream has no digest, but what it says is as good
        trained_on = (
            ELSEWHERE
            if trained_on == ELSEWHERE
            else hashlib.sha256(json.dumps(own["trained_on"], sort_keys=True).encode()).hexdigest()
        )
    record: dict[str, Any] = {
        "synthprobe_board": FORMAT,
        "name": facts["name"],
        "who": who,
        "licence": licence,
        "kind": facts["kind"],
        "data": dict(facts["data"]),
        "samples": facts["samples"],
        "align": facts["align"],
        "trained_on": trained_on,
        "epochs": own.get("epochs"),
        "settings": {name: value for name, value in own.items() if name != "trained_on"},
        "seeds": [settings["seed"]] if "seed" in settings else [],
        "metrics": {
            name: {
                "title": of["title"],
                "value": of["value"],
                "low": of["low"],
                "high": of["high"],
                "interval": f"{of['level']:.0%} over {over}",
                "higher_is_better": of["higher_is_better"],
            }
            for name, of in facts["metrics"].items()
            if of["value"] is not None
        },
        "synthprobe": facts["synthprobe"],
        "command": facts["command"],
    }
    if link is not None:
        record["link"] = link
    return record


def file_name(record: Mapping[str, Any]) -> str:
    """The name of a record's file: its own, and some digits of its hash."""
    named = f"{record['data']['dataset']}-{record['name']}"
    named = re.sub(r"[^A-Za-z0-9_.]+", "-", named).strip("-.")
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    return f"{named[:80]}-{digest[:8]}.json"


def submit(record: Mapping[str, Any], folder: Path) -> Path:
    """Write a record to the board in a folder; `SynthprobeError` if it is not one."""
    if (wrong := wrong_in(record)) is not None:
        raise SynthprobeError(f"the record of {record.get('name')!a} {wrong}.")
    if not folder.is_dir():
        raise SynthprobeError(f"there is no folder {folder}: make it, or name another board.")
    path = folder / file_name(record)
    write_text(path, plain_json(record, indent=1) + "\n")
    return path


def read_board(folder: Path) -> list[dict[str, Any]]:
    """All records of a board; `SynthprobeError` that names a file which is none."""
    records = []
    for path in sorted(folder.glob("*.json")):
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise SynthprobeError(f"{path} has more than {_MOST_BYTES} bytes.")
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise SynthprobeError(f"{path} could not be read, or is no JSON.") from error
        if (wrong := wrong_in(record)) is not None:
            raise SynthprobeError(f"{path} {wrong}.")
        records.append(record)
    return records


def group_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """What must be equal for two records to be ranked with one another."""
    data = record["data"]
    facts = (
        data["dataset"],
        data["version"],
        data["content_digest"],
        data["split"],
        record["samples"],
        record["align"],
        record["trained_on"],
        record["epochs"],
    )
    return tuple(map(str, facts))


def render_board(records: Sequence[Mapping[str, Any]]) -> str:
    """The page of a board, in Markdown: a table for each comparability group, the best first."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(group_of(record), []).append(record)
    blocks = [
        "# Board",
        "One record a submission, ranked only within a comparability group: the same samples, the "
        "same alignment, the same training samples and epochs. `synthprobe-probe score ... "
        "--submit` writes a record, `synthprobe-probe score --board FOLDER` this page.",
    ]
    for group in sorted(groups):
        blocks += _group_blocks(groups[group])
    return "\n\n".join(blocks) + "\n"


def _group_blocks(records: Sequence[Mapping[str, Any]]) -> list[str]:
    one = records[0]
    data = one["data"]
    names = list(dict.fromkeys(name for record in records for name in record["metrics"]))
    titles = {name: of for record in reversed(records) for name, of in record["metrics"].items()}
    lead = names[0]
    sign = -1 if titles[lead]["higher_is_better"] else 1
    ranked = sorted(
        records,
        key=lambda record: (
            lead not in record["metrics"],
            sign * record["metrics"].get(lead, {"value": 0.0})["value"],
            record["name"],
        ),
    )
    arrows = {name: "↑" if titles[name]["higher_is_better"] else "↓" for name in names}
    heads = (f"{titles[name]['title']} {arrows[name]}" for name in names)
    rows = [["", "name", *heads, "seeds", "who", "licence"]]
    place, before = 0, None
    for number, record in enumerate(ranked, 1):
        value = record["metrics"].get(lead, {}).get("value")
        if value != before or value is None:  # what is equal has one place
            place, before = number, value
        cells = [_cell(record["metrics"].get(name)) for name in names]
        seeds = ", ".join(map(str, record["seeds"])) or "-"
        rows.append([str(place), record["name"], *cells, seeds, record["who"], record["licence"]])
    trained = "not trained here"
    if one["trained_on"] != ELSEWHERE:
        trained = f"trained on {one['trained_on'][:16]} for {one['epochs']} epochs"
    how = "" if one["align"] == NONE else f", {ALIGNED[one['align']]}"
    changed = ", ".join(f"{name} {value}" for name, value in sorted(data["config"].items()))
    return [
        f"## {data['dataset']} {data['content_digest'][:16]}, {trained}",
        f"{one['samples']:,} samples of the split {data['split']}{how}; ranked by "
        f"{titles[lead]['title']}. Settings: {changed}.",
        markdown_table(rows),
    ]


def _cell(of: Mapping[str, Any] | None) -> str:
    if of is None:
        return "-"
    span = "" if of["low"] is None else f" ({of['low']:.4f} to {of['high']:.4f})"
    return f"{of['value']:.4f}{span}"
