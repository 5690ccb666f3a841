"""Checking the rows of a file: derive them again from their rectangles and compare.

The datasets of a row hold the same scene many times over: as rectangles, cues, ranks, labels and
pixels. All of it follows from the rectangles and their colours, so all of it is worked out again,
by the kernels that generate, which the tests hold to `reference.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.kernel import kernel
from synthprobe_data.rde.columns import COLUMNS
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.demands import demanded, meet_demands
from synthprobe_data.rde.generate import NO_PALETTES, Prepared, Workspace, prepare
from synthprobe_data.rde.kernels.certificate import certify
from synthprobe_data.rde.kernels.cues import find_cues
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.kernels.grid import compress
from synthprobe_data.rde.kernels.place import Settings
from synthprobe_data.rde.kernels.ranks import find_ranks
from synthprobe_data.rde.kernels.render import render
from synthprobe_data.rde.legal import find_refused

_SENTENCES: Final = {
    "rectangles": "its rectangles are not at least one, inside the picture, none of them empty.",
    "unused": "a place beyond its n_rectangles is not -1 in rectangles, or not 0 elsewhere.",
    "rules": "the placement rules refuse one of its rectangles.",
    "above": "the cues in above are not those of its rectangles.",
    "rectangle_rank": "rectangle_rank is not what the cues of its rectangles give.",
    "label": "label is not its rectangles, painted in their order.",
    "rank": "rank is not what its rectangles give.",
    "color": "its colours are not all different rows of the palette.",
    "image": "image is not its rectangles in their colours, blurred, to the byte.",
    "certificate": "its scene does not have the certificate that its config states.",
}
_DIFFICULTY: Final = "its difficulty is not what its rectangles give."
_PALETTE: Final = "its colours are too near each other, or one of them is too near black."
_DEMANDS: Final = "it is not as hard as its config demands."
_ORDER: Final = "all of its rectangles have one rank, though its config requires an order."
# Bits of a mask of failed checks, in the order of the sentences.
(
    _RECTANGLES,
    _UNUSED,
    _RULES,
    _ABOVE,
    _RECTANGLE_RANK,
    _LABEL,
    _RANK,
    _COLOR,
    _IMAGE,
    _CERTIFICATE,
) = (1 << bit for bit in range(len(_SENTENCES)))


def row_checks(config: RdeConfig) -> dict[str, str]:
    """The checks of a row by name, each with the sentence for a row that fails it.

    Bit i of a mask of `check_block` is the i-th of them.
    """
    return scene_checks(
        config.mode,
        config.difficulty,
        require_order=config.require_order,
        random_palette=config.random_palette,
        demands=bool(demanded(config)),
    )


def scene_checks(
    mode: str,
    difficulty: bool,
    *,
    require_order: bool = False,
    random_palette: bool = False,
    demands: bool = False,
) -> dict[str, str]:
    """The checks of a scene by name, each with the sentence for one that fails it.

    The certificate is only asked of files that state it, the difficulty only of files that store
    it, two ranks only where they are required, distant colours only where pictures draw them, and
    a least difficulty only where one is demanded.
    """
    names = dict(_SENTENCES)
    if mode != "certified":
        del names["certificate"]
    if difficulty:
        names["difficulty"] = _DIFFICULTY
    if require_order:
        names["order"] = _ORDER
    if random_palette:
        names["palette"] = _PALETTE
    if demands:
        names["demands"] = _DEMANDS
    return names


def check_block(
    config: RdeConfig, block: Block, _places: Sequence[tuple[str, int]] = ()
) -> NDArray[np.uint32]:
    """For each row of a block, the mask of the checks that it fails; 0 when all is well.

    A row whose rectangles cannot be painted gets no further check; one whose colours are wrong is
    not compared with its picture.
    """
    names = row_checks(config)
    failed = check_scenes(prepare(config), names, block)
    if "demands" in names:
        failed[_too_easy(config, block, failed)] |= 1 << list(names).index("demands")
    return failed


def _too_easy(config: RdeConfig, block: Block, failed: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The rows that are scenes and not as hard as is demanded."""
    (rows,) = np.nonzero(failed & _RECTANGLES == 0)
    found = difficulty_block(
        block["rectangles"][rows],
        block["n_rectangles"][rows],
        height=config.height,
        width=config.width,
    )
    easy: NDArray[np.int64] = rows[~meet_demands(config, found)]
    return easy


def check_scenes(prepared: Prepared, names: Mapping[str, str], block: Block) -> NDArray[np.uint32]:
    """The masks of `check_block`, for the checks that are named (`scene_checks`)."""
    stored: dict[str, NDArray[Any]] = {
        column.name: np.require(block[column.name], column.dtype, ["C", "W"])
        for column in COLUMNS
        if column.only_if is None
    }
    height, width = prepared.settings.height, prepared.settings.width
    count = len(stored["n_rectangles"])
    failed = np.zeros(count, np.uint32)
    palettes = NO_PALETTES
    if "palette" in names:
        palettes = np.require(block["palette"], np.uint8, ["C", "W"])
    _check_block(
        prepared.settings,
        prepared.palette,
        palettes,
        prepared.weights,
        prepared.workspace,
        np.zeros((1, height, 3 * width), np.uint8),
        np.zeros((1, height, width), np.uint8),
        np.zeros((1, height, width), np.uint8),
        stored["above"],
        stored["color"],
        stored["image"].reshape(count, height, 3 * width),
        stored["label"],
        stored["n_rectangles"],
        stored["rank"],
        stored["rectangle_rank"],
        stored["rectangles"],
        failed,
    )
    if "difficulty" in names:
        bit = 1 << list(names).index("difficulty")
        scenes = failed & _RECTANGLES == 0
        failed[_wrong_difficulty(block, scenes, height, width)] |= bit
    if "order" in names:
        bit = 1 << list(names).index("order")
        failed[stored["rectangle_rank"].max(axis=1) < 2] |= bit
    if "palette" in names:
        bit = 1 << list(names).index("palette")
        failed[_least_distance(palettes) < prepared.settings.apart] |= bit
    return failed


def _least_distance(palettes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How far the two nearest colours of each row are apart, black among them."""
    values = np.pad(palettes.astype(np.int64), ((0, 0), (1, 0), (0, 0)))
    apart = np.abs(values[:, :, None] - values[:, None]).max(axis=3)
    upper = np.triu_indices(values.shape[1], 1)
    least: NDArray[np.int64] = apart[:, upper[0], upper[1]].min(axis=1)
    return least


def are_painted(failed: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """The rows, by their masks, whose rectangles can be painted in their colours."""
    painted: NDArray[np.bool_] = failed & (_RECTANGLES | _COLOR) == 0
    return painted


def _wrong_difficulty(
    block: Block, scenes: NDArray[np.bool_], height: int, width: int
) -> NDArray[np.int64]:
    """The rows that are scenes and state another difficulty than theirs."""
    (rows,) = np.nonzero(scenes)
    rectangles, n_rectangles = block["rectangles"][rows], block["n_rectangles"][rows]
    found = difficulty_block(rectangles, n_rectangles, height=height, width=width)
    wrong = (found["pieces"] != block["pieces"][rows]).any(axis=1)
    for name in ("convexity_only", "cue_distance", "depth"):
        wrong |= found[name] != block[name][rows]
    return rows[wrong]


@kernel
def _check_block(
    settings: Settings,
    palette: NDArray[np.uint8],
    palettes: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    drawn_image: NDArray[np.uint8],
    drawn_rank: NDArray[np.uint8],
    drawn_label: NDArray[np.uint8],
    above: NDArray[np.uint8],
    color: NDArray[np.uint8],
    image: NDArray[np.uint8],
    label: NDArray[np.uint8],
    n_rectangles: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    rectangle_rank: NDArray[np.uint8],
    rectangles: NDArray[np.int16],
    failed: NDArray[np.uint32],
) -> None:
    """Set the mask of each row of a block (`reference` has a twin for each thing derived here).

    ``drawn_image``, ``drawn_rank`` and ``drawn_label`` are room for one sample.
    """
    for s in range(len(failed)):
        if len(palettes):
            palette = palettes[s]
        n = int(n_rectangles[s])
        if not _rectangles_fit(settings, rectangles[s], n):
            failed[s] = _RECTANGLES
            continue
        mask = 0
        if not _unused_is_empty(rectangles[s], color[s], rectangle_rank[s], above[s], n):
            mask |= _UNUSED
        for i in range(n):
            for side in range(4):
                work.sides[side, i] = rectangles[s, i, side]
        if find_refused(settings, work.sides, n, work.grid, work.trial) < n:
            mask |= _RULES
        compress(work.sides, n, settings.width, settings.height, work.grid)
        find_cues(work.grid, n, work.cues)
        find_ranks(work.cues.t_junction, work.cues.convexity, n, work.rank)
        if not _same_cues(work, above[s], n):
            mask |= _ABOVE
        for i in range(n):
            if rectangle_rank[s, i] != work.rank[i]:
                mask |= _RECTANGLE_RANK
        colors_fit = _colors_fit(color[s], n, len(palette))
        if not colors_fit:
            mask |= _COLOR
        for i in range(n):
            work.rank_of_label[i + 1] = work.rank[i]
            for channel in range(3):
                value = palette[color[s, i], channel] if colors_fit else 0
                work.color_of_label[i + 1, channel] = value
        render(
            work.grid,
            work.color_of_label,
            work.rank_of_label,
            weights,
            work.canvas,
            0,
            drawn_image,
            drawn_rank,
            drawn_label,
        )
        if _differ(label[s], drawn_label[0]):
            mask |= _LABEL
        if _differ(rank[s], drawn_rank[0]):
            mask |= _RANK
        if colors_fit and _differ(image[s], drawn_image[0]):
            mask |= _IMAGE
        if settings.certify:
            verdict = certify(settings, work.sides, n, work.grid, work.cues, work.rank, work.room)
            if verdict != 0:
                mask |= _CERTIFICATE
        failed[s] = mask


@kernel
def _rectangles_fit(settings: Settings, rectangles: NDArray[np.int16], n: int) -> bool:
    """Whether there are 1 to n_rectangles of them, inside the picture, none empty.

    The other kernels may rely on it: outside the picture they would run past their arrays.
    """
    if n < 1 or n > len(rectangles):
        return False
    for i in range(n):
        x0, y0, x1, y1 = rectangles[i, 0], rectangles[i, 1], rectangles[i, 2], rectangles[i, 3]
        if not (0 <= x0 < x1 <= settings.width and 0 <= y0 < y1 <= settings.height):
            return False
    return True


@kernel
def _unused_is_empty(
    rectangles: NDArray[np.int16],
    color: NDArray[np.uint8],
    rectangle_rank: NDArray[np.uint8],
    above: NDArray[np.uint8],
    n: int,
) -> bool:
    """Whether all places from n on are -1 in ``rectangles`` and 0 elsewhere."""
    most = len(rectangles)
    for i in range(most):
        if i >= n:
            if color[i] != 0 or rectangle_rank[i] != 0:
                return False
            for side in range(4):
                if rectangles[i, side] != -1:
                    return False
        for j in range(most):
            if (i >= n or j >= n) and above[i, j] != 0:
                return False
    return True


@kernel
def _same_cues(work: Workspace, above: NDArray[np.uint8], n: int) -> bool:
    """Whether ``above`` has the cues that stand in the workspace."""
    for i in range(n):
        for j in range(n):
            by_t_junction = work.cues.t_junction[i] >> np.uint64(j) & np.uint64(1)
            by_convexity = work.cues.convexity[i] >> np.uint64(j) & np.uint64(1)
            if above[i, j] != by_t_junction + np.uint64(2) * by_convexity:
                return False
    return True


@kernel
def _colors_fit(color: NDArray[np.uint8], n: int, n_colors: int) -> bool:
    """Whether the first n colours are all different rows of the palette."""
    seen = np.uint64(0)
    for i in range(n):
        if color[i] >= n_colors:
            return False
        bit = np.uint64(1) << np.uint64(color[i])
        if seen & bit:
            return False
        seen |= bit
    return True


@kernel
def _differ(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> bool:
    """Whether two pictures differ anywhere."""
    for y in range(a.shape[0]):
        first, second = a[y], b[y]
        difference = np.uint8(0)
        for x in range(len(first)):
            difference |= first[x] ^ second[x]
        if difference:
            return True
    return False
