"""Datasets as other programs like them: folders of PNG files, or tar files for WebDataset."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RDE
from synthprobe_data.rde.difficulty import COLUMNS as DIFFICULTY
from synthprobe_data.run import progress_bar
from synthprobe_data.shards.blocks import open_readers
from synthprobe_data.shards.folder import new_folder
from synthprobe_data.shards.source import Source

PICTURES: Final[Mapping[str, tuple[str, ...]]] = {RDE.name: ("image", "rank")}
"""The datasets that become PNG files, for each dataset that has pictures."""
FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    RDE.name: ("n_rectangles", "rectangles", "color", "rectangle_rank", "above")
}
"""The ones that become text."""
CSV_NAME: Final = "metadata.csv"
MAX_PER_SHARD: Final = 10_000_000


@dataclass(frozen=True, kw_only=True)
class _Sample:
    split: str
    index: int
    pictures: dict[str, NDArray[np.uint8]]
    facts: dict[str, Any]
    """Plain JSON values."""


def export_png(path: str | Path, out_folder: str | Path, *, progress: bool = False) -> int:
    """Write a folder of PNG files; return the number of samples.

    Each split has a folder, with a folder for each kind of picture and ``metadata.csv``, one line a
    sample: what Hugging Face calls an image folder. Pixels keep their values: rank 3 is the grey
    value 3, which looks black.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out_folder
        The folder to write. It appears under this name only when it is complete.
    progress
        Show a progress bar, if on a terminal.
    """
    source = Source(open_readers(path))
    pictures, facts = _names(source)
    with new_folder(Path(out_folder)) as folder, progress_bar(source.rows, progress) as bar:
        for split in source.splits:
            for name in pictures:
                (folder / split / name).mkdir(parents=True)
            files = [f"{name}_file_name" for name in pictures]
            with (folder / split / CSV_NAME).open("w", encoding="utf-8", newline="") as stream:
                table = csv.writer(stream, lineterminator="\n")
                table.writerow(["split", "index", *files, *facts])
                for sample in _samples(source, split):
                    names = [f"{name}/{sample.index:08}.png" for name in pictures]
                    for file, picture in zip(names, sample.pictures.values(), strict=True):
                        (folder / split / file).write_bytes(png(picture))
                    values = [json.dumps(value) for value in sample.facts.values()]
                    table.writerow([split, sample.index, *names, *values])
                    bar.update()
    return source.rows


def export_webdataset(
    path: str | Path,
    out_folder: str | Path,
    samples_per_shard: int = 1000,
    *,
    progress: bool = False,
) -> int:
    """Write tar files for WebDataset; return the number of samples.

    Sample 7 of train is ``train-00000007.image.png``, ``.rank.png`` and ``.json`` in one of
    ``train-000000.tar``, ``train-000001.tar``, ... The same dataset gives the same bytes.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out_folder
        The folder to write. It appears under this name only when it is complete.
    samples_per_shard
        Samples in each tar file but the last.
    progress
        Show a progress bar, if on a terminal.
    """
    if isinstance(samples_per_shard, bool) or not 1 <= samples_per_shard <= MAX_PER_SHARD:
        raise SynthprobeError(
            f"samples_per_shard is {samples_per_shard!r}: it must be a whole number from 1 to "
            f"{MAX_PER_SHARD}."
        )
    source = Source(open_readers(path))
    _names(source)
    with new_folder(Path(out_folder)) as folder, progress_bar(source.rows, progress) as bar:
        for split in source.splits:
            samples = _samples(source, split)
            for number in count():
                shard = list(islice(samples, 1))
                if not shard:
                    break
                name = folder / f"{split}-{number:06}.tar"
                with tarfile.open(name, "w", format=tarfile.USTAR_FORMAT) as archive:
                    for sample in chain(shard, islice(samples, samples_per_shard - 1)):
                        _add_sample(archive, sample)
                        bar.update()
    return source.rows


def _add_sample(archive: tarfile.TarFile, sample: _Sample) -> None:
    key = f"{sample.split}-{sample.index:08}"
    for name, picture in sample.pictures.items():
        _add_file(archive, f"{key}.{name}.png", png(picture))
    facts = {"split": sample.split, "index": sample.index, **sample.facts}
    _add_file(archive, f"{key}.json", json.dumps(facts).encode())


def _add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)  # owner 0, time 0: the same bytes on every run
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def png(picture: NDArray[np.uint8]) -> bytes:
    """A picture as the bytes of a PNG file: (height, width) grey, (height, width, 3) coloured."""
    from PIL import Image  # here, because few need it

    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG")
    return stream.getvalue()


def _names(source: Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The datasets that become pictures, and those that become text."""
    dataset = source.dataset.name
    if dataset not in PICTURES:
        raise SynthprobeError(f"samples of {dataset} are not pictures, so they cannot be exported.")
    stored = {column.name for column in source.readers[0].header.columns}
    on_demand = tuple(name for name in DIFFICULTY if name in stored)
    return PICTURES[dataset], FACTS[dataset] + on_demand


def _samples(source: Source, split: str) -> Iterator[_Sample]:
    """The samples of a split, without the unused places."""
    pictures, facts = _names(source)
    for index, sample in source.samples(split, [*pictures, *facts]):
        values = {name: sample[name] for name in facts}
        if source.dataset.name == RDE.name:
            n = int(values["n_rectangles"])
            for name in {"rectangles", "color", "rectangle_rank", "pieces"} & values.keys():
                values[name] = values[name][:n]
            values["above"] = values["above"][:n, :n]
        yield _Sample(
            split=split,
            index=index,
            pictures={name: sample[name] for name in pictures},
            facts={name: np.asarray(value).tolist() for name, value in values.items()},
        )
