"""What the HDF5 library says about a broken file, in words for people."""

from __future__ import annotations

from typing import Final

from synthprobe_data.text import printable

_REASONS: Final = {
    "file signature not found": "it is not an HDF5 file",
    "truncated file": "it is truncated, as after a copy or a download that was cut off",
}
"""What it says of the commonest mistakes."""


def reason_of(said: str) -> str:
    """The first line of what it said, or better words for the same."""
    said = said.split("\n")[0]
    # It may name what is in the file.
    return next((ours for words, ours in _REASONS.items() if words in said), printable(said))
