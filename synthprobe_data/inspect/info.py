"""What a dataset says about itself, in short."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.registry import find_dataset
from synthprobe_data.shards.collection import OpenDataset, open_dataset
from synthprobe_data.shards.columns import read_columns
from synthprobe_data.shards.suite import SuiteManifest
from synthprobe_data.text import counted, printable
from synthprobe_data.verification.hashes import stated_hashes


def describe(path: str | Path) -> dict[str, Any]:
    """What a file or a folder of shards says about itself, as plain JSON values.

    No picture is decoded and nothing is hashed; `synthprobe_data.verification.verify.verify` checks
    whether it is true. What the dataset counts over its samples, such as the rectangles of scenes,
    is counted as far as it can be read.
    The SHA-256 of a file is what the manifest or the Croissant file beside it states, if one does.
    """
    with open_dataset(path) as data:
        hashes: dict[str, str] = {}
        with contextlib.suppress(SynthprobeError):
            hashes = stated_hashes(data.path)
        header = data.readers[0].header
        return {
            "path": str(path),
            "dataset": data.dataset.name,
            "title": data.dataset.title,
            "version": data.version,
            "license": data.dataset.license,
            "seed": data.seed,
            "samples": len(data),
            "bytes": sum(reader.path.stat().st_size for reader in data.readers),
            "decoded_bytes": len(data) * sum(column.row_bytes for column in header.columns),
            "splits": {
                name: {"start": data[name].index_start, "samples": size}
                for name, size in data.splits.items()
            },
            "columns": {
                column.name: {"dtype": str(column.dtype), "shape": list(column.shape)}
                for column in header.columns
            },
            "selection": asdict(data.selection) if data.selection else None,
            "config": data.config.to_dict(),
            **_counts(data),
            "content_digest": data.content_digest,
            "files": [
                {
                    "file": reader.path.name,
                    "samples": len(reader),
                    "bytes": reader.path.stat().st_size,
                    "sha256": hashes.get(reader.path.name),
                    "content_digest": reader.header.content_digest,
                }
                for reader in data.readers
            ],
        }


def summary(facts: dict[str, Any]) -> str:
    """The facts for people, on one screen."""
    lines = [
        f"{facts['path']}: {facts['title']} ({facts['dataset']}), version "
        f"{printable(facts['version'])}, {facts['license']}",
        f"  samples   {facts['samples']}: "
        + ", ".join(
            _span(name, split["samples"], 0 if facts["selection"] else split["start"])
            for name, split in facts["splits"].items()
        ),
        f"  size      {_megabytes(facts['bytes'])} in {counted(len(facts['files']), 'file')}, "
        f"{_megabytes(facts['decoded_bytes'])} decoded",
        f"  seed      {facts['seed']}",
        *_selected(**(facts["selection"] or {})),
        "  config    " + _wrapped([f"{name} {value}" for name, value in facts["config"].items()]),
        *_counted(facts),
        "  row       "
        + _wrapped(
            [
                " ".join([name, column["dtype"], "×".join(map(str, column["shape"]))]).rstrip()
                for name, column in facts["columns"].items()
            ]
        ),
        f"  content   {facts['content_digest']}",
    ]
    if len(facts["files"]) == 1 and facts["files"][0]["sha256"]:
        lines.append(f"  sha256    {printable(facts['files'][0]['sha256'])}")
    if len(facts["files"]) > 1:
        shown = facts["files"] if len(facts["files"]) <= 10 else facts["files"][:9]
        lines += [_file(**file) for file in shown]
        if len(shown) < len(facts["files"]):
            lines.append(f"  ... and {len(facts['files']) - len(shown)} more files")
    return "\n".join(lines)


def suite_summary(path: str | Path, suite: SuiteManifest) -> str:
    """What a suite states, for people; nothing of it is checked."""
    width = max(len(entry.name) for entry in suite.members)
    return "\n".join(
        [
            f"{path}: a suite of {printable(suite.dataset)}, version {printable(suite.version)}, "
            f"seed {suite.seed}, split {printable(suite.split)}",
            *(
                f"  {entry.name:<{width}}  {counted(entry.rows, 'sample')}, "
                f"{_megabytes(entry.bytes)}: {printable(entry.meaning)}"
                for entry in suite.members
            ),
        ]
    )


def _counts(data: OpenDataset) -> dict[str, Any]:
    """What the dataset counts over its samples, under its own key."""
    # For programs that have always found this key, of every dataset.
    found: dict[str, Any] = {"rectangles": None}
    if data.dataset.counts is None:
        return found
    counts = data.dataset.counts
    found[counts.key] = None
    with contextlib.suppress(SynthprobeError):  # what is damaged is for `verify` to say
        blocks = (
            block
            for reader in data.readers
            for split in reader.header.splits
            for block in read_columns(reader, split, counts.columns)
        )
        found[counts.key] = counts.count(blocks, data.config)
    return found


def _counted(facts: dict[str, Any]) -> list[str]:
    counts = find_dataset(facts["dataset"]).counts
    if counts is None or facts[counts.key] is None:
        return []
    return [f"  {counts.label:<9} {counts.sentence(**facts[counts.key])}"]


def _selected(selected_from: str = "", selection: str = "") -> list[str]:
    """Where selected samples are from."""
    if not selected_from:
        return []
    return [f"  selected  {selection[:200]}", f"            from {selected_from}"]


def _file(file: str, samples: int, bytes: int, sha256: str | None, **_: Any) -> str:
    line = f"  {file}  {counted(samples, 'sample')}, {_megabytes(bytes)}"
    return line + (f", sha256 {printable(sha256[:16])}..." if sha256 else "")


def _span(name: str, samples: int, start: int) -> str:
    return f"{printable(name)} {samples}" + (f" from index {start}" if start else "")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _wrapped(words: list[str]) -> str:
    """The words with commas, on lines that go on below the first."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > 84:
            lines.append("")
        lines[-1] += word + ", "
    return ("\n" + " " * 12).join(line.rstrip() for line in lines).rstrip(",")
