"""Which cards beside a dataset are synthprobe's own, and whether they are of this very dataset.

A run that is killed after it has put a new file in place of another, and before it has written the
new cards, leaves those of the file before. They may be written again; what somebody else has put
under the name of a card may not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.card_paths import CardPaths, card_paths
from synthprobe_data.verification.hashes import MAX_CROISSANT_BYTES, croissant_hashes

CREATOR: Final = "the synthprobe developers"
"""Who a Croissant file of ours says has made it."""


def our_cards(paths: CardPaths) -> set[Path]:
    """Those of the files that are there which synthprobe has written."""
    ours = set()
    if _is_our_card(paths.card):
        ours.add(paths.card)
    if _is_our_croissant(paths.croissant):
        ours.add(paths.croissant)
    if ours and paths.picture.is_file():  # it cannot say so itself, and is named by the others
        ours.add(paths.picture)
    return ours


def cards_are_right(path: Path, content_digest: str, hashes: dict[str, str]) -> bool:
    """Whether all cards are there, and those of ours describe just these files.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    content_digest
        Of all its rows.
    hashes
        The SHA-256 of each file, by its name.
    """
    paths = card_paths(path, folder=path.is_dir())
    if not all(card.is_file() for card in paths.all()):
        return False
    ours = our_cards(paths)
    if paths.card in ours and content_digest.encode() not in paths.card.read_bytes():
        return False
    if paths.croissant not in ours:
        return True
    try:
        stated = croissant_hashes(paths.croissant)
    except SynthprobeError:
        return False
    return stated == hashes


def _is_our_card(card: Path) -> bool:
    text = _read(card)
    return text.startswith(b"---\n") and b"Content digest" in text and b"synthprobe" in text


def _is_our_croissant(croissant: Path) -> bool:
    try:
        return bool(json.loads(_read(croissant))["creator"]["name"] == CREATOR)
    except (ValueError, RecursionError, TypeError, KeyError):
        return False


def _read(path: Path) -> bytes:
    try:
        if not path.is_file() or path.stat().st_size > MAX_CROISSANT_BYTES:
            return b""
        return path.read_bytes()
    except OSError:
        return b""
