"""Reading a list of colours from a text file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.text import printable

_MOST_BYTES: Final = 65_536
_COMMENT: Final = "//"


def read_colors(path: Path) -> list[list[int]]:
    """The colours of a text file, one in each line: ``#ff8000``, or ``255 128 0``.

    Blank lines do not count, nor what follows ``//``. `SynthprobeError` names the first line that
    is no colour.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SynthprobeError(
            f"palette is {printable(str(path))!r}, which is neither hues nor random, nor a file "
            f"that can be read ({error.strerror})."
        ) from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if len(raw) > _MOST_BYTES or "\0" in text:
        raise SynthprobeError(f"{printable(str(path))} is not a text file with a colour a line.")
    colors = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(_COMMENT)[0].strip()
        if not words:
            continue
        color = _color(words)
        if color is None:
            raise SynthprobeError(
                f"{printable(str(path))}: line {number} is {printable(words[:40])!r}, which is no "
                "colour: write #ff8000, or 255 128 0."
            )
        colors.append(color)
    return colors


def _color(words: str) -> list[int] | None:
    if re.fullmatch("#[0-9a-fA-F]{6}", words):
        return list(bytes.fromhex(words[1:]))
    numbers = re.split(r"[\s,]+", words)
    if len(numbers) != 3 or not all(re.fullmatch("[0-9]{1,3}", n) for n in numbers):
        return None
    color = [int(n) for n in numbers]
    return color if max(color) <= 255 else None
