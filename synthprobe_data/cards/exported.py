"""What goes with an export: a card, the licence, and all that the HDF5 files say beside samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np

from synthprobe_data.cards.facts import VERSION, find_licence
from synthprobe_data.cards.hub import as_front_matter, size_category
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.block_source import BlockSource
from synthprobe_data.shards.selection import column_meanings

Kind = Literal["png", "webdataset", "parquet"]

FACTS: Final = "dataset.json"
SUMS: Final = "SHA256SUMS"
_LAYOUT: Final = {
    "png": "Each split is a folder with a folder for each kind of picture and `metadata.csv`, one "
    "line a sample: what Hugging Face calls an image folder. Pixels keep their values: rank 3 is "
    "the grey value 3, which looks black.",
    "webdataset": "Each split is in tar files, `{split}-000000.tar` and so on. Sample 7 of a split "
    "is `{split}-00000007.json` there, with the pictures beside it.",
    "parquet": "Each split is in Parquet files, `{split}-000000.parquet` and so on, a row for each "
    "sample, with pictures as PNG. Pixels keep their values: rank 3 is the grey value 3, which "
    "looks black. Arrays are lists, one in another.",
}

_FILES: Final = {"png": "{}/**", "webdataset": "{}-*.tar", "parquet": "{}-*.parquet"}


@dataclass(frozen=True, kw_only=True)
class ExportFacts:
    """What is known about an export."""

    source: BlockSource
    kind: Kind
    splits: Mapping[str, int]
    """The splits that are in it, with their sizes."""
    pictures: tuple[str, ...]
    others: tuple[str, ...]
    """The columns that became text."""
    content_digest: str
    """Of the dataset that was exported, all splits of it."""


def check_exportable(source: BlockSource) -> None:
    """Raise `SynthprobeError` for a version that no card can name: the file may be untrusted."""
    if not VERSION.fullmatch(source.dataset.version):
        raise SynthprobeError(
            f"{source.readers[0].path} has the version {source.dataset.version[:40]!r}: no card "
            "can name it."
        )


def export_notes(facts: ExportFacts) -> dict[str, str]:
    """The texts that go with an export, by the names of their files."""
    return {
        "README.md": _card(facts),
        "LICENSE": _licence(facts),
        FACTS: json.dumps(_everything(facts), indent=1) + "\n",
    }


def _everything(facts: ExportFacts) -> dict[str, Any]:
    """What the attributes of the HDF5 files say, as plain JSON values."""
    dataset, header = facts.source.dataset, facts.source.readers[0].header
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "version": dataset.version,
        "config": header.config.to_dict(),
        "seed": header.seed,
        "format": facts.kind,
        "splits": {
            name: {"samples": size, "index_start": facts.source.splits[name][0].index_start}
            for name, size in facts.splits.items()
        },
        "content_digest": facts.content_digest,
        "selection": asdict(header.selection) if header.selection else None,
        "license": dataset.license,
        "citation": dataset.citation,
        **{name: _plain(value) for name, value in dataset.file_attributes(header.config).items()},
    }


def _plain(value: Any) -> Any:
    """An attribute as a JSON value; the texts among them are JSON already."""
    return np.asarray(value).tolist() if not isinstance(value, str) else json.loads(value)


def _licence(facts: ExportFacts) -> str:
    dataset = facts.source.dataset
    licence = find_licence(dataset.license)
    return (
        f"{licence.title}\nSPDX-License-Identifier: {dataset.license}\n{licence.url}\n\n"
        f"To cite:\n\n{dataset.citation.strip()}\n"
    )


def _card(facts: ExportFacts) -> str:
    dataset, header = facts.source.dataset, facts.source.readers[0].header
    about, licence = dataset.card, find_licence(dataset.license)
    total, meanings = sum(facts.splits.values()), column_meanings(dataset)
    files = _FILES[facts.kind]
    top = as_front_matter(
        {
            "license": dataset.license.lower(),
            "pretty_name": dataset.title,
            "task_categories": list(about.task_categories),
            "tags": [tag for tag in about.tags if tag != "hdf5"],
            "size_categories": [size_category(total)],
            "configs": [
                {
                    "config_name": "default",
                    "data_files": [
                        {"split": name, "path": files.format(name)} for name in facts.splits
                    ],
                }
            ],
        }
    )
    sizes = " and ".join(f"{size:,} in `{name}`" for name, size in facts.splits.items())
    whole = len(facts.splits) == len(facts.source.splits)
    parts = [
        f"# {dataset.title}",
        about.summary,
        f"{total:,} samples, {sizes}; version {dataset.version}, seed {header.seed}. This is an "
        f"export of a synthprobe dataset{'' if whole else ', of which it has not all splits'}.",
        "## What is in it",
        _LAYOUT[facts.kind].replace("{split}", next(iter(facts.splits))),
        "\n".join(f"- `{name}`: {meanings[name]}" for name in (*facts.pictures, *facts.others)),
        f"Unused places are left out. `{FACTS}` has the settings, "
        + "".join(f"the {name}, " for name in dataset.file_attributes(header.config))
        + "the licence and the citation.",
        "## How it was made",
        *_selected(facts),
        f"With these settings:\n\n```json\n{json.dumps(header.config.to_dict(), indent=1)}\n```",
        "## Hashes",
        f"`sha256sum --check {SUMS}` checks every file. The content digest of the dataset that "
        "was exported, which depends on its samples alone:",
        f"```text\n{facts.content_digest}\n```",
        "When this was written, all rows had the content digest of the file that they came from.",
        "## What it is not for",
        "\n".join(f"- {item}" for item in about.not_for),
        "## Citation",
        f"```bibtex\n{dataset.citation.strip()}\n```",
        "## Licence",
        f"The data is under [{licence.title}]({licence.url}).",
    ]
    return top + "\n" + "\n\n".join(parts) + "\n"


def _selected(facts: ExportFacts) -> list[str]:
    selection = facts.source.readers[0].header.selection
    if selection is None:
        return []
    return [
        "Selected samples of the dataset with the content digest "
        f"`{selection.selected_from}`:\n\n```text\n{selection.selection}\n```"
    ]
