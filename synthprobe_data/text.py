"""Texts for people: numbers of things, names of files, and what a file says, fit to be shown.

Whoever made a file chose the names of its splits and other texts in it. On a terminal, control
characters in them could hide lines or forge others, and marks of the writing direction turn them
round.
"""

from __future__ import annotations

import re


def counted(number: int, thing: str) -> str:
    """So many of a thing: ``1 sample``, ``2 samples``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def file_name(split: str) -> str:
    """A split, as part of the name of a file.

    Its own name may come from an untrusted file, and must not lead elsewhere.
    """
    return re.sub(r"[^\w.-]", "_", split)[:40]


def printable(text: str) -> str:
    r"""The text with an escape such as ``\x1b`` for all that is not shown as itself.

    That is what Python calls not printable: control characters, line breaks, marks of the writing
    direction, signs without width, lone surrogates. What can be seen stays, in any script.
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def is_utf_8(text: str) -> bool:
    """Whether a text has only characters; other bytes of the command line are lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
