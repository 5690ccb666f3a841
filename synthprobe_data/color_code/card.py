"""The card of Color Code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.color_code.ceiling import ceiling
from synthprobe_data.color_code.config import PAPER, ColorCodeConfig
from synthprobe_data.color_code.preview import strips
from synthprobe_data.dataset import Block, CardText
from synthprobe_data.tally import Tally, count, histogram, iter_blocks

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

_GAP: Final = 16

_WELL_POSED: Final = """\
Every sample is well-posed:

- **Decided**: every colour that occurs is revealed at least once, so any masked code can be found.
- **Distinct**: any two colours of a sample differ by {distance} of 255 or more in red, green or \
blue.
- **Different**: no two samples are equal. A run of so many that two might be, with a chance of \
more than one in a million, is refused.

**The ceiling is 100%.** A plain reference solver, `synthprobe_data.color_code.reference.solve`, \
copies the code of a revealed position of the same colour and so finds every masked code; the \
figures above count where one can.

The same settings in the mode `paper` have a ceiling of {paper:.3%}, where a masked code counts as \
right when all of its bits are. There, the colour of a masked position is revealed nowhere with \
probability {nowhere:.3%}, and one of {codes} codes can only be guessed."""

_PAPER: Final = """\
None beyond the format: colours, codes, positions and mask are independent and uniform, as \
published. So **not every masked code can be found**.

**The ceiling is {paper:.3%}**, where a masked code counts as right when all of its bits are: the \
colour of a masked position is revealed nowhere with probability {nowhere:.3%}, and one of \
{codes} codes can only be guessed. (For the mean over samples of the accuracy of each it is \
{samples:.3%}.) No network can be expected to do better. The mode `well-posed` has a ceiling of \
100%."""

_PUBLISHED: Final = """

With these settings, the paper reports 99.87% for its Transformer: all that the published task \
allows."""


def _checks(config: ColorCodeConfig) -> str:
    paper = ColorCodeConfig(**{**config.to_dict(), "mode": "paper"})
    share = ceiling(paper)
    guess = 1 - 1 / 2**config.bits
    text = _WELL_POSED if config.mode == "well-posed" else _PAPER
    if ceiling(paper) == ceiling(PAPER):
        text += _PUBLISHED
    return text.format(
        distance=config.min_distance,
        paper=float(share),
        nowhere=float(1 - share) / guess,
        codes=2**config.bits,
        samples=float(ceiling(paper, over="samples")),
    )


def color_code_figures(data: OpenDataset) -> tuple[Tally, ...]:
    """What is asked, what can be found, and how many colours occur."""
    colors = data.config.to_dict()["colors"]
    positions = {split: np.zeros(3, np.int64) for split in data.splits}
    occurring = {split: Counter[int]() for split in data.splits}
    for split, block in iter_blocks(data, ("group", "revealed")):
        usable = (block["group"] < colors).all(axis=1)  # an untrusted file may have others
        group, revealed = block["group"][usable].astype(np.int64), block["revealed"][usable] == 1
        # One place for each sample and each of its colours.
        place = group + colors * np.arange(len(group))[:, None]
        size = colors * len(group)
        shown = np.bincount(place[revealed], minlength=size) > 0
        found = shown[place]
        positions[split] += [
            np.sum(revealed),
            np.sum(~revealed & found),
            np.sum(~revealed & ~found),
        ]
        occurs = np.bincount(place.ravel(), minlength=size).reshape(len(group), colors) > 0
        count(occurring[split], occurs.sum(axis=1))
    names = ("revealed", "masked, colour revealed elsewhere", "masked, colour revealed nowhere")
    return (
        Tally(
            title="What can be found",
            value="position",
            of="positions",
            counts={
                split: dict(zip(names, counts.tolist(), strict=True))
                for split, counts in positions.items()
            },
            note="A solver that copies the code of a revealed position of the same colour is right "
            "at all masked positions but those of the last line.",
        ),
        histogram("Colours that occur in a sample", "colours", "samples", occurring),
    )


def _picture(block: Block) -> NDArray[np.uint8]:
    """The samples below one another, each as strips."""
    samples = [
        strips({name: column[i] for name, column in block.items()})
        for i in range(len(block["color"]))
    ]
    white = np.full((_GAP, samples[0].shape[1], 3), 255, np.uint8)
    sheet = np.concatenate([white, *(part for sample in samples for part in (sample, white))])
    return np.pad(sheet, ((0, 0), (_GAP, _GAP), (0, 0)), constant_values=255)


CARD: Final = CardText(
    summary=(
        "Sequences of coloured positions. Every colour has a code of a few bits, which the input "
        "shows at some positions and masks at the others. The task is to give every position the "
        "code of its colour: to find where it is revealed, and to pass it on."
    ),
    good_for=(
        "To ask whether a structure can look up by content: colours and codes change with every "
        "sample, so nothing can be learnt by heart, and the order of the positions tells nothing.",
        "To compare attention with what is meant to replace it.",
        "To see how far a structure is from what is possible: the greatest accuracy that any "
        "solver can reach is known exactly.",
    ),
    not_for=(
        "Claims about colours in photographs: a colour is three independent numbers here.",
        "Positional encodings: no answer depends on where a position is.",
        "Networks that see more than `color`, `revealed` and the revealed part of `code`. `code` "
        "is the answer, and `group` gives away which positions belong together.",
    ),
    task_categories=("other",),
    tags=("synthetic", "associative-recall", "self-attention", "hdf5"),
    attributes=(
        "`normalisation` (how networks see `color` and `code`: `(value + offset) / divisor`, from "
        "-1 to 1, codes 0 where they are masked)"
    ),
    settings={"mode": "well-posed, or drawn as published"},
    checks=_checks,
    figures=color_code_figures,
    picture=_picture,
    picture_shows=(
        "the colour of each position; its code, bit by bit in white and black, where the input "
        "shows it (grey where it is masked); the code to find"
    ),
    picture_samples=4,
    picture_columns=("code", "color", "revealed"),
    h5py_items="""\
colors, revealed = file["color"][start:stop], file["revealed"][start:stop]
targets = file["code"][start:stop]
inputs = colors, revealed, targets * revealed[..., None]""",
    sample_item="""\
input = sample["color"], sample["revealed"], sample["code"] * sample["revealed"][:, None]
target = sample["code"]""",
    torch_item="""\
color, code = torch.from_numpy(file["color"][row]).T, torch.from_numpy(file["code"][row]).T
target = 2.0 * code - 1  # -1 for 0, and 0 is left for what is masked
input = torch.cat([color / 127.5 - 1, target * torch.from_numpy(file["revealed"][row])])""",
)
