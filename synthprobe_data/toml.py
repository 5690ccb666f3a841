"""Settings as TOML, read and written: what a colleague is given to do the same."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_data.errors import SynthprobeError

_MOST_BYTES: Final = 1_000_000
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: str | Path) -> dict[str, Any]:
    """The table in a TOML file.

    Parameters
    ----------
    path
        Of the file.

    Returns
    -------
    dict
        What it says; `SynthprobeError` if it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SynthprobeError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > _MOST_BYTES:
        raise SynthprobeError(
            f"{path} has more than {_MOST_BYTES} bytes: it is no file of settings."
        )
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SynthprobeError(f"{path} is not TOML: {str(error).splitlines()[0]}.") from None


def toml_text(table: Mapping[str, Any], *, comment: str = "") -> str:
    """A table as TOML, which `read_toml` reads back.

    Values that are None are left out, as TOML has none.

    Parameters
    ----------
    table
        Plain values, sequences of them, and tables by name.
    comment
        Lines to begin with.

    Returns
    -------
    str
        The text, with tables after the values.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += _lines(table, ())
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    lines = [] if not names else ["", f"[{'.'.join(map(_key, names))}]"]
    tables = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            tables[name] = value
        elif value is not None:
            lines.append(f"{_key(name)} = {_value(value)}")
    for name, inner in tables.items():
        lines += _lines(inner, (*names, name))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    # What JSON escapes TOML escapes alike, but for DEL, which only TOML does.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        inner = (f"{_key(name)} = {_value(one)}" for name, one in value.items() if one is not None)
        return f"{{ {', '.join(inner)} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(one) for one in value)}]"
    raise SynthprobeError(f"{value!r} cannot be written as TOML.")
