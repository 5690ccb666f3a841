"""How much a command says beside its result: the notes on the error output.

This module needs only the standard library, as commands import it before anything else.
"""

from __future__ import annotations

import sys
from typing import Final

QUIET: Final = -1
USUAL: Final = 0
VERBOSE: Final = 1

_level = USUAL


def set_level(level: int) -> None:
    """Set how much this process says.

    Parameters
    ----------
    level
        `QUIET`, `USUAL` or `VERBOSE`.
    """
    global _level
    _level = level


def is_quiet() -> bool:
    """Whether only errors and results are to be said."""
    return _level <= QUIET


def is_verbose() -> bool:
    """Whether more than usual is to be said."""
    return _level >= VERBOSE


def note(sentence: str) -> None:
    """Say a line on the error output, beside the bars if there are any, unless it is to be quiet.

    Parameters
    ----------
    sentence
        One line.
    """
    if is_quiet() or sys.stderr is None:
        return
    from tqdm import tqdm  # which knows where a bar is being shown

    tqdm.write(sentence, file=sys.stderr)
    sys.stderr.flush()
