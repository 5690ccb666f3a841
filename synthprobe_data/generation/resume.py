"""Whether a file or a folder that is there already is the one that a run would make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.digest import digest_of_rows, row_digests
from synthprobe_data.shards.guard import validate_files
from synthprobe_data.shards.header import Header
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.shards.plan import ShardPlan
from synthprobe_data.shards.reader import ShardReader

_ROWS_AT_ONCE: Final = 64


def digests_if_complete(
    path: Path,
    dataset: Dataset,
    config: Config,
    *,
    seed: int,
    splits: Mapping[str, tuple[int, int]],
    index_start: Mapping[str, int],
) -> bytes | None:
    """The digests of all rows of a file, if it is readable, whole, and has just these samples."""
    try:
        with ShardReader(path) as reader:
            header = reader.header
            if not _says(
                header, dataset, config, seed=seed, splits=splits, index_start=index_start
            ):
                return None
            digests = b"".join(
                row_digests(reader.read_rows(start, min(start + _ROWS_AT_ONCE, header.rows)))
                for start in range(0, header.rows, _ROWS_AT_ONCE)
            )
    except SynthprobeError:
        return None
    return digests if digest_of_rows(digests) == header.content_digest else None


def is_damaged_file(path: Path, dataset: Dataset, config: Config, **where: Any) -> bool:
    """Whether a file says that it has just these samples; its rows are not looked at."""
    try:
        with ShardReader(path) as reader:
            return _says(reader.header, dataset, config, **where)
    except SynthprobeError:
        return False


def is_damaged_folder(
    folder: Path, dataset: Dataset, config: Config, seed: int, plans: Sequence[ShardPlan]
) -> bool:
    """Whether a folder is the one that a run would make, though shards may be damaged or missing.

    Its manifest says so; or, if that is missing or damaged, its shards do: one at least that can be
    read, and none that says anything else.
    """
    if not folder.is_dir():
        return False
    try:
        manifest = read_manifest(folder)
    except SynthprobeError:
        return _shards_say(folder, dataset, config, seed, plans)
    try:
        same_config = dataset.config.from_dict(manifest.config) == config
    except (SynthprobeError, TypeError, AttributeError):
        return False
    return (
        same_config
        and (manifest.dataset, manifest.version) == (dataset.name, dataset.version)
        and manifest.seed == seed
        and [(e.file, e.split, e.index_start, e.rows) for e in manifest.shards]
        == [(p.file, p.split, p.index_start, p.rows) for p in plans]
    )


def _shards_say(
    folder: Path, dataset: Dataset, config: Config, seed: int, plans: Sequence[ShardPlan]
) -> bool:
    planned = {shard.file: shard for shard in plans}
    found = 0
    paths = sorted(folder.glob("*.h5"))
    if any(path.name not in planned for path in paths):
        return False
    for path, refusal in validate_files(paths):  # one child for all
        if refusal is not None:
            continue
        try:
            with ShardReader(path, trusted=True) as reader:
                header = reader.header
        except SynthprobeError:
            continue
        shard = planned[path.name]
        if not _says(header, dataset, config, seed=seed, **shard.span):
            return False
        found += 1
    return found > 0


def _says(
    header: Header,
    dataset: Dataset,
    config: Config,
    *,
    seed: int,
    splits: Mapping[str, tuple[int, int]],
    index_start: Mapping[str, int],
) -> bool:
    return (
        header.dataset.name == dataset.name  # in a worker, another object
        and header.version == dataset.version
        and header.config == config
        and header.seed == seed
        and header.splits == splits
        and header.index_start == index_start
        and header.selection is None
    )
