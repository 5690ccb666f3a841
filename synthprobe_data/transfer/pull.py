"""Fetching a folder of shards: it gets its name only when every byte of it was checked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final, Protocol

from synthprobe_data.atomic.folder import (
    MANIFEST,
    check_folder,
    heal,
    held_part,
    part_of,
    put_in_place,
)
from synthprobe_data.cards.write import write_cards
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.described import wrong_in_manifest
from synthprobe_data.shards.manifest import MAX_MANIFEST_BYTES, Manifest, ShardEntry, read_manifest
from synthprobe_data.transfer.check import check_contents, is_right
from synthprobe_data.transfer.hub import HubFolder
from synthprobe_data.transfer.web import WebFolder

FETCHED: Final = ".pull"
"""The folder, in the one that is not complete, of what is not complete."""


class Host(Protocol):
    """Where files come from."""

    name: str

    def fetch(self, file: str, target: Path, limit: int) -> None:
        """Fetch a file of at most so many bytes; continue what is there of it."""


def pull(
    source: str | Host, folder: str | Path, *, force: bool = False, progress: bool = False
) -> Manifest:
    """Fetch a folder of shards.

    It is fetched into ``FOLDER.part``, and gets its name when the size and the SHA-256 of every
    file and the content digest over all samples are those of the manifest. After an interruption
    the same call goes on: complete files are kept, the rest of others is asked for. The cards are
    written anew from the samples.

    Parameters
    ----------
    source
        ``https://.../manifest.json``, or ``OWNER/NAME`` or ``OWNER/NAME@REVISION`` of the Hub.
    folder
        Where to put it.
    force
        Replace the dataset in an existing folder.
    progress
        Show a progress bar, or lines now and then where there is no terminal.

    Returns
    -------
    Manifest
        What was fetched.
    """
    folder = Path(folder)
    check_folder(folder, force=force)
    heal(folder)
    check_folder(folder, force=force)
    part = part_of(folder)
    if part.exists() and any(part.iterdir()) and not (part / FETCHED).is_dir():
        raise SynthprobeError(f"{part} is left from a run that did not fetch: remove it first.")
    with held_part(folder, new=False):
        fetched = part / FETCHED
        fetched.mkdir(exist_ok=True)
        manifest = _fetch_all(_opened(source, fetched), part, progress=progress)
        try:
            check_contents(part)
        except SynthprobeError:
            shutil.rmtree(part)  # the manifest itself is wrong: nothing of it can be gone on with
            raise
        shutil.rmtree(fetched)
        write_cards(part, force=True, hashes=manifest.hashes)
        check_folder(folder, force=force)
        put_in_place(part, folder)
    return manifest


def _opened(source: str | Host, fetched: Path) -> Host:
    if not isinstance(source, str):
        return source
    if "://" in source:
        if not source.partition("?")[0].endswith(".json"):
            raise SynthprobeError(f"{source} does not end in {MANIFEST}: name the manifest.")
        return WebFolder(source)
    return HubFolder(source, fetched / "hub")


def _fetch_all(source: Host, part: Path, *, progress: bool) -> Manifest:
    """Fetch the manifest and all that it names; nothing but right files gets its name."""
    fetched = part / FETCHED
    new = fetched / MANIFEST
    new.unlink(missing_ok=True)
    source.fetch(MANIFEST, new, MAX_MANIFEST_BYTES)
    try:
        manifest = read_manifest(fetched)
        for sentence in wrong_in_manifest(manifest):
            raise SynthprobeError(sentence)
    except SynthprobeError as error:
        new.unlink()
        raise SynthprobeError(f"{source.name}: {error}") from None
    named = {entry.file for entry in manifest.shards}
    for path in part.iterdir():  # of an earlier state of what is fetched
        if path.name not in named and path.name != FETCHED:
            path.unlink()
    with progress_bar(sum(entry.bytes for entry in manifest.shards), progress, "byte") as bar:
        for entry in manifest.shards:
            if not is_right(part / entry.file, entry):
                _fetch(source, entry, part)
            bar.update(entry.bytes)
    new.replace(part / MANIFEST)
    return manifest


def _fetch(source: Host, entry: ShardEntry, part: Path) -> None:
    """Fetch one shard; what does not have its hash is fetched once more, from the beginning."""
    target = part / FETCHED / entry.file
    for _ in range(2):
        begun = target.exists()
        source.fetch(entry.file, target, entry.bytes)
        if is_right(target, entry):
            target.replace(part / entry.file)
            return
        target.unlink()
        if not begun:
            break
    raise SynthprobeError(
        f"{source.name}: {entry.file} does not have the SHA-256 that {MANIFEST} states."
    )
