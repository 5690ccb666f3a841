"""Structures from outside: of a user's own file or module, and of installed packages."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from synthprobe_data import SynthprobeError
from synthprobe_models.registry import NETWORKS, STRUCTURES

GROUP: Final = "synthprobe.structures"
"""The entry points of installed packages: each names a module, or a function to call."""
TIMM: Final = "timm:"
"""What the names of timm begin with."""
_TIMM_NAMES: Final = "synthprobe_models.probes.timm_names"  # by name, as it is of a later layer
LOADED: Final[dict[str, str]] = {}
"""By the name of a structure or network: the file or module that it was loaded from."""
FILES: Final[dict[str, str]] = {}
"""By what was loaded, a path or the name of a module: the SHA-256 of the file when it was."""


def load_structures(where: str) -> None:
    """Run a Python file, or import a module, which names its structures by the decorator.

    Parameters
    ----------
    where
        The path of a file that ends with ``.py``, or the name of a module.
    """
    path, before = Path(where), _known()
    if path.suffix != ".py":
        _explained(where, lambda: importlib.import_module(where))
        LOADED.update(dict.fromkeys(_known() - before, where))
        _note_file(where, getattr(sys.modules.get(where), "__file__", None))
        return
    if not path.is_file():
        raise SynthprobeError(f"there is no file {where} to load.")
    # The file can import what is beside it, as a script can.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        _explained(where, lambda: spec.loader.exec_module(module))  # type: ignore[union-attr]
    finally:
        sys.path.pop(0)
    LOADED.update(dict.fromkeys(_known() - before, str(path.resolve())))
    _note_file(str(path.resolve()), path)


def _note_file(where: str, file: str | Path | None) -> None:
    try:
        if file is not None:
            FILES[where] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:  # gone since it was run
        return


def load_as_elsewhere(name: str, where: str | None) -> None:
    """Load a structure that another process knows, unless this one does.

    Parameters
    ----------
    name
        Of the structure or the network.
    where
        What `LOADED` says of it there; ``None`` if it is ours, or of an installed package.
    """
    if name in _known():
        return
    if name.startswith(TIMM):
        load_timm(name)
    elif where is None:
        load_installed()
    else:
        load_structures(where)


def load_timm(name: str) -> None:
    """Put a layer or an encoder of timm into the registry, unless its name is that of neither.

    Parameters
    ----------
    name
        Such as ``timm:resnet18``; any other name is left alone.
    """
    if name.startswith(TIMM):
        importlib.import_module(_TIMM_NAMES).register_timm(name)


def _known() -> set[str]:
    return {*STRUCTURES, *NETWORKS}


def load_installed() -> list[str]:
    """Load the structures of installed packages; return what went wrong, a sentence each."""
    wrong = []
    for point in entry_points(group=GROUP):
        try:
            _explained(f"{point.name} ({point.value})", point.load)
        except SynthprobeError as error:
            wrong.append(str(error))
    return wrong


def _explained(what: str, load: Callable[[], object]) -> None:
    """Say in one sentence where the code of somebody else went wrong."""
    try:
        load()
    except SynthprobeError as error:
        raise SynthprobeError(f"{what} could not be loaded: {error}") from error
    except Exception as error:
        raise SynthprobeError(f"{what} could not be loaded: {describe_error(error)}.") from error


def describe_error(error: Exception) -> str:
    """What an exception says, and the line where it was raised."""
    where = traceback.extract_tb(error.__traceback__)
    line = f" in line {where[-1].lineno} of {where[-1].filename}" if where else ""
    said = str(error).split("\n")[0]
    return f"{type(error).__name__}{f' ({said})' if said else ''}{line}"
