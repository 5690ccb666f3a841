"""The card of Centered Square."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square.centres import central_half, fitting
from synthprobe_data.centered_square.config import CenteredSquareConfig
from synthprobe_data.dataset import Block, CardText
from synthprobe_data.pictures import tiled
from synthprobe_data.tally import Tally, iter_blocks

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

_MOST_LINES: Final = 12


def _checks(config: CenteredSquareConfig) -> str:
    rows, columns = fitting(config.height, config.square), fitting(config.width, config.square)
    text = (
        f"The square fits around every centre: all centres are in rows {_span(rows)} and columns "
        f"{_span(columns)}. "
    )
    inner_rows, inner_columns = central_half(rows), central_half(columns)
    if inner_rows and inner_columns:
        text += (
            f"`train` has those that are in rows {_span(inner_rows)} and columns "
            f"{_span(inner_columns)}, `test` all others, so no sample is in both."
        )
    else:
        text += "That is too few for a central half, so all of them are in `test`."
    return text + " Nothing is random: the samples are the same for every seed."


def _span(places: range) -> str:
    return f"{places[0]} to {places[-1]}"


def centered_square_figures(data: OpenDataset) -> tuple[Tally, ...]:
    """How far the centres are from those of the training split."""
    config = CenteredSquareConfig.from_dict(data.config.to_dict())
    spans = [fitting(size, config.square) for size in (config.height, config.width)]
    inner = [central_half(span) for span in spans]
    farthest = max(
        max(inside.start - span.start, span.stop - inside.stop)
        for span, inside in zip(spans, inner, strict=True)
    )
    counts = {split: np.zeros(farthest + 1, np.int64) for split in data.splits}
    for split, block in iter_blocks(data, ("center",)):
        center = block["center"].astype(np.int64)
        low = np.array([inside.start for inside in inner])
        high = np.array([inside.stop - 1 for inside in inner])
        away = np.maximum(np.maximum(low - center, center - high).max(axis=1), 0)
        counts[split] += np.bincount(np.minimum(away, farthest), minlength=farthest + 1)
    step = -(-farthest // _MOST_LINES) or 1
    lines = [range(0, 1)] + [
        range(first, min(first + step, farthest + 1)) for first in range(1, farthest + 1, step)
    ]
    return (
        Tally(
            title="How far the white pixel is from the training region",
            value="pixels",
            of="samples",
            counts={
                split: {
                    f"{line[0]} to {line[-1]}" if len(line) > 1 else f"{line[0]}": int(
                        found[line.start : line.stop].sum()
                    )
                    for line in lines
                }
                for split, found in counts.items()
            },
            note="By rows or by columns, whichever is more; 0 is inside.",
        ),
    )


def _picture(block: Block) -> NDArray[np.uint8]:
    """The pictures above, the squares below."""
    return tiled([block["image"], block["target"]])


CARD: Final = CardText(
    summary=(
        "Black pictures with a single white pixel. The task is to paint a white square around it. "
        "In training the pixel is near the middle of the picture, in the test everywhere else, so "
        "only a network that does the same thing at every place succeeds."
    ),
    good_for=(
        "To ask whether a positional encoding is translation covariant: the square must follow the "
        "pixel to places at which it never was in training.",
        "To find the reach of a structure: a local window of width R can cover at most (R / w)^2 "
        "of a square of width w.",
        "To debug a structure quickly: the set is small and its answer is known to the pixel.",
    ),
    not_for=(
        "Claims about pictures in general: all pictures are alike but for the place of one pixel.",
        "Measuring generalisation of other kinds. The sizes of picture and square never change, "
        "and squares that the border would cut off do not occur.",
        "Choosing a network by its score in training: a network may learn the training places by "
        "heart.",
    ),
    task_categories=("image-segmentation",),
    tags=("synthetic", "translation-covariance", "positional-encoding", "hdf5"),
    attributes=(
        "`normalisation` (how networks see `image` and `target`: `(value + offset) / divisor`, 0 "
        "for black and 1 for white)"
    ),
    settings={},
    checks=_checks,
    figures=centered_square_figures,
    picture=_picture,
    picture_shows="the pictures above, the squares to paint below",
    picture_samples=8,
    picture_spread=True,
    picture_columns=("image", "target"),
    h5py_items="""\
inputs = file["image"][start:stop]
targets = file["target"][start:stop]""",
    sample_item='input, target = sample["image"], sample["target"]',
    torch_item="""\
input = torch.from_numpy(file["image"][row])[None] / 255
target = torch.from_numpy(file["target"][row])[None] / 255""",
)
