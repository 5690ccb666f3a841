"""Temporary names that say which process of which machine they belong to.

What a killed run leaves behind can then be told from what a living one is working on. On storage
that several machines share, only what is of this machine is ever judged: the processes of another
one cannot be seen from here. A container that has process numbers of its own counts as a machine of
its own.
"""

from __future__ import annotations

import glob
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from synthprobe_data.atomic.lock import Held, hold, is_held, looking_around
from synthprobe_data.errors import SynthprobeError


def temporary(path: Path, ending: str) -> Path:
    """A name beside ``path`` that no other process has, not even one that a killed run left."""
    owner = f"{host_name()}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f"{path.name}.{owner}{ending}")


def begin(
    path: Path, ending: str, *, folder: bool = False, alone: bool = False
) -> tuple[Path, Held]:
    """Make an empty file or folder under a temporary name, locked until it is released.

    With ``alone``, `SynthprobeError` if somebody is writing to ``path`` already.
    """
    # Without it, the folder around may be locked by a run that this one is a part of.
    with looking_around(path.parent) if alone else nullcontext():
        if alone:
            check_free(path, ending)
        part = temporary(path, ending)
        if folder:
            part.mkdir()
        else:
            part.touch(exist_ok=False)
        return part, hold(part) or Held(None)


def check_free(path: Path, ending: str) -> None:
    """Raise `SynthprobeError` if somebody is writing to ``path`` under a temporary name."""
    for found in (path.with_name(path.name + ending), *_named(path, ending)):
        if is_held(found):
            raise SynthprobeError(f"{path} is being written by another run: wait until it ends.")


def left_by_the_dead(path: Path, ending: str) -> Iterator[Path]:
    """What stands beside ``path`` under such names, of processes of this machine that are gone."""
    for found, owner in _named(path, ending).items():
        if owner is not None and not is_alive(owner) and not is_held(found):
            yield found


def _named(path: Path, ending: str) -> dict[Path, int | None]:
    """What has a temporary name of ``path``, with its process if that is of this machine."""
    pattern = re.compile(rf"\.(\w+)-(\d+)-[0-9a-f]{{8}}{re.escape(ending)}", re.ASCII)
    named: dict[Path, int | None] = {}
    for found in sorted(path.parent.glob(f"{glob.escape(path.name)}.*{ending}")):
        owner = pattern.fullmatch(found.name.removeprefix(path.name))
        if owner:
            named[found] = int(owner[2]) if owner[1] == host_name() else None
    return named


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
    """The name of this machine, and of its process numbers, as part of a file name."""
    name = re.sub("[^A-Za-z0-9]", "_", socket.gethostname())[:40] or "host"
    try:
        return f"{name}_{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:  # only Linux has them
        return name
