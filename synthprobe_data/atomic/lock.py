"""Locks that say that somebody is writing something, and that end with the process that has them.

A process number says little: it is used again, and means nothing in another container. A lock is
held by the kernel for the process that took it, however that ends, and is seen by every process of
the machine, and on most network storage from other machines, too. Where a system or a storage has
no locks, nothing counts as locked.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

_fcntl: ModuleType | None
try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None

_PATIENCE: Final = 10.0
"""Seconds to wait for one who only looks around in a folder; then go on without."""


class Held:
    """A file or a folder that this process has locked."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    def release(self) -> None:
        """Let others have it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def hold(path: Path) -> Held | None:
    """Lock a file or a folder that is there; ``None`` if somebody else has."""
    if _fcntl is None:
        return Held(None)
    # On network storage, only what may be written to can be locked.
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:  # no locks here
        os.close(handle)
        return Held(None)
    except BaseException:
        os.close(handle)
        raise
    return Held(handle)


def is_held(path: Path) -> bool:
    """Whether somebody, of this process or of another, has locked a file or a folder."""
    if _fcntl is None or path.is_symlink() or not (path.is_file() or path.is_dir()):
        return False
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        _fcntl.flock(handle, _fcntl.LOCK_SH | _fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


@contextlib.contextmanager
def looking_around(folder: Path) -> Iterator[None]:
    """One at a time may look who is writing in a folder, and begin to write there."""
    held, patience = None, time.monotonic() + _PATIENCE
    with contextlib.suppress(OSError):
        while (held := hold(folder)) is None and time.monotonic() < patience:
            time.sleep(0.01)
    try:
        yield
    finally:
        if held is not None:
            held.release()
