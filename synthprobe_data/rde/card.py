"""The card of Rectangle Depth Estimation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block, CardText
from synthprobe_data.pictures import tiled
from synthprobe_data.rde.acceptance import draws_tally
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.counts import counts_sentence, scene_counts
from synthprobe_data.rde.kernels.difficulty import COLUMNS, are_scenes, difficulty_block
from synthprobe_data.rde.neutrality import Neutrality
from synthprobe_data.rde.readable import can_be_read
from synthprobe_data.tally import Tally, count, histogram, iter_blocks

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

_CUES: Final = {1: "T-junction only", 2: "convexity only", 3: "both"}
"""The values of `above`, by which a pair of rectangles is ordered."""

_CERTIFIED: Final = """\
Every scene passed the certificate when it was drawn; one that fails is drawn again.

- **Readable**: the label map alone, without the rectangles, gives the same ranks.
- **Decided**: of any two rectangles that touch, one is above the other, directly or through others.
- **Stable**: no rectangle can be moved by one pixel so that a rank changes."""

_UNREADABLE: Final = """\
All of this holds for the label map, but **not for the picture**: rounded to bytes, so wide a \
blur may hide what was painted. New samples of these settings would not be called certified."""

_RULES: Final = """\
Every scene keeps the placement rules of the paper (`n_vis`, `n_gap`, `n_par`, `min_size`). It is \
**not certified**: in some scenes the picture may leave a rank open. The mode `certified` keeps \
those out."""

_AMBIGUOUS: Final = """\
None: the rules against ambiguity were **switched off on purpose**. Where the picture does not \
tell a rank, a network can only guess it. Use it beside a dataset made with the rules, to see what \
they change."""


def _checks(config: RdeConfig) -> str:
    if config.mode == "certified" and not can_be_read(config):
        return f"{_CERTIFIED}\n\n{_UNREADABLE}"
    return {"certified": _CERTIFIED, "rules": _RULES, "ambiguous": _AMBIGUOUS}[config.mode]


def rde_figures(data: OpenDataset) -> tuple[Tally, ...]:
    """Ranks, depths and numbers of rectangles, the cues that decide the pairs, and difficulty."""
    settings = data.config.to_dict()
    depths, ranks, numbers, cues, convexity_only, pieces, distances = (
        {split: Counter[int]() for split in data.splits} for _ in range(7)
    )
    stored = COLUMNS if settings["difficulty"] else ("rectangles",)
    neutrality = Neutrality(data, height=settings["height"], width=settings["width"])
    for split, block in iter_blocks(
        data, tuple(dict.fromkeys((*neutrality.columns, "rectangle_rank", *stored)))
    ):
        neutrality.add(split, block)
        if not settings["difficulty"]:
            block |= _difficulty(block, settings["height"], settings["width"])
        rank, shown = block["rectangle_rank"], block["pieces"]
        count(depths[split], rank.max(axis=1))
        count(ranks[split], rank[rank > 0])  # without unused places
        count(numbers[split], block["n_rectangles"])
        count(cues[split], block["above"])
        count(convexity_only[split], block["convexity_only"])
        count(pieces[split], shown[shown > 0])
        count(distances[split], block["cue_distance"])
    return (
        histogram("How deep the scenes are", "highest rank", "scenes", depths),
        histogram(
            "Ranks",
            "rank",
            "rectangles",
            ranks,
            "Ranks are not equally frequent: compare a score with that of a constant answer.",
        ),
        histogram(
            "Rectangles in a scene",
            "rectangles",
            "scenes",
            numbers,
            _counted(numbers, depths, settings["n_rectangles"], settings.get("min_rectangles")),
        ),
        Tally(
            title="What orders two rectangles",
            value="cue",
            of="directly ordered pairs",
            counts={
                split: {cue: found[bits] for bits, cue in _CUES.items()}
                for split, found in cues.items()
            },
        ),
        histogram("Pairs that only convexity orders", "pairs", "scenes", convexity_only),
        histogram("Pieces in which a rectangle shows", "pieces", "rectangles", pieces),
        histogram(
            "How far a cue must reach",
            "pixels",
            "scenes",
            distances,
            "The longest way in a scene from a visible pixel to the nearest cue of its rectangle: "
            "a network that sees fewer pixels in each direction sees, from there, no cue of that "
            "rectangle at all.",
            lines=12,
        ),
        neutrality.tally(),
        *filter(None, (draws_tally(data),)),
    )


def _counted(
    numbers: Mapping[str, Counter[int]],
    depths: Mapping[str, Counter[int]],
    asked: int,
    asked_least: int | None,
) -> str:
    """How many rectangles scenes have, and how many have an order, over all splits."""
    counts = scene_counts(
        sum(numbers.values(), Counter[int]()),
        sum(depths.values(), Counter[int]()),
        asked,
        asked_least,
    )
    return "" if counts is None else f"The scenes have {counts_sentence(**counts)}."


def _difficulty(block: Block, height: int, width: int) -> Block:
    """The difficulty of those samples that are scenes."""
    rectangles, numbers = block["rectangles"], block["n_rectangles"]
    scenes = are_scenes(rectangles, numbers)
    return difficulty_block(rectangles[scenes], numbers[scenes], height=height, width=width)


def _picture(block: Block) -> NDArray[np.uint8]:
    """The pictures; the ranks in grey, the highest of all samples in white."""
    rank = block["rank"]
    grey = (rank.astype(np.uint16) * 255 // max(1, int(rank.max()))).astype(np.uint8)
    return tiled([block["image"], grey])


CARD: Final = CardText(
    summary=(
        "Pictures of overlapping rectangles. The task is to give every pixel the depth rank of "
        "the rectangle that it shows. T-junctions and convexity decide which rectangle is above "
        "which, and both reach across the whole picture."
    ),
    good_for=(
        "To ask whether a neural structure can link local cues to distant inferences: where two "
        "sides meet in one corner of the picture may decide a rank in another.",
        "To compare structures. As every cue is known, a failure points at a missing ability and "
        "not at the data.",
        "To find out where a network fails: `above` says of each pair of rectangles which cue "
        "orders it, and `rectangles` where they are, hidden parts included.",
    ),
    not_for=(
        "Depth in photographs. Nothing here looks like one, and a rank is a place in an order, "
        "not a distance.",
        "Claims about other abilities: to solve this task shows the one that it asks for. Unless "
        "`palette` is random, all pictures share one palette, so a network may know the colours "
        "by heart; and the splits "
        "are drawn alike, so the test split asks for no other sizes or numbers of rectangles.",
        "A proof of reach. Sizes tell something of the order, too: a small rectangle beneath a "
        "large one is hidden and so rarely drawn. Of 41,415 pairs that a cue orders, in the first "
        "3,000 test samples of the canonical settings, the upper one is the smaller one in 65.3%. "
        "The dataset `twins` is free of this.",
        "Networks that see more than `image`. `label` counts the rectangles in the order of their "
        "placement and so gives the depth away, as do `rectangles`, `rectangle_rank` and `above`.",
    ),
    task_categories=("depth-estimation",),
    tags=("synthetic", "depth-ordering", "occlusion", "t-junctions", "convexity", "hdf5"),
    attributes=(
        "`palette` (the RGB of each colour; not where each picture draws its own) and "
        "`normalisation` (how networks see a rank: "
        "`(rank + offset) / divisor`, above 0 and at most 1)"
    ),
    settings={
        "mode": "certified, or by the rules of the paper alone, or ambiguous",
        "difficulty": "whether the files also say how hard each sample is",
        "require_order": "whether scenes were drawn again until two ranks occurred",
    },
    checks=_checks,
    figures=rde_figures,
    picture=_picture,
    picture_shows="the pictures above, the ranks to find below (black is the background)",
    picture_samples=8,
    picture_columns=("image", "rank"),
    h5py_items="""\
inputs = file["image"][start:stop]
targets = file["rank"][start:stop]""",
    sample_item='input, target = sample["image"], sample["rank"]',
    torch_item="""\
input = torch.from_numpy(file["image"][row]).permute(2, 0, 1) / 255
scale = json.loads(file.attrs["normalisation"])["rank"]
target = (torch.from_numpy(file["rank"][row]) + scale["offset"]) / scale["divisor"]""",
)
