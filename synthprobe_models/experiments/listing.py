"""The registry as a list, with the parameters of every entry beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synthprobe_data import SynthprobeError
from synthprobe_models.experiments.table import find_rows
from synthprobe_models.plugins import describe_error
from synthprobe_models.probes import PROBES, fitting
from synthprobe_models.registry import NETWORKS, STRUCTURES, Network, Structure
from synthprobe_models.text import columns


def list_entries() -> tuple[list[dict[str, Any]], list[str]]:
    """Every structure and network: its name, its source, its probes and its parameters in each.

    Returns
    -------
    tuple
        The entries, and a sentence for each that cannot be built in a probe: its parameters there
        are ``None``.
    """
    entries: list[Structure | Network] = [*STRUCTURES.values(), *NETWORKS.values()]
    wrong: list[str] = []
    return [_entry(entry, wrong) for entry in entries], wrong


def _entry(entry: Structure | Network, wrong: list[str]) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "kind": "structure" if isinstance(entry, Structure) else "network",
        "source": entry.source,
        "parameters": {probe: _count(entry.name, probe, wrong) for probe in fitting(entry.name)},
        "published": [
            {"probe": row.probe, "width": row.width, "parameters": row.parameters}
            | {"ours": row.trainable}
            for row in find_rows(name=entry.name)
        ],
    }


def _count(name: str, probe: str, wrong: list[str]) -> int | None:
    """The parameters; whatever the code of somebody else does instead is said."""
    try:
        return PROBES[probe].count(name)
    except SynthprobeError as error:
        wrong.append(f"{name} cannot be built in the probe {probe}: {error}")
    except Exception as error:
        wrong.append(f"{name} cannot be built in the probe {probe}: {describe_error(error)}.")
    return None


def list_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """The registry as a table."""
    rows = [("name", *PROBES, "the paper's counts", "from")]
    for entry in entries:
        # A row of a table may be there twice, for other training data.
        published = dict.fromkeys(
            f"{row['parameters']:,} ({row['probe']}, {row['width']} channels)"
            for row in entry["published"]
        )
        rows.append(
            (
                entry["name"],
                *(_cell(entry["parameters"], probe) for probe in PROBES),
                ", ".join(published) or "-",
                entry["source"] or "-",
            )
        )
    return "\n".join(columns(rows, right=range(1, 1 + len(PROBES))))


def _cell(parameters: Mapping[str, int | None], probe: str) -> str:
    if probe not in parameters:
        return "-"
    count = parameters[probe]
    return "?" if count is None else f"{count:,}"
