"""Where compiled kernels are kept: in the user's cache folder, never in the package.

Numba's own places depend on where the package stands and on when its files were written, so that a
new installation of the same version would compile again, and uninstalling would leave folders that
Python can import. Here the place depends on nothing but the sources of the kernels: whatever has
the same sources shares it, and changed sources never find kernels of the old ones.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from numba.core import caching

_caching: Any = caching  # partly typed, by version
_PACKAGE: Final = Path(__file__).parent
_ALSO_COMPILED: Final = ("config.py", "kernel_parts.py")
"""Files that have no kernels, but constants of some, or how they are compiled."""
_UNUSED_SECONDS: Final = 60 * 24 * 3600
"""Kernels of other sources that nobody has used for so long are removed."""

_DAMAGED: Final = (EOFError, pickle.UnpicklingError, ValueError)
_UNREADABLE: Final = (OSError, *_DAMAGED)

announce: Callable[[str], None] | None = None
"""Called with one line before the first kernel of a process is compiled; set by the commands."""
_announced: bool = False


@cache
def digest_of_sources() -> str:
    """Of all files with kernels, or with constants that are compiled into them."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source or b"@shared_kernel" in source or path.name in _ALSO_COMPILED:
            digest.update(source)
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """The folder for the caches of this user, by the habits of the platform."""
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir())
    with suppress(RuntimeError):  # a user without a home
        home = Path.home()
        return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    return Path(tempfile.gettempdir())


@cache
def cache_folder() -> Path | None:
    """The folder of the kernels with these sources, made if need be; ``None`` if there is none.

    One that can only be read will do if it is there: it may hold what is needed.
    """
    kernels = user_cache() / "synthprobe" / "kernels"
    folder = kernels / digest_of_sources()
    if not folder.is_dir():
        try:
            folder.mkdir(parents=True)
        except OSError:
            return None if not folder.is_dir() else folder
        _remove_unused(kernels)
    with suppress(OSError):
        os.utime(folder)
    return folder


def _remove_unused(kernels: Path) -> None:
    for other in kernels.iterdir():
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(other)


class _Locator:
    """What Numba asks about the place of a function's cache."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_function(cls, _function: Any, file: str) -> _Locator | None:
        folder = cache_folder()
        if folder is None:
            return None
        # Files of one name in two folders must not share a place.
        return cls(folder / "-".join(Path(file).relative_to(_PACKAGE).parent.parts or ("root",)))

    def ensure_cache_path(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return digest_of_sources()

    def get_disambiguator(self) -> None:
        return None


class _Results(_caching.CompileResultCacheImpl):  # type: ignore[misc, unused-ignore]
    _locator_classes: ClassVar = [_Locator]


class KernelCache(_caching.FunctionCache):  # type: ignore[misc, unused-ignore]
    """The cache of one kernel; where it cannot be read or written, the kernel is compiled."""

    _impl_class = _Results

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """A kernel that was compiled before; ``None`` if it must be compiled now."""
        found = None
        with suppress(*_UNREADABLE):
            found = super().load_overload(signature, target_context)
        if found is None:
            announce_compiling()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a compiled kernel, if there is room for it."""
        with suppress(OSError):
            try:
                super().save_overload(signature, data)
            except _DAMAGED:
                self.flush()
                super().save_overload(signature, data)


class _Parts(_Results):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"part-{super().get_filename_base(fullname, abiflags)}"

    def reduce(self, part: Any) -> Any:
        return part.reduced()

    def rebuild(self, _target_context: Any, reduced: Any) -> Any:
        return reduced

    def check_cachable(self, _part: Any) -> bool:
        return True


class PartCache(KernelCache):
    """The cache of a part: translated, but not yet machine code."""

    _impl_class = _Parts


class NoCache:
    """For a user who has no place for a cache: every process compiles for itself."""

    def load_overload(self, _signature: Any, _target_context: Any) -> None:
        """Say that kernels are compiled, and will be again."""
        announce_compiling()

    def save_overload(self, _signature: Any, _data: Any) -> None:
        """Keep nothing."""


def cache_of(function: Callable[..., Any], *, part: bool = False) -> KernelCache | NoCache:
    """The cache of a kernel, or of what it is as a part of other kernels."""
    kind = PartCache if part else KernelCache
    return NoCache() if cache_folder() is None else kind(function)


def has_writable_cache() -> bool:
    """Whether another process finds what this one has compiled."""
    folder = cache_folder()
    return folder is not None and os.access(folder, os.W_OK)


def announce_compiling() -> None:
    """Say that kernels are compiled, once in a process and only where somebody asked for it."""
    global _announced
    if announce is None or _announced:
        return
    _announced = True
    if not has_writable_cache():
        where = f"{user_cache()} cannot be written to, so this happens in every run"
        announce(f"compiling kernels, about 10 s: {where} (NUMBA_CACHE_DIR names another folder)")
    else:
        announce("compiling kernels, about 10 s, once for this version")
