"""The registry as a list, with the parameters of every entry beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from synthprobe_data import SynthprobeError
from synthprobe_models.experiments.table import find_rows
from synthprobe_models.networks.counting import build_bare, count_parameters
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
    return [list_entry(entry, wrong) for entry in entries], wrong


def list_entry(entry: Structure | Network, wrong: list[str] | None = None) -> dict[str, Any]:
    """One structure or network.

    Parameters
    ----------
    entry
        Of the registry.
    wrong
        Is given a sentence for each probe that it cannot be built in.
    """
    wrong = [] if wrong is None else wrong
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
        ]
        + (_published(entry) if isinstance(entry, Network) else []),
    }


def _published(network: Network) -> list[dict[str, Any]]:
    """The published counts of a whole network, beside ours."""
    probe = PROBES[network.probes[0]]
    found = []
    for count in network.published:
        build = partial(probe.make, network.name, options=count.options)
        built = build_bare(build)
        part = built.get_submodule(count.part)
        found.append(
            {"probe": probe.name, "of": count.of, "parameters": count.parameters}
            | {"options": dict(count.options), "ours": count_parameters(part)}
        )
    return found


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
    rows = [("name", *PROBES, "published counts", "from")]
    for entry in entries:
        # A row of a table may be there twice, for other training data.
        published = dict.fromkeys(
            f"{row['parameters']:,} ({_counted(row)})" for row in entry["published"]
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


def _counted(row: Mapping[str, Any]) -> str:
    """Of what a published count is."""
    return str(row["of"]) if "of" in row else f"{row['probe']}, {row['width']} channels"


def _cell(parameters: Mapping[str, int | None], probe: str) -> str:
    if probe not in parameters:
        return "-"
    count = parameters[probe]
    return "?" if count is None else f"{count:,}"
