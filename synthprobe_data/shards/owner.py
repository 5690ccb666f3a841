"""Temporary names that say which process of which machine they belong to.

What a killed run leaves behind can then be told from what a living one is working on. On storage
that several machines share, only what is of this machine is ever judged: the processes of another
one cannot be seen from here.
"""

from __future__ import annotations

import glob
import os
import re
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path


def temporary(path: Path, ending: str) -> Path:
    """A name beside ``path`` that no other process has, not even one that a killed run left."""
    owner = f"{host_name()}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f"{path.name}.{owner}{ending}")


def left_by_the_dead(path: Path, ending: str) -> Iterator[Path]:
    """What stands beside ``path`` under such names, of processes of this machine that are gone."""
    pattern = re.compile(rf"\.{re.escape(host_name())}-(\d+)-[0-9a-f]{{8}}{re.escape(ending)}")
    for found in sorted(path.parent.glob(f"{glob.escape(path.name)}.*{ending}")):
        named = pattern.fullmatch(found.name.removeprefix(path.name))
        if named and not is_alive(int(named[1])):
            yield found


def is_alive(process: int) -> bool:
    """Whether this machine has such a process."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def host_name() -> str:
    """The name of this machine, as part of a file name."""
    return re.sub("[^A-Za-z0-9]", "_", socket.gethostname())[:40] or "host"
