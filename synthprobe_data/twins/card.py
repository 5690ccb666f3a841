"""The card of twins."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block, CardText
from synthprobe_data.pictures import tiled
from synthprobe_data.rde.card import CARD as RDE_CARD
from synthprobe_data.rde.demands import demand_words, demanded
from synthprobe_data.rde.neutrality import Neutrality
from synthprobe_data.tally import Tally, count, histogram, iter_blocks
from synthprobe_data.twins.config import TWINS_OF_A_PAIR, TwinsConfig
from synthprobe_data.twins.draw import EASY, FIXED, KEPT, NEAR, SINGLE
from synthprobe_data.twins.generate import count_draws

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

_PAIR: Final = """\
Of every pair:

- The two samples differ in the painting order of the rectangles in `pair`, and in what follows \
from it. Rectangles and colours are the same.
- A cue orders the two rectangles in both samples, and oppositely.
- `distance` is measured on the two pictures, byte by byte; some pixel of {where} counts at a \
distance of {least} or more."""

_CERTIFIED: Final = """\
Both scenes of every pair passed the rules of RDE and its certificate when they were drawn: they \
are readable, decided and stable."""

_RULES: Final = """\
Both scenes of every pair keep the placement rules of RDE. They are **not certified**: in some \
the picture may leave a rank open."""

_AMBIGUOUS: Final = """\
The rules of RDE against ambiguity were **switched off on purpose**: the picture may not tell a \
rank. What a pair is holds all the same."""


def _checks(config: TwinsConfig) -> str:
    scenes = {"certified": _CERTIFIED, "rules": _RULES, "ambiguous": _AMBIGUOUS}[config.mode]
    where = "the picture" if config.bands == 1 else "each band, if its pair is exchanged,"
    return f"{scenes}\n\n{_PAIR.format(where=where, least=config.min_distance)}"


_PAIRS_COUNTED: Final = 64
_MOST_DRAWS: Final = 2000


def _draws(data: OpenDataset) -> Tally | None:
    """What became of the scenes of the first pairs, drawn again; ``None`` without demands."""
    config: Any = data.config
    if not demanded(config):
        return None
    verdicts = {
        "kept": KEPT,
        "not as hard as demanded": EASY,
        "without a pair that can be exchanged": FIXED,
        "of one rectangle": SINGLE,
        "with counted pixels that are too near": NEAR,
    }
    counts = {}
    for split, size in data.splits.items():
        pairs = min(_PAIRS_COUNTED, size // TWINS_OF_A_PAIR)
        tally = count_draws(config, data.seed, split, pairs, _MOST_DRAWS)
        counts[split] = {name: int(tally[place]) for name, place in verdicts.items()}
    note = (
        f"A scene in which one of the twins does not meet {demand_words(config)} is drawn again. "
        f"The share of those that are kept is the acceptance rate. Counted on the scenes of the "
        f"first {_PAIRS_COUNTED} pairs of each split, drawn again, as long as none needs more than "
        f"{_MOST_DRAWS:,} of them."
    )
    return Tally(
        title="Scenes that were drawn", value="the scene was", of="scenes", counts=counts, note=note
    )


def twins_figures(data: OpenDataset) -> tuple[Tally, ...]:
    """How far pixels count, how far a pair asks for at most, and the prior that is gone."""
    config: Any = data.config
    pixels, farthest, ranks = ({split: Counter[int]() for split in data.splits} for _ in range(3))
    neutrality = Neutrality(data, height=config.picture_height, width=config.width, twins=True)
    for split, block in iter_blocks(data, ("distance", "rank", *neutrality.columns)):
        neutrality.add(split, block)
        distance = block["distance"]
        counted = distance > 0
        count(pixels[split], distance[counted])
        count(farthest[split], distance.reshape(len(distance), -1).max(axis=1))
        count(ranks[split], block["rank"][counted])
    return (
        histogram(
            "How far pixels are from what tells their rank",
            "information distance",
            "counted pixels",
            pixels,
            "A network that sees fewer pixels in each direction than this is right in exactly "
            "half of these pixels.",
            lines=16,
        ),
        histogram(
            "The farthest pixel of a sample",
            "information distance",
            "samples",
            farthest,
            lines=16,
        ),
        histogram(
            "Ranks of the pixels that count",
            "rank",
            "counted pixels",
            ranks,
            "Each such pixel occurs in both twins with two different ranks, so no answer that is "
            "the same in both is right more than half of the time.",
        ),
        neutrality.tally(),
        *filter(None, (_draws(data),)),
    )


def _picture(block: Block) -> NDArray[np.uint8]:
    """The pictures; the ranks in grey; the distances in grey, the farthest of all in white."""
    shown = [block["image"]]
    for name in ("rank", "distance"):
        values = block[name].astype(np.uint32)
        shown.append((values * 255 // max(1, int(values.max()))).astype(np.uint8))
    return tiled(shown)


CARD: Final = CardText(
    summary=(
        "Pairs of scenes of overlapping rectangles. Rows 2 i and 2 i + 1 are twins: the same "
        "rectangles in the same colours, two of them painted in the other order. The task is to "
        "give every pixel the depth rank of the rectangle that it shows. Far from where the two "
        "rectangles cross, both pictures are the same to the byte, and the ranks differ."
    ),
    good_for=(
        "To prove how far a network reaches. `distance` says of a pixel how far it is from the "
        "nearest pixel in which the twins differ. A predictor that sees only pixels nearer than "
        "that gives both twins the same answer there, so it is right in exactly one of the two: "
        "50%, whatever it has learnt about sizes, positions and colours. More than 50% at a "
        "distance is a proof of reach.",
        "To compare structures by one curve, accuracy by distance: its near end says whether the "
        "cue was learnt at all, its far end how far it is carried.",
        "To ask for more than one summary of a picture: with several `bands`, each has a pair of "
        "its own.",
    ),
    not_for=(
        "Scores over all pixels. Count the pixels with a `distance` above 0, in both twins; only "
        "for these, and only over whole pairs, does the 50% hold.",
        "Splitting at any row. Keep rows 2 i and 2 i + 1 together: of one twin alone, half right "
        "is only what is to be expected, not what must be.",
        "Claims about samples that were never seen: strips of the default size are so small that "
        "about one pair in a hundred occurs twice, also across splits. To know a pair by heart "
        "does not help a predictor that cannot see where its twins differ.",
        "Networks that see more than `image`. `label`, `rectangles`, `rectangle_rank`, `above` "
        "and `pair` give the order away.",
    ),
    task_categories=("depth-estimation",),
    tags=("synthetic", "depth-ordering", "occlusion", "t-junctions", "receptive-field", "hdf5"),
    attributes=RDE_CARD.attributes,
    settings=RDE_CARD.settings,
    checks=_checks,
    figures=twins_figures,
    picture=_picture,
    picture_shows=(
        "twins side by side, the pictures above, then the ranks to find, then the distances "
        "(white is the farthest)"
    ),
    picture_samples=8,
    picture_columns=("image", "rank", "distance"),
    h5py_items=RDE_CARD.h5py_items,
    sample_item=RDE_CARD.sample_item,
    torch_item=RDE_CARD.torch_item,
)
