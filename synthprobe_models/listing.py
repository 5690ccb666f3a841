"""The registry as a list, with the parameters of every entry beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synthprobe_models.probes import PROBES, fitting
from synthprobe_models.published import find_rows
from synthprobe_models.registry import NETWORKS, STRUCTURES, Network, Structure
from synthprobe_models.report import columns


def list_entries() -> list[dict[str, Any]]:
    """Every structure and network: its name, its source, its probes and its parameters in each."""
    entries: list[Structure | Network] = [*STRUCTURES.values(), *NETWORKS.values()]
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "kind": "structure" if isinstance(entry, Structure) else "network",
            "source": entry.source,
            "parameters": {probe: PROBES[probe].count(entry.name) for probe in fitting(entry.name)},
            "published": [
                {"probe": row.probe, "width": row.width, "parameters": row.parameters}
                | {"ours": row.trainable}
                for row in find_rows(name=entry.name)
            ],
        }
        for entry in entries
    ]


def list_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """The registry as a table."""
    rows = [("name", *PROBES, "the paper's counts", "from")]
    for entry in entries:
        counts = (entry["parameters"].get(probe) for probe in PROBES)
        # A row of a table may be there twice, for other training data.
        published = dict.fromkeys(
            f"{row['parameters']:,} ({row['probe']}, {row['width']} channels)"
            for row in entry["published"]
        )
        rows.append(
            (
                entry["name"],
                *("-" if n is None else f"{n:,}" for n in counts),
                ", ".join(published) or "-",
                entry["source"] or "-",
            )
        )
    return "\n".join(columns(rows, right=range(1, 1 + len(PROBES))))
