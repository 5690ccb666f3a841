"""What the kernels say about given rectangles: for checking scenes, not for drawing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import MAX_RECTANGLES, RdeConfig
from synthprobe_data.rde.kernels.certificate import certify, empty_room
from synthprobe_data.rde.kernels.cues import empty_cues, find_cues
from synthprobe_data.rde.kernels.difficulty import (
    Difficulty,
    difficulty_block,
    difficulty_of_row,
)
from synthprobe_data.rde.kernels.grid import compress, empty_grid, empty_sides
from synthprobe_data.rde.kernels.place import kernel_settings
from synthprobe_data.rde.kernels.ranks import find_ranks
from synthprobe_data.rde.legal import find_refused

if TYPE_CHECKING:
    import networkx as nx

FAILURES: Final = (None, "unreadable", "undecided", "unstable")
T_JUNCTION: Final = 1
CONVEXITY: Final = 2


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A scene and all that follows from its rectangles."""

    rectangles: NDArray[np.int64]
    """x0, y0, x1, y1 of each, in placement order: (n, 4)."""
    label: NDArray[np.uint8]
    """The label map, (height, width)."""
    above: NDArray[np.uint8]
    """Row above column, (n, n): bit 0 by a T-junction, bit 1 by convexity."""
    above_seen: NDArray[np.uint8]
    """The same from the label map alone."""
    rectangle_rank: NDArray[np.uint8]
    """The rank of each rectangle."""
    failure: str | None
    """What fails first of the certificate: "unreadable", "undecided", "unstable"; or ``None``."""

    @property
    def rank(self) -> NDArray[np.uint8]:
        """The rank map, (height, width)."""
        return np.concatenate([[0], self.rectangle_rank]).astype(np.uint8)[self.label]

    def relation(self) -> nx.DiGraph:
        """The relation as a graph: an edge leads from a rectangle to one that it is above."""
        import networkx as nx  # here, because it is slow to import and generating does without it

        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(self.rectangles)))
        for upper, lower in np.argwhere(self.above):
            cue = int(self.above[upper, lower])
            graph.add_edge(
                int(upper),
                int(lower),
                t_junction=bool(cue & T_JUNCTION),
                convexity=bool(cue & CONVEXITY),
            )
        return graph


def read_scene(rectangles: ArrayLike, *, height: int, width: int) -> Scene:
    """Derive label map, cues, ranks and certificate of a scene.

    Parameters
    ----------
    rectangles
        x0, y0, x1, y1 of each, in placement order: (n, 4). They may reach over the border.
    height, width
        Size of the picture.
    """
    boxes = _checked(rectangles)
    n = len(boxes)
    settings = kernel_settings(RdeConfig(height=height, width=width))
    sides, grid, cues = empty_sides(), empty_grid(), empty_cues()
    sides[:, :n] = boxes.T
    rank = np.zeros(MAX_RECTANGLES, np.uint8)
    compress(sides, n, width, height, grid)
    find_cues(grid, n, cues)
    find_ranks(cues.t_junction, cues.convexity, n, rank)
    failure = certify(settings, sides, n, grid, cues, rank, empty_room())
    columns, rows = grid.size
    cells = grid.label[:rows, :columns]
    convexity = CONVEXITY * _matrix(cues.convexity, n)
    return Scene(
        rectangles=boxes,
        label=cells.repeat(np.diff(grid.y[: rows + 1]), 0).repeat(
            np.diff(grid.x[: columns + 1]), 1
        ),
        above=T_JUNCTION * _matrix(cues.t_junction, n) + convexity,
        above_seen=T_JUNCTION * _matrix(cues.t_junction_seen, n) + convexity,
        rectangle_rank=rank[:n],
        failure=FAILURES[failure],
    )


def first_refused(config: RdeConfig, rectangles: ArrayLike) -> int | None:
    """The first rectangle that the rules refuse on top of those before it, or ``None``."""
    boxes = _checked(rectangles)
    inside = (boxes >= 0).all(1) & (boxes[:, 2] <= config.width) & (boxes[:, 3] <= config.height)
    n = len(boxes) if inside.all() else int(inside.argmin())  # those before the first outside
    sides = empty_sides()
    sides[:, : len(boxes)] = boxes.T
    refused = find_refused(kernel_settings(config), sides, n, empty_grid(), empty_grid())
    return None if refused == len(boxes) else int(refused)


def _checked(rectangles: ArrayLike) -> NDArray[np.int64]:
    boxes = np.asarray(rectangles, np.int64).reshape(-1, 4)
    if len(boxes) > MAX_RECTANGLES:
        raise SynthprobeError(f"a scene has at most {MAX_RECTANGLES} rectangles, not {len(boxes)}.")
    if np.any(boxes[:, :2] >= boxes[:, 2:]):
        raise SynthprobeError("a rectangle has x0 < x1 and y0 < y1.")
    return boxes


def _matrix(masks: NDArray[np.uint64], n: int) -> NDArray[np.uint8]:
    """Bit masks as a matrix of zeros and ones."""
    return (masks[:n, None] >> np.arange(n, dtype=np.uint64) & np.uint64(1)).astype(np.uint8)


def read_difficulty(scene: Scene) -> Difficulty:
    """How hard a scene is."""
    height, width = scene.label.shape
    boxes = scene.rectangles[None].astype(np.int64)
    block = difficulty_block(boxes, np.array([len(scene.rectangles)]), height=height, width=width)
    return difficulty_of_row(block, 0)
