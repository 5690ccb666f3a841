"""Taking samples out of a dataset into a file of their own, which says where they are from.

As in `synthprobe_data.convert.merge_split`, rows are written as they are stored, and a file whose
rows do not have the digest that it states is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.atomic.files import check_target
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.block_source import BlockSource
from synthprobe_data.shards.blocks import open_readers
from synthprobe_data.shards.collection import OpenDataset, Split, open_dataset
from synthprobe_data.shards.columns import known_columns
from synthprobe_data.shards.condition import Condition
from synthprobe_data.shards.indexing import parse_rows, positions, rows_text
from synthprobe_data.shards.selection import INDEX, Selection, with_index
from synthprobe_data.shards.writer import ShardWriter, new_file
from synthprobe_data.text import printable


def select(
    path: str | Path,
    out: str | Path,
    *,
    where: str | None = None,
    rows: Any = None,
    split: str | None = None,
    force: bool = False,
    progress: bool = False,
) -> str:
    """Write some samples of a dataset into a file of their own; return its content digest.

    They keep their order, and samples that belong together, as two twins do, stay together: if one
    is selected, so are the others. Of each the file has its ``index`` in the dataset that it is
    from, and of that the content digest.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out
        The file to write. It appears under this name only when it is complete.
    where
        A condition on the columns of a sample, such as ``"depth >= 4 and n_rectangles == 10"``.
    rows
        Which samples of the split, counted from the first that is there: a text such as
        ``"1,5,10-20"``, in which both ends count, or a slice, whole numbers or a mask. With
        ``where``, those of them that meet it.
    split
        Take only samples of this split. By default of all splits; rows are those of the first.
    force
        Replace an existing file.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    out = Path(out)
    if out.exists() and Path(path).exists() and out.samefile(path):
        raise SynthprobeError(f"{out} is what samples are selected from: write to another file.")
    check_target(out, force=force)
    if where is None and rows is None:
        raise SynthprobeError("there is nothing to select by: give a condition, or rows.")
    with open_dataset(path) as data:
        chosen, said = _choose(data, where, rows, split)
        if not any(len(taken) for taken in chosen.values()):
            raise SynthprobeError(f"no sample of {path} is selected by: {said}.")
        before = data.selection
        selection = Selection(
            # Indices are those of the whole dataset, also when samples are selected twice.
            selected_from=before.selected_from if before else data.content_digest,
            selection=f"{before.selection}; of these {said}" if before else said,
        )
    return _write(path, out, chosen, selection, force=force, progress=progress)


def _choose(
    data: OpenDataset, where: str | None, rows: Any, split: str | None
) -> tuple[dict[str, NDArray[np.int64]], str]:
    """The positions to take of each split, ascending, and in words which they are."""
    names = list(data.splits) if split is None else [split]
    if rows is not None and split is None:
        names = names[:1]
    said, chosen = [], {}
    for name in names:
        chosen[name] = np.arange(len(data[name]))
        if rows is not None:
            chosen[name] = _rows(data[name], rows)
            said.append(f"rows {rows_text(chosen[name])} of {name}")
        elif split is not None:
            said.append(f"all of {name}")
        if where is not None:
            chosen[name] = np.intersect1d(chosen[name], data[name].where(where))
        chosen[name] = _with_others(data, name, chosen[name])
    if where is not None:
        condition = Condition(where, known_columns(data.readers[0].header))
        said.append(f"where {condition.text}")
    if data.dataset.together > 1:
        said.append("and the samples that belong to them")
    return chosen, ", ".join(said)


def _with_others(data: OpenDataset, split: str, taken: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions, and those of the samples that belong together with them."""
    if data.dataset.together == 1:
        return taken
    group = data[split][INDEX.name] // data.dataset.together
    return np.flatnonzero(np.isin(group, group[taken]))


def _rows(split: Split, rows: Any) -> NDArray[np.int64]:
    """The positions that are meant, ascending; each counts once."""
    size = len(split)
    if isinstance(rows, str):
        spans = parse_rows(rows)
        for span in spans:
            if span.stop > size:
                raise SynthprobeError(
                    f"rows has {span.stop - 1}: {printable(split.name)} has {size} samples, "
                    "counted from 0."
                )
        return np.unique(np.concatenate([np.arange(span.start, span.stop) for span in spans]))
    try:
        return np.unique(positions(rows, size, printable(split.name)))
    except IndexError as error:
        raise SynthprobeError(f"{error}.") from None


def _write(
    path: str | Path,
    out: Path,
    chosen: dict[str, NDArray[np.int64]],
    selection: Selection,
    *,
    force: bool,
    progress: bool,
) -> str:
    source = BlockSource(open_readers(path))
    header = source.readers[0].header
    columns = header.columns if header.selection else with_index(header.columns)
    total = sum(len(taken) for taken in chosen.values())
    splits: dict[str, tuple[int, int]] = {}
    index_start: dict[str, int] = {}
    with new_file(out, force=force) as file, progress_bar(total, progress) as bar:
        writer = ShardWriter(file, columns, total)
        row = 0
        for name, taken in chosen.items():
            if not len(taken):
                continue
            first = row
            for index, block in source.taken(name, taken, row):
                index_start.setdefault(name, index)
                writer.write(block)
                row += block.task.count
                bar.update(block.task.count)
            splits[name] = first, row
        source.check_digests()
        return writer.finish(
            source.dataset,
            header.config,
            seed=header.seed,
            splits=splits,
            index_start=index_start,
            others=selection.attributes(),
        )
