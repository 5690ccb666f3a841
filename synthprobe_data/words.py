"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """So many of a thing: ``1 sample``, ``2 samples``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
