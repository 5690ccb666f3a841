"""Writing one file: under a temporary name, synced, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from synthprobe_data.atomic.owner import begin, left_by_the_dead
from synthprobe_data.errors import SynthprobeError

PART: Final = ".part"
"""The name of what is not complete ends in this."""


def write_text(path: Path, text: str) -> None:
    """Write a text file under a temporary name, synced, then renamed."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, synced, then renamed."""
    with explained(path), in_place_of(path) as part:
        part.write_bytes(content)


@contextlib.contextmanager
def in_place_of(path: Path, *, alone: bool = False) -> Iterator[Path]:
    """A temporary file, which is synced and renamed to ``path`` when the block ends well.

    Where ``path`` is a symbolic link, what it leads to is replaced, and the link stays. With
    ``alone``, `SynthprobeError` if another run is writing to ``path``.
    """
    path = at_end_of_links(path)
    remove_leftovers(path)
    part, held = begin(path, PART, alone=alone)
    try:
        yield part
        sync(part)
        held.release()  # whoever reads the file under its name may lock it
        os.replace(part, path)
        sync(path.parent)
    finally:
        held.release()
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def remove_leftovers(path: Path) -> None:
    """Remove what dead processes of this machine have left while they wrote this file."""
    for left in left_by_the_dead(at_end_of_links(path), PART):
        with contextlib.suppress(OSError):
            left.unlink()


def at_end_of_links(path: Path) -> Path:
    """Where a symbolic link leads to; any other path as it is."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def check_target(path: Path, *, force: bool) -> None:
    """Raise `SynthprobeError` if no file can be put at this path."""
    check_name(path)
    if path.is_dir():
        raise SynthprobeError(f"{path} is a folder: name a file in it, such as {path / 'rde.h5'}.")
    if path.exists() and not force:
        raise SynthprobeError(f"{path} exists and is left as it is: --force replaces it.")
    folder = at_end_of_links(path).parent
    if not folder.is_dir():
        raise SynthprobeError(f"the folder {folder} does not exist: make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SynthprobeError(f"the folder {folder} cannot be written to.")


def check_name(path: Path) -> None:
    """Raise `SynthprobeError` for a name that no card could state."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise SynthprobeError(f"the name {path.name!a} is not UTF-8.") from None


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into one sentence."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        number = getattr(error, "errno", None)
        text = os.strerror(number) if number else str(error)
        # HDF5 puts what the system said somewhere into its own message.
        reason = "the disk is full" if os.strerror(errno.ENOSPC) in text else text.split("\n")[0]
        raise SynthprobeError(f"{path} could not be written: {reason}.") from error


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
