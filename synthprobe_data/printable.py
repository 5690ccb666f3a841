"""Texts from a file, made fit to be shown.

A stranger chooses the names of splits and other texts in a file. On a terminal, control characters
in them could hide lines or forge others, and marks of the writing direction turn them round.
"""

from __future__ import annotations


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
