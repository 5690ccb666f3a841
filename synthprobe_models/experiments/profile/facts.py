"""What a profile says, and the same as JSON, from which it can be read again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_models.probes import PROBES, ability_of
from synthprobe_models.probes.ability import ANSWERS, Evidence, Outcome
from synthprobe_models.registry import STRUCTURES
from synthprobe_models.training.run_key import KEY, why_outdated
from synthprobe_models.training.source_hash import structure_hash

_RESULT: Final = {"name", "settings", "train", "test", "parameters", "data", "seconds"}
"""What a page says of each run."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One structure on one probe."""

    outcome: Outcome
    evidence: Evidence | None = None
    """``None`` if it could not be trained."""
    results: Sequence[Mapping[str, Any]] = ()
    """Of its runs, one for each seed."""
    structure: str = ""
    """The hash of the structure that was tried."""
    outdated: str | None = None
    """Why it would be another one if it was tried now, of one that was found on disk."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """All that was found out about a structure."""

    name: str
    title: str
    source: str
    preset: str
    inspection: Mapping[str, Any] | None
    """What `synthprobe_models.inspection.inspect.Inspection.to_dict` says, and ``sensitivity``, of
    the centre; ``None`` if it could not be inspected."""
    wrong: str | None
    """Why it could not be inspected."""
    cells: Mapping[str, Cell]
    """By probe."""


def profile_facts(profile: Profile) -> dict[str, Any]:
    """A profile for JSON."""
    return {
        "name": profile.name,
        "title": profile.title,
        "source": profile.source,
        "preset": profile.preset,
        "abilities": {
            probe: {
                "ability": ability_of(probe).name,
                "answer": cell.outcome.answer,
                "because": cell.outcome.because,
                "measure": ability_of(probe).measure,
                "lower_is_better": not ability_of(probe).higher_is_better,
                "evidence": cell.evidence and cell.evidence.to_dict(),
                "rule": ability_of(probe).rule,
                "structure": cell.structure,
                "outdated": cell.outdated,
                "results": list(cell.results),
            }
            for probe, cell in profile.cells.items()
        },
        "inspection": profile.inspection,
        "inspection_failed": profile.wrong,
    }


def read_profile(out: Path, name: str, preset: str) -> Profile | None:
    """The profile of a structure that an earlier command has written, if it can be read.

    Parameters
    ----------
    out
        The folder.
    name
        Of a structure of the registry.
    preset
        Profiles of others are no part of this one.
    """
    try:
        facts = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
        if facts["name"] != name or facts["preset"] != preset:
            return None
        return Profile(
            name=name,
            title=STRUCTURES[name].title,
            source=STRUCTURES[name].source,
            preset=preset,
            inspection=facts["inspection"],
            wrong=facts["inspection_failed"],
            cells={
                probe: _cell(name, probe, cell)
                for probe, cell in facts["abilities"].items()
                if probe in PROBES and PROBES[probe].ability is not None
            },
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # not there, or not whole


def read_others(out: Path, names: Sequence[str], preset: str) -> list[Profile]:
    """The profiles on disk of all structures of the registry but some.

    Parameters
    ----------
    out, preset
        As for `read_profile`.
    names
        Those to leave out.
    """
    found = (read_profile(out, name, preset) for name in STRUCTURES if name not in names)
    return [one for one in found if one is not None and one.cells]


def merged(now: Profile, before: Profile | None) -> Profile:
    """What was found now, and of other probes what was found before.

    Parameters
    ----------
    now, before
        Profiles of one structure.
    """
    if before is None:
        return now
    return dataclasses.replace(now, cells={**before.cells, **now.cells})


def recorded_cell(name: str, probe: str, cell: Cell) -> Cell:
    """A cell from the records of runs, with what has changed since them.

    Parameters
    ----------
    name, probe
        Of the structure and of the probe.
    cell
        What its results say.
    """
    keys = [result.get(KEY) for result in cell.results]
    reasons = (why_outdated(name, probe, key) for key in keys)
    made_from = {str(key["structure"]) for key in keys if key and key.get("structure")}
    return dataclasses.replace(
        cell,
        structure=made_from.pop() if len(made_from) == 1 else "",
        outdated=next((reason for reason in reasons if reason is not None), None),
    )


def _cell(name: str, probe: str, facts: Mapping[str, Any]) -> Cell:
    """One cell of a page; an error of Python's own if it is not one."""
    answer, because = facts["answer"], str(facts["because"])
    if answer not in ANSWERS:
        raise ValueError(answer)
    results = list(facts["results"])
    if not all(result.keys() >= _RESULT for result in results):
        raise ValueError(name)
    evidence = facts["evidence"] and Evidence(**facts["evidence"])
    made_from = str(facts.get("structure", ""))
    reasons = [why_outdated(result["name"], probe, result.get(KEY)) for result in results]
    if not reasons and made_from != structure_hash(name):
        reasons = [f"{name} was edited since"]
    return Cell(
        outcome=Outcome(answer, because),
        evidence=evidence or None,
        results=results,
        structure=made_from,
        outdated=next((reason for reason in reasons if reason is not None), None),
    )
