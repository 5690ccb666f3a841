"""Whether a folder of shards is what its manifest says: for readers, and for ``verify``."""

from __future__ import annotations

from collections.abc import Iterator

from synthprobe_data.shards.header import Header
from synthprobe_data.shards.manifest import Manifest, ShardEntry


def is_described(header: Header, entry: ShardEntry, manifest: Manifest) -> bool:
    """Whether a file says of itself what the manifest says of this shard."""
    return (
        header.dataset.name == manifest.dataset
        and header.version == manifest.version
        and header.is_config(manifest.config)
        and header.seed == manifest.seed
        and list(header.splits.items()) == [(entry.split, (0, entry.rows))]
        and list(header.index_start.values()) == [entry.index_start]
        and header.content_digest == entry.content_digest
        and header.selection is None
    )


def wrong_in_manifest(manifest: Manifest) -> Iterator[str]:
    """What does not fit together in a manifest, each in a sentence."""
    if not manifest.shards:
        yield "it names no shards."
    ends: dict[str, int] = {}
    rows: dict[str, int] = {}
    for entry in manifest.shards:
        if entry.index_start != ends.get(entry.split, entry.index_start):
            yield f"{entry.file} does not go on where the shard before it ends."
        ends[entry.split] = entry.index_start + entry.rows
        rows[entry.split] = rows.get(entry.split, 0) + entry.rows
    if rows != manifest.splits:
        yield "the sizes of its splits are not those of its shards."
