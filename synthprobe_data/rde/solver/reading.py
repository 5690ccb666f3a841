"""What is read off a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.rde.solver.order import CONVEXITY, T_JUNCTION

if TYPE_CHECKING:
    import networkx as nx

Box = tuple[int, int, int, int]


class Junction(NamedTuple):
    """A T-junction. Regions are named as in the label map, with 0 for the background."""

    row: int
    """The line between the pixel rows ``row - 1`` and ``row``."""
    column: int
    """The line between the pixel columns ``column - 1`` and ``column``."""
    bar: int
    """The region whose side is the bar; it is above both regions of the stem."""
    stem: tuple[int, int]
    """The regions that the stem parts, the left or upper one first."""
    direction: tuple[int, int]
    """One step along the stem, away from the bar, in rows and columns."""
    length: int
    """How far the stem runs between these two regions, in pixels."""
    arms: tuple[int, int]
    """How far the bar runs between two regions to the left and right, or up and down."""


class Overlap(NamedTuple):
    """Evidence of convexity. Regions are named as in the label map."""

    upper: int
    """The region that shows in the box."""
    lower: int
    """The region that must then be beneath it."""
    box: Box
    """What the visible extents of both have in common: x0, y0, x1, y1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """All that a picture tells.

    Regions are numbered from 1 in the label map, by their first pixel in reading order; in the
    arrays and in the graph they count from 0.
    """

    label: NDArray[np.uint8]
    """The label map, (height, width); 0 is the background."""
    rank: NDArray[np.uint8]
    """The rank map, (height, width); 0 is the background."""
    color: NDArray[np.uint8]
    """Red, green and blue of each region: (n, 3)."""
    rectangle_rank: NDArray[np.uint8]
    """The rank of each region: (n,)."""
    boxes: NDArray[np.int64]
    """The visible extent of each region, x0, y0, x1, y1: (n, 4)."""
    above: NDArray[np.uint8]
    """Row above column, (n, n): bit 0 by a T-junction, bit 1 by convexity."""
    junctions: tuple[Junction, ...]
    """The T-junctions, row by row."""
    contradictory: bool
    """Whether the cues put some region above itself, through others.

    Then the T-junctions between regions on such a cycle do not count towards the ranks; convexity
    does, and it never contradicts itself in a picture of rectangles.
    """
    unambiguous: bool
    """Whether the cues contradict each other nowhere, and of any two regions that share a pixel
    side, one is above the other, directly or through others."""

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """The evidence of convexity, one for each pair of `above` that has bit 1."""
        pairs = np.argwhere(self.above & CONVEXITY).tolist()
        return tuple(
            Overlap(upper + 1, lower + 1, self._overlap(upper, lower)) for upper, lower in pairs
        )

    def _overlap(self, i: int, j: int) -> Box:
        low = np.maximum(self.boxes[i, :2], self.boxes[j, :2]).tolist()
        high = np.minimum(self.boxes[i, 2:], self.boxes[j, 2:]).tolist()
        return low[0], low[1], high[0], high[1]

    def has_regions_of(self, label: NDArray[np.uint8]) -> bool:
        """Whether a label map has the same regions, under whatever numbers, and background."""
        both = self.label.ravel() * np.int64(256) + label.ravel()
        own, other = np.divmod(np.flatnonzero(np.bincount(both)), 256)
        one_to_one = len(np.unique(own)) == len(np.unique(other)) == len(own)
        return one_to_one and bool(((own == 0) == (other == 0)).all())

    def relation(self) -> nx.DiGraph:
        """The relation as a graph: an edge leads from a region to one that it is above.

        An edge has ``t_junction`` and ``convexity`` (bool), and the evidence: ``junctions``, a
        tuple of `Junction`, and ``overlap``, the box of an `Overlap` or ``None``.
        """
        import networkx as nx  # here, because it is slow to import

        evidence: dict[tuple[int, int], list[Junction]] = {}
        for junction in self.junctions:
            for region in junction.stem:
                if region:
                    evidence.setdefault((junction.bar - 1, region - 1), []).append(junction)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(self.boxes)))
        for upper, lower in np.argwhere(self.above).tolist():
            cue = int(self.above[upper, lower])
            graph.add_edge(
                upper,
                lower,
                t_junction=bool(cue & T_JUNCTION),
                convexity=bool(cue & CONVEXITY),
                junctions=tuple(evidence.get((upper, lower), ())),
                overlap=self._overlap(upper, lower) if cue & CONVEXITY else None,
            )
        return graph
