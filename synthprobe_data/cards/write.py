"""Writing the cards of a dataset beside it."""

from __future__ import annotations

import json
from pathlib import Path

from synthprobe_data.cards.card import render_card
from synthprobe_data.cards.croissant import render_croissant
from synthprobe_data.cards.facts import collect_facts
from synthprobe_data.cards.figures import collect_figures
from synthprobe_data.cards.ours import our_cards
from synthprobe_data.cards.paths import card_paths
from synthprobe_data.cards.picture import draw_picture
from synthprobe_data.shards.opened import open_dataset
from synthprobe_data.shards.writer import at_end_of_links, check_target, write_bytes


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
    facts = collect_facts(
        path,
        command=command,
        seconds=seconds,
        workers=workers,
        made=made,
        regenerated=regenerated,
    )
    with open_dataset(path) as data:
        picture = draw_picture(data)
        card = render_card(facts, collect_figures(data))
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
        write_cards(real, command=command, seconds=seconds, workers=workers, keep=True)
    return targets
