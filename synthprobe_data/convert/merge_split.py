"""Putting files together and taking them apart, rows as they are stored.

Every row is decoded on the way, and a file whose rows do not have the digest that it states is
refused: an edited dataset has a digest of its own, which must not stand for damaged rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from synthprobe_data.atomic.files import check_target, write_text
from synthprobe_data.atomic.folder import MANIFEST, new_folder
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.block_source import BlockSource
from synthprobe_data.shards.blocks import open_readers
from synthprobe_data.shards.digest import ContentDigest
from synthprobe_data.shards.guard import check_files
from synthprobe_data.shards.manifest import Manifest, describe_shard
from synthprobe_data.shards.plan import plan_shards
from synthprobe_data.shards.writer import ShardWriter, new_file


def merge(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    force: bool = False,
    progress: bool = False,
) -> str:
    """Put files and folders of shards together into one file; return its content digest.

    Parameters
    ----------
    paths
        Parts of one dataset, in any order: of the same config, seed and version. In each split they
        must go on where another one ends.
    out
        The file to write. It appears under this name only when it is complete.
    force
        Replace an existing file.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    out = Path(out)
    check_target(out, force=force)
    check_files(map(Path, paths))  # one child for all
    readers = [reader for path in paths for reader in open_readers(path)]
    source = BlockSource(readers)
    source.refuse_selections()
    with new_file(out, force=force) as file, progress_bar(source.rows, progress) as bar:
        writer = ShardWriter(file, readers[0].header.columns, source.rows)
        spans_of_splits, row = {}, 0
        for split, parts in source.splits.items():
            size = sum(part.rows for part in parts)
            spans_of_splits[split] = row, row + size
            for block in source.blocks(split, 0, size, row):
                writer.write(block)
                bar.update(block.task.count)
            row += size
        source.check_digests()
        return writer.finish(
            source.dataset,
            readers[0].header.config,
            seed=readers[0].header.seed,
            splits=spans_of_splits,
            index_start={split: parts[0].index_start for split, parts in source.splits.items()},
        )


def take_split(
    path: str | Path, out: str | Path, split: str, *, force: bool = False, progress: bool = False
) -> str:
    """Take one split out into a file of its own; return its content digest.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out
        The file to write. It appears under this name only when it is complete.
    split
        Which one.
    force
        Replace an existing file.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    source = BlockSource(open_readers(path))
    source.refuse_selections()
    header, parts = source.readers[0].header, source.splits[split]
    rows = sum(part.rows for part in parts)
    with new_file(Path(out), force=force) as file, progress_bar(rows, progress) as bar:
        writer = ShardWriter(file, header.columns, rows)
        for block in source.blocks(split, 0, rows, 0):
            writer.write(block)
            bar.update(block.task.count)
        source.check_digests()
        return writer.finish(
            source.dataset,
            header.config,
            seed=header.seed,
            splits={split: (0, rows)},
            index_start={split: parts[0].index_start},
        )


def split(
    path: str | Path,
    out_folder: str | Path,
    shards: int,
    *,
    force: bool = False,
    progress: bool = False,
) -> str:
    """Take a dataset apart into a folder of shards; return its content digest.

    Parameters
    ----------
    path
        A file, or a folder of other shards.
    out_folder
        The folder to write. It appears under this name only when it is complete.
    shards
        Number of files, shared out over the splits in proportion to their rows, one each at least.
    force
        Replace the dataset in an existing folder.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    source = BlockSource(open_readers(path))
    source.refuse_selections()
    header = source.readers[0].header
    sizes = {name: sum(part.rows for part in parts) for name, parts in source.splits.items()}
    plans = plan_shards(
        {name: size for name, size in sizes.items() if size}, shards, source.dataset.together
    )
    with (
        new_folder(Path(out_folder), force=force) as folder,
        progress_bar(source.rows, progress) as bar,
    ):
        entries, whole = [], ContentDigest()
        for plan in plans:
            first = source.splits[plan.split][0].index_start + plan.index_start
            with new_file(folder / plan.file, force=False, alone=False) as file:
                writer = ShardWriter(file, header.columns, plan.rows)
                stop = plan.index_start + plan.rows
                for block in source.blocks(plan.split, plan.index_start, stop, 0):
                    writer.write(block)
                    whole.update(block.digests)
                    bar.update(block.task.count)
                digest = writer.finish(
                    source.dataset,
                    header.config,
                    seed=header.seed,
                    splits={plan.split: (0, plan.rows)},
                    index_start={plan.split: first},
                )
            entries.append(
                describe_shard(
                    folder / plan.file,
                    split=plan.split,
                    index_start=first,
                    rows=plan.rows,
                    content_digest=digest,
                )
            )
        source.check_digests()
        manifest = Manifest(
            dataset=source.dataset.name,
            version=source.dataset.version,
            config=header.config.to_dict(),
            seed=header.seed,
            splits={name: size for name, size in sizes.items() if size},
            content_digest=whole.hexdigest(),
            shards=entries,
        )
        write_text(folder / MANIFEST, manifest.to_json())
    return manifest.content_digest
