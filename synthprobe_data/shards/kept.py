"""Whether a file or a folder that is there already is the one that a run would make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.settings import Config
from synthprobe_data.shards.digest import digest_of_rows, row_digests
from synthprobe_data.shards.guard import look_over
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
            if (
                header.dataset.name != dataset.name  # in a worker, another object
                or header.version != dataset.version
                or header.config != config
                or header.seed != seed
                or header.splits != splits
                or header.index_start != index_start
            ):
                return None
            digests = b"".join(
                row_digests(reader.read_rows(start, min(start + _ROWS_AT_ONCE, header.rows)))
                for start in range(0, header.rows, _ROWS_AT_ONCE)
            )
    except SynthprobeError:
        return None
    return digests if digest_of_rows(digests) == header.content_digest else None


def folder_digest_if_complete(
    folder: Path, dataset: Dataset, config: Config, seed: int, plans: Sequence[ShardPlan]
) -> str | None:
    """The content digest of a folder that a run before has finished, with just these shards."""
    try:
        manifest = read_manifest(folder)
    except SynthprobeError:
        return None
    if [entry.file for entry in manifest.shards] != [shard.file for shard in plans]:
        return None
    digests = b""
    for _, refusal in look_over([folder / shard.file for shard in plans]):  # one child for all
        if refusal is not None:
            return None
    for shard in plans:
        kept = digests_if_complete(folder / shard.file, dataset, config, seed=seed, **shard.place)
        if kept is None:
            return None
        digests += kept
    found = digest_of_rows(digests)
    return found if found == manifest.content_digest else None
