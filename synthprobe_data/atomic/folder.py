"""Writing a folder: under a temporary name, then renamed when it is complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from synthprobe_data.atomic.files import PART, at_end_of_links, check_name, sync
from synthprobe_data.atomic.lock import Held, hold, looking_around
from synthprobe_data.atomic.owner import begin, check_free, left_by_the_dead, temporary
from synthprobe_data.errors import SynthprobeError

OLD: Final = ".old"
"""The name of a dataset ends in this while another one takes its place."""


@contextlib.contextmanager
def new_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder that gets its name only when the ``with`` block ends without an error.

    Until then it stands beside it under a name of its own that ends in ``.part``, which is removed
    when anything goes wrong; what a killed process left under such a name is removed first. An
    existing folder that is not empty is refused and untouched. With ``force``, the dataset in it is
    replaced at the end; a folder that is no dataset is refused all the same.
    """
    folder = at_end_of_links(folder)
    check_folder(folder, force=force)
    heal(folder)
    check_folder(folder, force=force)  # it may be back
    for left in left_by_the_dead(folder, PART):
        shutil.rmtree(left, ignore_errors=True)
    if part_of(folder).exists():
        raise SynthprobeError(
            f"{part_of(folder)} is being written by another run, or left from one that was killed: "
            "remove it first."
        )
    try:
        part, held = begin(folder, PART, folder=True, alone=True)
    except OSError as error:
        raise SynthprobeError(f"{folder} could not be made: {error.strerror}.") from error
    try:
        yield part
        check_folder(folder, force=force)
        put_in_place(part, folder)
    except OSError as error:
        raise SynthprobeError(f"{folder} could not be written: {error.strerror}.") from error
    finally:
        held.release()
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def held_part(folder: Path, *, new: bool) -> Iterator[Path]:
    """``NAME.part``, in which a run that can be resumed writes; made if need be.

    `SynthprobeError` if another run is writing to the folder, or with ``new``, if one has begun to.
    """
    part = part_of(folder)
    try:
        with looking_around(folder.parent):
            check_free(folder, PART)
            if new and part.exists():
                raise SynthprobeError(
                    f"{part} is left from a run that was killed: --resume continues, --force "
                    "starts over."
                )
            part.mkdir(exist_ok=True)
            held = hold(part)
    except OSError as error:
        raise SynthprobeError(f"{part} cannot be written to: {error.strerror}.") from error
    with _released(folder, held):
        yield part


@contextlib.contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """A folder that is there, in which a run sets right what is wrong.

    `SynthprobeError` if another run is writing to it.
    """
    try:
        with looking_around(folder.parent):
            check_free(folder, PART)
            held = hold(folder)
    except OSError as error:
        raise SynthprobeError(f"{folder} cannot be read: {error.strerror}.") from error
    with _released(folder, held):
        yield


@contextlib.contextmanager
def _released(folder: Path, held: Held | None) -> Iterator[None]:
    if held is None:
        raise SynthprobeError(f"{folder} is being written by another run: wait until it ends.")
    try:
        yield
    finally:
        held.release()


def check_folder(folder: Path, *, force: bool) -> None:
    """Raise `SynthprobeError` if no folder can be put at this path."""
    check_name(folder)
    if folder.name in ("", ".."):  # nothing can stand beside it under a temporary name
        raise SynthprobeError(f"{folder} is no name: name a new folder, such as {folder / 'rde'}.")
    if folder.exists() and not folder.is_dir():
        raise SynthprobeError(f"{folder} is a file: name a folder.")
    if not folder.parent.is_dir():
        raise SynthprobeError(f"the folder {folder.parent} does not exist: make it first.")
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        raise SynthprobeError(f"the folder {folder.parent} cannot be written to.")
    if folder.is_dir() and any(folder.iterdir()):
        if (folder / MANIFEST).is_file():
            if not force:
                raise SynthprobeError(f"{folder} exists and is left as it is: --force replaces it.")
        else:
            raise SynthprobeError(f"{folder} exists, is not empty, and is left as it is.")


def part_of(folder: Path) -> Path:
    """Where a folder stands until it is complete."""
    return folder.with_name(folder.name + PART)


def put_in_place(part: Path, folder: Path) -> None:
    """Give a complete folder its name; what had that name before goes only then.

    A run that is killed in between leaves both, and `heal` sets it right.
    """
    old = temporary(folder, OLD)
    try:
        moved = folder.is_dir() and any(folder.iterdir())
        if moved:
            os.replace(folder, old)
        try:
            os.replace(part, folder)
        except BaseException:
            if moved:
                os.replace(old, folder)
            raise
        sync(folder.parent)
    except OSError as error:
        raise SynthprobeError(f"{part} could not be renamed: {error.strerror}.") from error
    shutil.rmtree(old, ignore_errors=True)


def heal(folder: Path) -> None:
    """Set right what a run that was killed while it replaced a dataset left beside it.

    If the new one has not got its name, the one before gets it back; if it has, that one goes.
    """
    for old in left_by_the_dead(folder, OLD):
        try:
            if folder.is_dir() and any(folder.iterdir()):
                shutil.rmtree(old)
            else:
                os.replace(old, folder)
        except OSError as error:
            raise SynthprobeError(
                f"{old}, left from a run that was killed, could not be moved: {error.strerror}."
            ) from error


MANIFEST: Final = "manifest.json"
