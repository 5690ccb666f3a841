"""Datasets as other programs like them: folders of PNG files, or tar files for WebDataset.

Every row is hashed on the way, as by `synthprobe_data.shards.edit`: what does not have the content
digest of its file is not exported.
"""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square import CENTERED_SQUARE
from synthprobe_data.color_code import COLOR_CODE
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RDE
from synthprobe_data.rde.difficulty import COLUMNS as DIFFICULTY
from synthprobe_data.run import progress_bar
from synthprobe_data.shards.blocks import open_readers
from synthprobe_data.shards.folder import new_folder
from synthprobe_data.shards.opened import Sample
from synthprobe_data.shards.source import Source

CSV_NAME: Final = "metadata.csv"
MAX_PER_SHARD: Final = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Export:
    """What becomes of the arrays of a sample."""

    pictures: tuple[str, ...]
    """The ones that become PNG files."""
    facts: tuple[str, ...]
    """The ones that become text."""
    on_demand: tuple[str, ...] = ()
    """The ones that become text where they are stored."""
    trim: Callable[[Sample], Sample] = lambda facts: facts
    """The facts without unused places."""


def _used_rectangles(facts: Sample) -> Sample:
    n = int(facts["n_rectangles"])
    rows = {"rectangles", "color", "rectangle_rank", "pieces"} & facts.keys()
    used = {name: facts[name][:n] for name in rows}
    return {**facts, **used, "above": facts["above"][:n, :n]}


EXPORTS: Final[Mapping[str, Export]] = {
    RDE.name: Export(
        pictures=("image", "rank"),
        facts=("n_rectangles", "rectangles", "color", "rectangle_rank", "above"),
        on_demand=DIFFICULTY,
        trim=_used_rectangles,
    ),
    CENTERED_SQUARE.name: Export(pictures=("image", "target"), facts=("center",)),
    COLOR_CODE.name: Export(pictures=(), facts=("color", "code", "revealed", "group")),
}
"""By the name of the dataset."""


@dataclass(frozen=True, kw_only=True)
class _Exported:
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
    pictures, facts = EXPORTS[source.dataset.name].pictures, _facts(source)
    if not pictures:
        raise SynthprobeError(
            f"samples of {source.dataset.name} are not pictures: export them as webdataset."
        )
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
        source.check_digests()
    return source.rows


def export_webdataset(
    path: str | Path,
    out_folder: str | Path,
    samples_per_shard: int = 1000,
    *,
    progress: bool = False,
) -> int:
    """Write tar files for WebDataset; return the number of samples.

    Sample 7 of train of RDE is ``train-00000007.image.png``, ``.rank.png`` and ``.json`` in one of
    ``train-000000.tar``, ``train-000001.tar``, ... What is not a picture is in the ``.json``. The
    same dataset gives the same bytes.

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
        source.check_digests()
    return source.rows


def _add_sample(archive: tarfile.TarFile, sample: _Exported) -> None:
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


def _facts(source: Source) -> tuple[str, ...]:
    """The arrays that become text: those that are stored on demand only if they are there."""
    stored = {column.name for column in source.readers[0].header.columns}
    export = EXPORTS[source.dataset.name]
    return (*export.facts, *(name for name in export.on_demand if name in stored))


def _samples(source: Source, split: str) -> Iterator[_Exported]:
    """The samples of a split, without the unused places."""
    export, names = EXPORTS[source.dataset.name], _facts(source)
    for index, sample in source.samples(split, [*export.pictures, *names]):
        facts = export.trim({name: sample[name] for name in names})
        yield _Exported(
            split=split,
            index=index,
            pictures={name: sample[name] for name in export.pictures},
            facts={name: np.asarray(value).tolist() for name, value in facts.items()},
        )
