"""How many files a process keeps open: no more than half of those that it may.

A folder may have more shards than a process may have open files. So a reader lets go of its file
when too many others have been opened since it was last used, and opens it again when it is next
read.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from types import ModuleType
from typing import Final, Protocol

_resource: ModuleType | None
try:
    import resource as _resource
except ImportError:  # Windows
    _resource = None

MOST: Final = 1024
_LEAST: Final = 4
_WITHOUT_LIMIT: Final = 256


class Holder(Protocol):
    """Somebody who has a file open."""

    used: bool
    """Set whenever the file is used."""

    def let_go(self) -> None:
        """Have no file open, until it is needed again."""


class _OpenFiles:
    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.holders: OrderedDict[int, weakref.ref[Holder]] = OrderedDict()
        """By identity, since several threads may open a file for one holder; the oldest first."""


_open_files = _OpenFiles()


def note_opened(holder: Holder) -> None:
    """Note that a holder has opened a file; others may have to let go of theirs.

    Those go first that were opened first and not used since the last such look around, which costs
    a reader no more than setting a flag.
    """
    global _open_files
    if _open_files.process != os.getpid():  # after a fork: those are the parent's
        _open_files = _OpenFiles()
    files = _open_files
    with files.lock:
        files.holders[id(holder)] = weakref.ref(holder)
        files.holders.move_to_end(id(holder))
        spared, limit = 0, most_open_files()
        while len(files.holders) > limit:
            key, reference = files.holders.popitem(last=False)
            other = reference()
            if other is None:
                continue
            if other is holder or (other.used and spared < len(files.holders)):
                other.used = False
                spared += 1
                files.holders[key] = reference
                continue
            other.let_go()


def note_closed(holder: Holder) -> None:
    """Note that a holder has closed its file."""
    files = _open_files
    if files.process == os.getpid():
        with files.lock:
            files.holders.pop(id(holder), None)


def most_open_files() -> int:
    """How many files may be kept open."""
    if _resource is None:
        return _WITHOUT_LIMIT
    soft, _ = _resource.getrlimit(_resource.RLIMIT_NOFILE)
    if soft == _resource.RLIM_INFINITY:
        return MOST
    return max(_LEAST, min(MOST, soft // 2))
