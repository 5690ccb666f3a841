"""Numbers of things, in words, and words in the names of files."""

from __future__ import annotations

import re


def counted(number: int, thing: str) -> str:
    """So many of a thing: ``1 sample``, ``2 samples``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def file_name(split: str) -> str:
    """A split, as part of the name of a file.

    Its own name may come from a stranger, and must not lead elsewhere.
    """
    return re.sub(r"[^\w.-]", "_", split)[:40]
