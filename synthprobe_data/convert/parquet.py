"""Datasets as Parquet files, as Hugging Face reads and shows them: pictures are PNG bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Final

from synthprobe_data.atomic.folder import new_folder
from synthprobe_data.cards.facts import file_sha256
from synthprobe_data.convert.export import (
    Exported,
    check_per_shard,
    exported_columns,
    open_for_export,
    samples_of,
    write_notes,
)
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.pictures import png
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.block_source import BlockSource
from synthprobe_data.shards.layout import Column

_ROWS_PER_GROUP: Final = 100
"""What a viewer reads at once."""


def export_parquet(
    path: str | Path,
    out_folder: str | Path,
    samples_per_shard: int = 1000,
    *,
    split: str | None = None,
    progress: bool = False,
) -> int:
    """Write Parquet files; return the number of samples.

    ``train-000000.parquet`` and so on have a row for each sample: ``split``, ``index``, pictures as
    PNG bytes, and all other columns as lists of numbers without their unused places. The schema
    names the features of Hugging Face, so that ``load_dataset`` gives pictures. Beside the files
    stand ``README.md``, ``LICENSE``, ``dataset.json`` and ``SHA256SUMS``.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out_folder
        The folder to write. It appears under this name only when it is complete.
    samples_per_shard
        Samples in each file but the last of a split.
    split
        Only this split; all by default.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    check_per_shard(samples_per_shard)
    try:
        from pyarrow import parquet
    except ImportError:
        raise SynthprobeError("this needs pyarrow: pip install 'synthprobe[parquet]'.") from None
    source, sizes, digest = open_for_export(path, split)
    schema = _schema(source)
    sums: dict[str, str] = {}
    with (
        new_folder(Path(out_folder)) as folder,
        progress_bar(sum(sizes.values()), progress) as bar,
    ):
        for name in sizes:
            samples = samples_of(source, name)
            for number in count():
                first = next(samples, None)
                if first is None:
                    break
                rows = chain([first], islice(samples, samples_per_shard - 1))
                file = folder / f"{name}-{number:06}.parquet"
                with ExitStack() as stack:
                    writer = stack.enter_context(parquet.ParquetWriter(file, schema))
                    for group in _groups(rows):
                        writer.write_table(_table(group, schema))
                        bar.update(len(group))
                sums[file.name] = file_sha256(file)
        source.check_digests()
        write_notes(folder, source, "parquet", sizes, digest, sums)
    return sum(sizes.values())


def _groups(rows: Iterator[Exported]) -> Iterator[list[Exported]]:
    while group := list(islice(rows, _ROWS_PER_GROUP)):
        yield group


def _table(group: list[Exported], schema: Any) -> Any:
    import pyarrow

    rows = [
        {
            "split": one.split,
            "index": one.index,
            **{name: {"bytes": png(pixels), "path": None} for name, pixels in one.pictures.items()},
            **one.facts,
        }
        for one in group
    ]
    return pyarrow.Table.from_pylist(rows, schema=schema)


def _schema(source: BlockSource) -> Any:
    """The columns as Arrow has them, and in its metadata as Hugging Face does."""
    import pyarrow

    types: dict[str, Any] = {"split": pyarrow.string(), "index": pyarrow.int64()}
    features: dict[str, Any] = {"split": _value("string"), "index": _value("int64")}
    for name in exported_columns(source, "picture"):
        types[name] = pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})
        features[name] = {"_type": "Image"}
    columns = {column.name: column for column in source.readers[0].header.columns}
    for name in exported_columns(source, "text"):
        types[name], features[name] = _listed(columns[name])
    info = json.dumps({"info": {"features": features}})
    return pyarrow.schema(types).with_metadata({"huggingface": info})


def _listed(column: Column) -> tuple[Any, dict[str, Any]]:
    """The type of a column: a number, or lists of them, one in another."""
    import pyarrow

    kind, feature = pyarrow.from_numpy_dtype(column.dtype), _value(column.dtype.name)
    for _ in column.shape:
        kind, feature = pyarrow.list_(kind), {"feature": feature, "_type": "List"}
    return kind, feature


def _value(dtype: str) -> dict[str, Any]:
    return {"dtype": dtype, "_type": "Value"}
