"""What a structure is made of, as hashes.

`structure_hash` is of its source, of what that imports nearby and of its parameters. Comments,
docstrings and blank lines do not count. Modules of other packages do not, either: what is hashed is
what somebody edits between two runs. `file_hash` is of all bytes of one file, as other programs
compute it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import marshal
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import resolve_name
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from synthprobe_models.networks.counting import build_bare
from synthprobe_models.plugins import FILES, LOADED
from synthprobe_models.probes import PROBES, fitting
from synthprobe_models.registry import NETWORKS, STRUCTURES, Network, Structure

_OURS: Final = ("synthprobe_models.layers", "synthprobe_models.networks")
"""The packages of ours that structures and networks are made of."""
_INSTALLED: Final = {"site-packages", "dist-packages"}
_POSITIONS: Final = {1: (128,), 2: (28, 28)}
"""By the number of axes: enough to build a structure, few enough to do so with values."""
_SPACING: Final = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
_KNOWN: dict[str, tuple[Structure | Network, str]] = {}
"""By name: what was hashed, and its hash when that was asked first.

A file may be edited while its structure is trained; what is trained is what was loaded.
"""


@dataclass(frozen=True)
class _Source:
    """A module, or a file that was loaded as one."""

    label: str
    """The name of the module; of a file, its name without the folder."""
    path: Path


def structure_hash(name: str) -> str:
    """A hash of a structure's or network's source and of the names and shapes of its parameters.

    Parameters
    ----------
    name
        Of the registry.
    """
    entry = STRUCTURES[name] if name in STRUCTURES else NETWORKS[name]
    known = _KNOWN.get(name)
    if known is None or known[0] is not entry:
        sources = _sources_of(name, entry.build)
        content = {
            "name": name,
            "source": _texts(sources) if sources else _compiled(entry.build),
            "parameters": _parameters(name),
        }
        known = _KNOWN[name] = entry, _digest(content)
    return known[1]


def file_hash(name: str) -> str | None:
    """The SHA-256 of the file that a structure or network is defined in, if there is one.

    Parameters
    ----------
    name
        Of the registry.
    """
    loaded = LOADED.get(name)
    if loaded in FILES:
        return FILES[loaded]
    entry = STRUCTURES.get(name) or NETWORKS.get(name)
    sources = [] if entry is None else _sources_of(name, entry.build)
    return _bytes_hash(sources[0].path) if sources else None


@cache
def _bytes_hash(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # gone since it was loaded
        return None


@cache
def frame_hash(probe: str, frame: str | None = None) -> str:
    """A hash of the source of the network that a probe puts structures into.

    Parameters
    ----------
    probe
        Its name.
    frame
        Which of its frames; its own by default.
    """
    build = PROBES[probe].frames.get(frame or "", PROBES[probe].build)
    return _digest(_texts([_module_source(_unwrapped(build).__module__)]))


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _unwrapped(build: Any) -> Any:
    while isinstance(build, partial):
        build = build.func
    return build


def _sources_of(name: str, build: Callable[..., Any]) -> list[_Source]:
    """Where a structure is defined: the file that was loaded, and the module of its class."""
    found: list[_Source | None] = []
    loaded = LOADED.get(name, "")
    if loaded.endswith(".py") and Path(loaded).is_file():
        found.append(_Source(Path(loaded).name, Path(loaded)))
    made = _unwrapped(build)
    module = sys.modules.get(getattr(made, "__module__", None) or "")
    # A file that was loaded is no module of `sys.modules`, where another one may have its name.
    if module is not None and getattr(module, getattr(made, "__name__", ""), None) is made:
        found.append(_module_source(module.__name__))
    return [source for source in found if source is not None]


def _module_source(name: str) -> _Source | None:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not file.endswith(".py") or not Path(file).is_file():
        return None
    return _Source(name, Path(file))


def _texts(roots: Iterable[_Source | None]) -> dict[str, str]:
    """By the names of modules: what they and the modules nearby that they import say."""
    texts: dict[str, str] = {}
    waiting = [root for root in roots if root is not None]
    folders = {_home(root) for root in waiting}
    while waiting:
        source = waiting.pop()
        if source.label in texts:
            continue
        text = _read(source.path)
        texts[source.label] = code_of(text)
        for name in _imports(text, source.label):
            module = _module_source(name)
            if module is not None and _is_near(module, folders):
                waiting.append(module)
    return texts


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # gone since it was loaded
        return ""


def _home(source: _Source) -> Path:
    """The folder of the package that a module is of; of a single file, its own."""
    package = source.label.partition(".")[0]
    top = getattr(sys.modules.get(package), "__file__", None)
    inside = top is not None and Path(top).name == "__init__.py"
    return (Path(top).parent if inside and top is not None else source.path.parent).resolve()


def _is_near(module: _Source, folders: Iterable[Path]) -> bool:
    if module.label.startswith("synthprobe_"):
        return module.label.startswith(tuple(f"{package}." for package in _OURS))
    path = module.path.resolve()
    return any(
        path.is_relative_to(folder) and not _INSTALLED & set(path.relative_to(folder).parts)
        for folder in folders
    )


def _imports(text: str, importer: str) -> Iterator[str]:
    """The modules that a module imports, as far as they are there."""
    module = sys.modules.get(importer)
    package = getattr(module, "__package__", None) or ""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # edited since it was loaded, and not whole
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            try:
                whole = resolve_name(start, package)
            except ImportError:  # a relative import of what is in no package
                continue
            for alias in node.names:
                part = f"{whole}.{alias.name}"
                # A module of a package is not all that the package imports.
                yield part if isinstance(sys.modules.get(part), ModuleType) else whole


def code_of(text: str) -> str:
    """A source without its comments, docstrings and blank lines.

    Parameters
    ----------
    text
        The source.
    """
    lines = text.splitlines(keepends=True)
    before = tokenize.ENCODING
    held: tokenize.TokenInfo | None = None
    left_out: list[tuple[tuple[int, int], tuple[int, int]]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                left_out.append((token.start, token.end))
            if token.type in (tokenize.COMMENT, tokenize.NL):
                continue
            if held is not None and token.type == tokenize.NEWLINE:
                left_out.append((held.start, held.end))  # a text that is a statement by itself
            alone = token.type == tokenize.STRING and before in _SPACING
            held, before = (token if alone else None), token.type
    except (tokenize.TokenError, SyntaxError):
        return text
    for (first, begin), (last, end) in reversed(sorted(left_out)):
        kept = lines[first - 1][:begin] + lines[last - 1][end:]
        lines[first - 1 : last] = [kept] + [""] * (last - first)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _compiled(build: Callable[..., Any]) -> str:
    """The compiled code of what has no source, such as a class made in a session."""
    made = _unwrapped(build)
    parts: list[Any] = [made]
    if isinstance(made, type):
        bases = [base for base in made.__mro__ if base.__module__.partition(".")[0] != "torch"]
        parts = [part for base in bases for part in vars(base).values()]
    codes = [marshal.dumps(part.__code__) for part in parts if isinstance(part, FunctionType)]
    return hashlib.sha256(b"".join(codes)).hexdigest()


def _parameters(name: str) -> list[Any]:
    """Names and shapes of parameters and buffers, in the first probe that it fits."""
    probes = fitting(name)
    if not probes:
        return []
    probe = PROBES[probes[0]]

    def build() -> Any:
        if name in NETWORKS:
            return probe.make(name)
        return STRUCTURES[name].make(probe.width, _POSITIONS[len(probe.shape)], probe.name)

    try:
        state = build_bare(build).state_dict()
        return [[key, list(value.shape)] for key, value in state.items()]
    except Exception as error:  # whatever the code of somebody else does
        return [type(error).__name__]
