"""Writing the cards of a dataset beside it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

from synthprobe_data.atomic.files import at_end_of_links, check_target, write_bytes
from synthprobe_data.cards.card import render_card
from synthprobe_data.cards.croissant import render_croissant
from synthprobe_data.cards.facts import facts_of, picture_split
from synthprobe_data.cards.ours import our_cards
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.collection import OpenDataset, open_dataset


def write_cards(
    path: str | Path,
    *,
    command: str | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    force: bool = False,
    keep: bool = False,
    made: bool = False,
    regenerated: bool = False,
    hashes: Mapping[str, str] | None = None,
) -> list[Path]:
    """Describe a file or a folder of shards: a card, a Croissant file and a picture.

    Parameters
    ----------
    path
        For a file ``rde.h5`` this writes ``rde.md``, ``rde.croissant.json`` and ``rde.png`` beside
        it; for a folder ``README.md``, ``croissant.json`` and ``samples.png`` in it.
    command
        The command that made it; paths in it are shortened to their last name.
    seconds, workers
        How long the run took on this machine, and with how many processes.
    force
        Replace existing cards.
    keep
        Leave files that somebody else has put under the name of a card, and write the others.
    made
        Whether a run made all samples just now; so it is if it took ``seconds``.
    regenerated
        Whether all samples were made again, and are those that the files state. Where neither
        holds, the card words what would follow as what the files state.
    hashes
        The SHA-256 of files that this process has just written and hashed, by name: so they are
        not hashed again.

    Returns
    -------
    list of Path
        The files that were written. Each gets its name only when it is complete.
    """
    path = Path(path)
    paths = card_paths(path, folder=path.is_dir())
    ours = our_cards(paths) if keep else set()
    targets = [card for card in paths.all() if not keep or card in ours or not card.exists()]
    for target in targets:
        check_target(target, force=force or target in ours)
    with open_dataset(path, trusted=made or seconds is not None) as data:
        facts = facts_of(
            data,
            command=command,
            seconds=seconds,
            workers=workers,
            made=made,
            regenerated=regenerated,
            hashes=hashes,
        )
        picture = draw_picture(data)
        card = render_card(facts, data.dataset.card.figures(data))
    croissant = json.dumps(render_croissant(facts), indent=2, ensure_ascii=False) + "\n"
    contents = {
        paths.picture: picture,
        paths.croissant: croissant.encode(),
        paths.card: card.encode(),
    }
    for target in targets:
        write_bytes(target, contents[target])
    real = at_end_of_links(path)
    if real != path and real.is_file() and our_cards(card_paths(real, folder=False)):
        # The file has another name, with cards of its own, which would be of the file before.
        known = {real.name: facts.files[0].sha256}
        write_cards(
            real, command=command, seconds=seconds, workers=workers, keep=True, hashes=known
        )
    return targets


def draw_picture(data: OpenDataset) -> bytes:
    """Some samples of a split, as PNG."""
    about = data.dataset.card
    split = data[picture_split(data.splits)]
    count = min(about.picture_samples, len(split))
    step = len(split) / count if about.picture_spread else 1
    block = split.read([int(i * step) for i in range(count)], about.picture_columns)
    png = io.BytesIO()
    Image.fromarray(about.picture(block)).save(png, "PNG", optimize=True)
    return png.getvalue()
