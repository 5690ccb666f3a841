"""Datasets as other programs like them: folders of PNG files, or tar files for WebDataset.

Every row is hashed on the way, as by `synthprobe_data.convert.merge_split`: what does not have the
content digest of its file is not exported.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.atomic.folder import new_folder
from synthprobe_data.cards.exported import SUMS, ExportFacts, Kind, check_exportable, export_notes
from synthprobe_data.cards.facts import file_sha256
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.pictures import png
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.block_source import BlockSource
from synthprobe_data.shards.blocks import open_readers
from synthprobe_data.shards.collection import open_dataset

CSV_NAME: Final = "metadata.csv"
MAX_PER_SHARD: Final = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A sample as other programs like it."""

    split: str
    index: int
    pictures: dict[str, NDArray[Any]]
    facts: dict[str, Any]
    """Plain JSON values."""


def export_png(
    path: str | Path,
    out_folder: str | Path,
    *,
    split: str | None = None,
    progress: bool = False,
) -> int:
    """Write a folder of PNG files; return the number of samples.

    Each split has a folder, with a folder for each kind of picture and ``metadata.csv``, one line a
    sample: what Hugging Face calls an image folder. Pixels keep their values: rank 3 is the grey
    value 3, which looks black. Beside the splits stand ``README.md``, ``LICENSE``,
    ``dataset.json`` with what the attributes of the files say, and ``SHA256SUMS``.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out_folder
        The folder to write. It appears under this name only when it is complete.
    split
        Only this split; all by default.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    source, sizes, digest = open_for_export(path, split)
    pictures, facts = exported_columns(source, "picture"), exported_columns(source, "text")
    if not pictures:
        raise SynthprobeError(
            f"samples of {source.dataset.name} are not pictures: export them as webdataset."
        )
    sums: dict[str, str] = {}
    rows = sum(sizes.values())
    with new_folder(Path(out_folder)) as folder, progress_bar(rows, progress) as bar:
        for name in sizes:
            for picture in pictures:
                (folder / name / picture).mkdir(parents=True)
            files = [f"{picture}_file_name" for picture in pictures]
            with (folder / name / CSV_NAME).open("w", encoding="utf-8", newline="") as stream:
                table = csv.writer(stream, lineterminator="\n")
                table.writerow(["split", "index", *files, *facts])
                for sample in samples_of(source, name):
                    names = [f"{picture}/{sample.index:08}.png" for picture in pictures]
                    for file, pixels in zip(names, sample.pictures.values(), strict=True):
                        content = png(pixels)
                        (folder / name / file).write_bytes(content)
                        sums[f"{name}/{file}"] = hashlib.sha256(content).hexdigest()
                    values = [json.dumps(value) for value in sample.facts.values()]
                    table.writerow([name, sample.index, *names, *values])
                    bar.update()
            sums[f"{name}/{CSV_NAME}"] = file_sha256(folder / name / CSV_NAME)
        source.check_digests()
        write_notes(folder, source, "png", sizes, digest, sums)
    return rows


def export_webdataset(
    path: str | Path,
    out_folder: str | Path,
    samples_per_shard: int = 1000,
    *,
    split: str | None = None,
    progress: bool = False,
) -> int:
    """Write tar files for WebDataset; return the number of samples.

    Sample 7 of train of RDE is ``train-00000007.image.png``, ``.rank.png`` and ``.json`` in one of
    ``train-000000.tar``, ``train-000001.tar``, ... What is not a picture is in the ``.json``. The
    same dataset gives the same bytes. Beside the tar files stand ``README.md``, ``LICENSE``,
    ``dataset.json`` and ``SHA256SUMS``, as by `export_png`.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out_folder
        The folder to write. It appears under this name only when it is complete.
    samples_per_shard
        Samples in each tar file but the last.
    split
        Only this split; all by default.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    check_per_shard(samples_per_shard)
    source, sizes, digest = open_for_export(path, split)
    sums: dict[str, str] = {}
    rows = sum(sizes.values())
    with new_folder(Path(out_folder)) as folder, progress_bar(rows, progress) as bar:
        for name in sizes:
            samples = samples_of(source, name)
            for number in count():
                shard = list(islice(samples, 1))
                if not shard:
                    break
                file = folder / f"{name}-{number:06}.tar"
                with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
                    for sample in chain(shard, islice(samples, samples_per_shard - 1)):
                        _add_sample(archive, sample)
                        bar.update()
                sums[file.name] = file_sha256(file)
        source.check_digests()
        write_notes(folder, source, "webdataset", sizes, digest, sums)
    return rows


def check_per_shard(samples: int) -> None:
    """Raise `SynthprobeError` for a number of samples that no file can have."""
    if isinstance(samples, bool) or not 1 <= samples <= MAX_PER_SHARD:
        raise SynthprobeError(
            f"samples_per_shard is {samples!r}: it must be a whole number from 1 to "
            f"{MAX_PER_SHARD}."
        )


def open_for_export(path: str | Path, split: str | None) -> tuple[BlockSource, dict[str, int], str]:
    """The rows of a dataset; the splits to write, with their sizes; and its content digest."""
    with open_dataset(path) as data:
        digest = data.content_digest
        if split is not None and not len(data[split]):
            raise SynthprobeError(f"{split} of {path} has no samples.")
    source = BlockSource(open_readers(path))
    check_exportable(source)
    sizes = {
        name: sum(part.rows for part in parts)
        for name, parts in source.splits.items()
        if split in (None, name)
    }
    return source, sizes, digest


def write_notes(
    folder: Path,
    source: BlockSource,
    kind: Kind,
    splits: Mapping[str, int],
    content_digest: str,
    sums: dict[str, str],
) -> None:
    """Write what goes with the samples, and last of all the hashes of everything."""
    facts = ExportFacts(
        source=source,
        kind=kind,
        splits=splits,
        pictures=exported_columns(source, "picture"),
        others=exported_columns(source, "text"),
        content_digest=content_digest,
    )
    for name, text in export_notes(facts).items():
        (folder / name).write_text(text, "utf-8")
        sums[name] = hashlib.sha256(text.encode()).hexdigest()
    lines = [f"{sha256}  {name}\n" for name, sha256 in sums.items()]
    (folder / SUMS).write_text("".join(lines), "utf-8")


def _add_sample(archive: tarfile.TarFile, sample: Exported) -> None:
    key = f"{sample.split}-{sample.index:08}"
    for name, picture in sample.pictures.items():
        _add_file(archive, f"{key}.{name}.png", png(picture))
    facts = {"split": sample.split, "index": sample.index, **sample.facts}
    _add_file(archive, f"{key}.json", json.dumps(facts).encode())


def _add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)  # owner 0, time 0: the same bytes on every run
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def exported_columns(source: BlockSource, how: Literal["picture", "text"]) -> tuple[str, ...]:
    """The columns that become pictures or text, of those that are stored."""
    stored = {column.name for column in source.readers[0].header.columns}
    return tuple(c.name for c in source.dataset.columns if c.export == how and c.name in stored)


def samples_of(source: BlockSource, split: str) -> Iterator[Exported]:
    """The samples of a split, without the unused places."""
    pictures, names = exported_columns(source, "picture"), exported_columns(source, "text")
    for index, sample in source.samples(split, [*pictures, *names]):
        facts = source.dataset.trim({name: sample[name] for name in names})
        yield Exported(
            split=split,
            index=index,
            pictures={name: sample[name] for name in pictures},
            facts={name: np.asarray(value).tolist() for name, value in facts.items()},
        )
