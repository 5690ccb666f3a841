"""Whether a dataset is what it says: every hash, every row, every attribute.

Every row is held to the rules of its config, one by one. One that keeps them is made again from
the config, the seed, its split and its index, and all of its bytes are compared. The rules say what
is wrong with a row, and they are all that can be asked of a file by another version.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.parallel import check_workers
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.described import is_described, wrong_in_manifest
from synthprobe_data.shards.digest import ContentDigest
from synthprobe_data.shards.guard import validate_files
from synthprobe_data.shards.manifest import Manifest, check_regular, check_there, read_manifest
from synthprobe_data.verification.hashes import croissant_hashes, stated_hashes
from synthprobe_data.verification.regenerate import why_not_regenerated
from synthprobe_data.verification.report import Failure, Report
from synthprobe_data.verification.rows import FoundRows, check_rows, failure_of_row

_DIGEST_BYTES: Final = 32


def verify(
    path: str | Path,
    *,
    sample: int | None = None,
    workers: int | None = None,
    progress: bool = False,
    pixels: bool = False,
) -> Report:
    """Check a file, or a folder of shards.

    Parameters
    ----------
    path
        The file or the folder. `SynthprobeError` if there is none; whatever else is wrong with it
        is in the report.
    sample
        Check this many rows, spread evenly over all, instead of every row. The content digests,
        which are of all rows, are not checked then.
    workers
        Worker processes; all cores by default.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    pixels
        Also solve every picture, from its pixels alone, and compare with what is stored.
        `SynthprobeError` where no solver can.
    """
    started = time.perf_counter()
    path = Path(path)
    check_there(path)
    if sample is not None and (isinstance(sample, bool) or sample < 1):
        raise SynthprobeError(f"{sample!r} samples to check: it must be a whole number from 1.")
    if workers is not None:
        check_workers(workers)
    report = Report(path=str(path))
    manifest = None
    if path.is_dir():
        manifest, readers = _open_folder(path, report)
    else:
        ((_, sentence),) = validate_files([path])
        readers = [_open_file(path, sentence, report)]
        _check_stated_hash(path, report)
    opened = [reader for reader in readers if reader is not None]
    try:
        if opened:
            report.dataset = opened[0].header.dataset.name
            report.rows = sum(len(reader) for reader in opened)
            for reader in opened:
                _check_attributes(reader, report)
                if pixels:
                    _check_solver(reader)
            found = check_rows(opened, sample, workers, progress, pixels, report)
            if report.rows_checked == report.rows:
                whole = manifest if len(opened) == len(readers) else None
                _check_digests(opened, found, whole, report)
            if opened[0].header.dataset.distinct:
                _check_duplicates(opened, found, report)
    finally:
        for reader in opened:
            reader.close()
    report.seconds = time.perf_counter() - started
    return report


def _open_file(path: Path, refusal: str | None, report: Report) -> BlockReader | None:
    """A reader for a file that the format allows; what it does not allow goes to the report.

    What the guard says of a file that is not safe to open is the refusal.
    """
    report.check("format")
    try:
        if refusal is not None:
            raise SynthprobeError(f"{path} cannot be read: {refusal}")
        return BlockReader(path, trusted=True)
    except SynthprobeError as error:
        report.fail(Failure(file=path.name, check="format", sentence=str(error)))
        return None


def _open_folder(folder: Path, report: Report) -> tuple[Manifest | None, list[BlockReader | None]]:
    """The manifest of a folder and a reader for each shard; compares one with the other."""
    report.check("manifest")
    try:
        manifest = read_manifest(folder)
    except SynthprobeError as error:
        report.fail(Failure(file=MANIFEST, check="manifest", sentence=str(error)))
        return None, []
    readers = []
    validated = validate_files([folder / entry.file for entry in manifest.shards])
    for entry, (path, refusal) in zip(manifest.shards, validated, strict=True):
        report.check("sha256")
        sentence = _wrong_hash(path, entry.sha256, MANIFEST, entry.bytes)
        if sentence:
            report.fail(Failure(file=entry.file, check="sha256", sentence=sentence))
        reader = _open_file(path, refusal, report)
        readers.append(reader)
        if reader is not None and not is_described(reader.header, entry, manifest):
            sentence = f"it is not the shard that {MANIFEST} describes."
            report.fail(Failure(file=entry.file, check="manifest", sentence=sentence))
    for sentence in _wrong_in_folder(folder, manifest):
        report.fail(Failure(file=MANIFEST, check="manifest", sentence=sentence))
    _check_croissant(folder, manifest, report)
    return manifest, readers


def _check_stated_hash(path: Path, report: Report) -> None:
    """Whether a file has the SHA-256 that the Croissant file beside it states, if there is one."""
    try:
        sha256 = stated_hashes(path).get(path.name)
        if sha256 is None:
            return
        beside = card_paths(path, folder=False).croissant.name
        sentence = _wrong_hash(path, sha256, beside)
    except SynthprobeError as error:
        sentence = str(error)
    report.check("sha256")
    if sentence:
        report.fail(Failure(file=path.name, check="sha256", sentence=sentence))


def _check_croissant(folder: Path, manifest: Manifest, report: Report) -> None:
    """Whether the Croissant file of a folder, if there is one, states the hashes of its shards."""
    croissant = card_paths(folder, folder=True).croissant
    try:
        stated = croissant_hashes(croissant)
        if stated is None:
            return
        wrong = stated != {entry.file: entry.sha256 for entry in manifest.shards}
        sentence = f"it does not state the SHA-256 that {MANIFEST} has." if wrong else None
    except SynthprobeError as error:
        sentence = str(error)
    report.check("croissant")
    if sentence:
        report.fail(Failure(file=croissant.name, check="croissant", sentence=sentence))


def _wrong_hash(path: Path, sha256: str, beside: str, stated: int | None = None) -> str | None:
    """What is wrong with the bytes of a file, if their hash or number is not what is stated."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
    except OSError as error:
        return f"it cannot be read: {error.strerror}."
    except SynthprobeError as error:
        return str(error)
    if found != sha256 or size != (size if stated is None else stated):
        return f"its SHA-256 is {found} at {size} bytes, not as in {beside}."
    return None


def _wrong_in_folder(folder: Path, manifest: Manifest) -> Iterator[str]:
    """What does not fit together in the folder, beside its shards."""
    yield from wrong_in_manifest(manifest)
    named = {entry.file for entry in manifest.shards}
    for path in sorted(folder.glob("*.h5")):
        if path.name not in named:
            yield f"it does not name {path.name}, which is beside it."


def _check_attributes(reader: BlockReader, report: Report) -> None:
    """Whether the attributes that follow from the dataset and its config are as they must be.

    Notes it, too, when another version made the file, whose samples cannot be made here, or when
    new samples of its settings would be refused.
    """
    header = reader.header
    why_not = why_not_regenerated(header)
    if why_not:
        report.note(f"{reader.path.name}: {why_not}")
    dataset = header.dataset
    try:
        dataset.check_new(header.config)
    except SynthprobeError as error:
        report.note(f"{reader.path.name}: no new samples are made with its settings: {error}")
    expected = {
        "version": dataset.version,
        "license": dataset.license,
        "citation": dataset.citation,
        **dataset.file_attributes(header.config),
    }
    if not dataset.drawn:
        expected["seed"] = np.uint64(0)  # as written: the samples are the same for every seed
    for name, value in expected.items():
        report.check(name)
        try:
            sentence = None if reader.has_attribute(name, value) else "it is not what it must be."
        except SynthprobeError as error:
            sentence = str(error)
        if sentence:
            report.fail(Failure(file=reader.path.name, check=name, sentence=sentence))


def _check_solver(reader: BlockReader) -> None:
    """Raise `SynthprobeError` if no solver reads the pictures of this file."""
    name = reader.header.dataset.name
    solver = reader.header.dataset.row_checks.solver
    if solver is None:
        raise SynthprobeError(f"there is no solver for {name}, so its pixels cannot be checked.")
    solver.check_config(reader.header.config)


def _check_digests(
    readers: list[BlockReader], found: list[FoundRows], manifest: Manifest | None, report: Report
) -> None:
    """Compare the content digests with those that the files and the manifest state.

    Rows that cannot be decoded have no digest; they have failed already.
    """
    all_rows = ContentDigest()
    for number, reader in enumerate(readers):
        parts = [part for part in found if part.file == number]
        if any(part.undecoded for part in parts):
            manifest = None
            continue
        rows = ContentDigest()
        for part in parts:
            rows.update(part.digests)
            all_rows.update(part.digests)
        report.check("content_digest")
        if rows.hexdigest() != reader.header.content_digest:
            sentence = f"the digest of its rows is {rows.hexdigest()}, not what it states."
            failure = Failure(file=reader.path.name, check="content_digest", sentence=sentence)
            report.fail(failure)
    if manifest is not None:
        report.check("content_digest")
        if all_rows.hexdigest() != manifest.content_digest:
            sentence = f"the digest of all rows is {all_rows.hexdigest()}, not what it states."
            report.fail(Failure(file=MANIFEST, check="content_digest", sentence=sentence))


def _check_duplicates(readers: list[BlockReader], found: list[FoundRows], report: Report) -> None:
    """Whether no sample is there twice, in one split or in two."""
    digests = b"".join(part.digests for part in found)
    file_rows = [(part.file, row) for part in found for row in part.rows]
    report.check("duplicate", len(file_rows))
    keys = np.frombuffer(digests, "<u8").reshape(-1, _DIGEST_BYTES // 8)[:, 0]
    order = np.argsort(keys, kind="stable")
    alike = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    first_with: dict[bytes, tuple[int, int]] = {}
    for i in sorted({int(order[k]) for j in alike for k in (j, j + 1)}):
        digest = digests[_DIGEST_BYTES * i : _DIGEST_BYTES * (i + 1)]
        number, row = first_with.setdefault(digest, file_rows[i])
        if (number, row) != file_rows[i]:
            split, index = readers[number].locate(row)
            sentence = f"it is the same as row {row} of {readers[number].path.name}"
            sentence += f" ({split} {index})."
            reader, row = readers[file_rows[i][0]], file_rows[i][1]
            report.fail(failure_of_row(reader, row, "duplicate", sentence))
