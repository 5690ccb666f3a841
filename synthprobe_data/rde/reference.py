"""The rules of RDE, slowly and plainly: pixel by pixel on the label map.

This module follows ``RULES.md`` line by line and says what is right; whatever is fast must equal
it. Rectangles are an integer array ``(n, 4)`` of ``x0, y0, x1, y1`` in the order of placement. In a
label map, ``k`` stands for the k-th placed rectangle, counted from 1, and 0 for the background;
everywhere else (rows of ``rectangles``, nodes of a relation, ranks) rectangles count from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any, Final, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy import ndimage

from synthprobe_data.random import draw_64, draw_below
from synthprobe_data.rde.config import RdeConfig

Rectangles: TypeAlias = npt.NDArray[Any]  # integer (n, 4): x0, y0, x1, y1
LabelMap: TypeAlias = npt.NDArray[np.uint8]  # (height, width)
Ranks: TypeAlias = tuple[int, ...] | None  # None: the relation has a cycle
Above: TypeAlias = npt.NDArray[np.bool_]  # (n, n): the row is above the column

OUTSIDE: Final = -1  # the label of what lies outside the picture
MOVES: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))
WEIGHT_SUM: Final = 4096  # of the blur, on each axis

# ------------------------------------------------------------------------------------------- scene


def paint(rectangles: Rectangles, height: int, width: int) -> LabelMap:
    """The label map: rectangles painted in their order, cut off at the border of the picture."""
    label = np.zeros((height, width), np.uint8)
    for k, (x0, y0, x1, y1) in enumerate(rectangles, start=1):
        label[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)] = k
    return label


def _pixel(label: LabelMap, x: int, y: int) -> int:
    """The label of pixel (x, y), or `OUTSIDE`."""
    height, width = label.shape
    return int(label[y, x]) if 0 <= x < width and 0 <= y < height else OUTSIDE


def _axes_exchanged(rectangles: Rectangles) -> Rectangles:
    """The rectangles of the transposed picture."""
    return np.take(rectangles, [1, 0, 3, 2], axis=1)


def _moved(rectangle: npt.NDArray[Any], dx: int, dy: int) -> npt.NDArray[Any]:
    x0, y0, x1, y1 = rectangle
    return np.array([x0 + dx, y0 + dy, x1 + dx, y1 + dy])


# --------------------------------------------------------------------------------------- placement
# In each rule but the first, the last rectangle is the candidate, painted on top of the others.


def rule_size(config: RdeConfig, candidate: npt.NDArray[Any]) -> bool:
    """Rule 1: the candidate is wide and high enough."""
    x0, y0, x1, y1 = candidate
    return bool(x1 - x0 >= config.min_width and y1 - y0 >= config.min_height)


def rule_visibility(config: RdeConfig, rectangles: Rectangles) -> bool:
    """Rule 2: each rectangle shows more than n_gap pixels where it shows, and n_vis somewhere."""
    label = paint(rectangles, config.height, config.width)
    for k in range(1, len(rectangles) + 1):
        for axis in (0, 1):
            shown = np.sum(label == k, axis=axis)
            if np.any((shown > 0) & (shown <= config.n_gap)) or not np.any(shown > config.n_vis):
                return False
    return True


def rule_no_shared_side(config: RdeConfig, rectangles: Rectangles) -> bool:
    """Rule 3: the candidate shares a side with no other, nor does it when moved by one pixel."""
    *others, candidate = rectangles
    taken = {piece for other in others for piece in _pieces_of_sides(other)}
    return all(
        taken.isdisjoint(_pieces_of_sides(_moved(candidate, dx, dy))) for dx, dy in ((0, 0), *MOVES)
    )


def _pieces_of_sides(rectangle: npt.NDArray[Any]) -> set[tuple[str, int, int]]:
    """The sides, hidden parts included, in pieces of one pixel: direction, line, row or column."""
    x0, y0, x1, y1 = (int(v) for v in rectangle)
    vertical = {("vertical", x, y) for x in (x0, x1) for y in range(y0, y1)}
    horizontal = {("horizontal", y, x) for y in (y0, y1) for x in range(x0, x1)}
    return vertical | horizontal


def rule_parallel_sides(config: RdeConfig, rectangles: Rectangles) -> bool:
    """Rule 4: no side of the candidate is near a parallel side of another that shows near it."""
    label = paint(rectangles, config.height, config.width)
    return _vertical_sides_apart(config.n_par, rectangles, label) and _vertical_sides_apart(
        config.n_par, _axes_exchanged(rectangles), label.T
    )


def _vertical_sides_apart(n_par: int, rectangles: Rectangles, label: LabelMap) -> bool:
    *others, candidate = rectangles
    c_x0, c_y0, c_x1, c_y1 = candidate
    for k, (x0, y0, x1, y1) in enumerate(others, start=1):
        for line, column_inside in ((x0, x0), (x1, x1 - 1)):
            if abs(line - c_x0) >= n_par and abs(line - c_x1) >= n_par:
                continue
            for y in range(max(y0, c_y0 - n_par), min(y1, c_y1 + n_par)):
                if _pixel(label, column_inside, y) == k:
                    return False
    return True


def rule_t_junctions(config: RdeConfig, rectangles: Rectangles) -> bool:
    """Rule 5: from each T-junction, the next corner or junction is at least n_vis pixels away."""
    label = paint(rectangles, config.height, config.width)
    for t in t_junctions_of_label_map(label):
        dx, dy = t.stem_direction
        arms = ((dy, dx), (-dy, -dx))  # at right angles to the stem
        for step_x, step_y in (t.stem_direction, *arms):
            for distance in range(1, config.n_vis):
                x, y = t.x + distance * step_x, t.y + distance * step_y
                if point_kind(label, x, y) != "straight":
                    return False
    return True


def rule_still_shows(config: RdeConfig, rectangles: Rectangles) -> bool:
    """The rule of the ambiguous mode: at least one pixel of every rectangle shows."""
    label = paint(rectangles, config.height, config.width)
    return all(np.any(label == k) for k in range(1, len(rectangles) + 1))


def accepts(config: RdeConfig, rectangles: Rectangles) -> bool:
    """Whether the candidate, the last rectangle, obeys all rules of the config's mode."""
    if not rule_size(config, rectangles[-1]):
        return False
    if config.mode == "ambiguous":
        return rule_still_shows(config, rectangles)
    return (
        rule_visibility(config, rectangles)
        and rule_no_shared_side(config, rectangles)
        and rule_parallel_sides(config, rectangles)
        and rule_t_junctions(config, rectangles)
    )


def draw_number(config: RdeConfig, stream: npt.NDArray[np.uint64]) -> int:
    """How many rectangles a sample asks for: the first draw, but only where the number varies."""
    if config.min_rectangles is None:
        return config.n_rectangles
    numbers = range(config.min_rectangles, config.n_rectangles + 1)
    return numbers[draw_below(stream, len(numbers))]


# ------------------------------------------------------------------------- points of the label map


@dataclass(frozen=True)
class TJunction:
    """A T-junction of a label map.

    Parameters
    ----------
    x, y
        The lines that cross there.
    bar_owner
        Label of the rectangle whose side is the bar.
    stem_regions
        Labels of the two regions that the stem parts, the left or upper one first; 0: background.
    stem_direction
        One step along the stem, away from the bar, as (dx, dy).
    """

    x: int
    y: int
    bar_owner: int
    stem_regions: tuple[int, int]
    stem_direction: tuple[int, int]


def point_kind(label: LabelMap, x: int, y: int) -> str:
    """What the point is where line x (0 to width) and line y (0 to height) cross.

    Returns
    -------
    str
        ``"plain"``, ``"straight"``, ``"T"``, or ``"corner"`` for a corner or any other junction.
    """
    upper_left, upper_right, lower_left, lower_right = _pixels_around(label, x, y)
    if upper_left == upper_right == lower_left == lower_right:
        return "plain"
    if upper_left == upper_right and lower_left == lower_right:
        return "straight"
    if upper_left == lower_left and upper_right == lower_right:
        return "straight"
    return "corner" if _t_junction_at(label, x, y) is None else "T"


def t_junctions_of_label_map(label: LabelMap) -> list[TJunction]:
    """All T-junctions of a label map, row by row from the upper left."""
    height, width = label.shape
    points = ((x, y) for y in range(1, height) for x in range(1, width))
    found = (_t_junction_at(label, x, y) for x, y in points)
    return [t for t in found if t is not None]


def _pixels_around(label: LabelMap, x: int, y: int) -> tuple[int, int, int, int]:
    """Upper left, upper right, lower left, lower right."""
    upper = _pixel(label, x - 1, y - 1), _pixel(label, x, y - 1)
    lower = _pixel(label, x - 1, y), _pixel(label, x, y)
    return *upper, *lower


def _t_junction_at(label: LabelMap, x: int, y: int) -> TJunction | None:
    """The T-junction at the point where line x and line y cross, if it is one."""
    upper_left, upper_right, lower_left, lower_right = _pixels_around(label, x, y)
    if OUTSIDE in (upper_left, upper_right, lower_left, lower_right):
        return None
    upper, lower = (upper_left, upper_right), (lower_left, lower_right)
    left, right = (upper_left, lower_left), (upper_right, lower_right)
    for bar, stem, stem_direction in (
        (upper, lower, (0, 1)),
        (lower, upper, (0, -1)),
        (left, right, (1, 0)),
        (right, left, (-1, 0)),
    ):
        owner = bar[0]
        if bar[0] == bar[1] != 0 and owner not in stem and stem[0] != stem[1]:
            return TJunction(x, y, owner, stem, stem_direction)
    return None


# ------------------------------------------------------------------------------------------- order


def above_by_t_junction(rectangles: Rectangles, height: int, width: int) -> Above:
    """Who is above whom by the T-junctions from the rectangles."""
    above = np.zeros((len(rectangles), len(rectangles)), np.bool_)
    label = paint(rectangles, height, width)
    exchanged = _axes_exchanged(rectangles)
    for a, b in np.ndindex(above.shape):
        above[a, b] = a != b and (
            _vertical_side_runs_beneath(rectangles, label, a, b)
            or _vertical_side_runs_beneath(exchanged, label.T, a, b)
        )
    return above


def _vertical_side_runs_beneath(rectangles: Rectangles, label: LabelMap, a: int, b: int) -> bool:
    """Whether a vertical side of B visibly runs into a horizontal side of A and on beneath A."""
    height, width = label.shape
    a_x0, a_y0, a_x1, a_y1 = rectangles[a]
    b_x0, b_y0, b_x1, b_y1 = rectangles[b]
    # Each side is a line, with the column (or row) just inside and the one just outside.
    for x, column_in_b, column_out_of_b in ((b_x0, b_x0, b_x0 - 1), (b_x1, b_x1 - 1, b_x1)):
        for y, row_in_a, row_out_of_a in ((a_y0, a_y0, a_y0 - 1), (a_y1, a_y1 - 1, a_y1)):
            crosses = a_x0 < x < a_x1 and b_y0 < y < b_y1 and 0 < x < width and 0 < y < height
            if (
                crosses
                and label[row_in_a, column_in_b] == a + 1
                and label[row_in_a, column_out_of_b] == a + 1
                and label[row_out_of_a, column_in_b] == b + 1
                and label[row_out_of_a, column_out_of_b] < b + 1  # placed before B, or background
            ):
                return True
    return False


def above_by_t_junction_in_label_map(label: LabelMap, n: int) -> Above:
    """Who is above whom by the label map's T-junctions: the bar's owner above both stem regions."""
    above = np.zeros((n, n), np.bool_)
    for t in t_junctions_of_label_map(label):
        for region in t.stem_regions:
            if region != 0:
                above[t.bar_owner - 1, region - 1] = True
    return above


def above_by_convexity(label: LabelMap, n: int) -> Above:
    """A is above B if A shows where the boxes around the visible pixels of A and of B intersect."""
    above = np.zeros((n, n), np.bool_)
    boxes = ndimage.find_objects(label, max_label=n)  # None for a rectangle that does not show
    for a, b in np.ndindex(above.shape):
        if a != b and boxes[a] is not None and boxes[b] is not None:
            shows_a_in_box_of_a = np.zeros(label.shape, np.bool_)
            shows_a_in_box_of_a[boxes[a]] = label[boxes[a]] == a + 1
            above[a, b] = np.any(shows_a_in_box_of_a[boxes[b]])
    return above


def relation_of_scene(rectangles: Rectangles, height: int, width: int) -> nx.DiGraph:
    """The T-junctions from the rectangles and convexity: an edge u -> v where u is above v."""
    label = paint(rectangles, height, width)
    by_t_junction = above_by_t_junction(rectangles, height, width)
    return _as_graph(by_t_junction | above_by_convexity(label, len(rectangles)))


def relation_of_label_map(label: LabelMap, n: int) -> nx.DiGraph:
    """The T-junctions from the label map alone and convexity: an edge u -> v where u is above v."""
    return _as_graph(above_by_t_junction_in_label_map(label, n) | above_by_convexity(label, n))


def _as_graph(above: Above) -> nx.DiGraph:
    return nx.from_numpy_array(above.astype(np.int64), create_using=nx.DiGraph)


# -------------------------------------------------------------------------------------------- rank


def ranks(relation: nx.DiGraph) -> Ranks:
    """The lowest ranks that fit the relation, by depth-first search; ``None`` if it has a cycle."""
    if not nx.is_directed_acyclic_graph(relation):
        return None
    rank: dict[int, int] = {}

    def visit(u: int) -> int:
        if u not in rank:
            rank[u] = 1 + max((visit(v) for v in relation.successors(u)), default=0)
        return rank[u]

    return tuple(visit(u) for u in range(len(relation)))


def is_flat(rectangles: Rectangles, height: int, width: int) -> bool:
    """Whether no two ranks occur in a scene, so that there is no order to find."""
    return len(set(ranks(relation_of_scene(rectangles, height, width)) or ())) < 2


def rank_map(label: LabelMap, rectangle_ranks: Sequence[int]) -> npt.NDArray[np.uint8]:
    """The rank that each pixel shows, 0 for the background."""
    return np.array([0, *rectangle_ranks], np.uint8)[label]


# ------------------------------------------------------------------------------------- certificate


def _both_ranks(rectangles: Rectangles, height: int, width: int) -> tuple[Ranks, Ranks]:
    """The ranks from the rectangles, and the ranks from the label map alone."""
    label = paint(rectangles, height, width)
    return (
        ranks(relation_of_scene(rectangles, height, width)),
        ranks(relation_of_label_map(label, len(rectangles))),
    )


def is_readable(rectangles: Rectangles, height: int, width: int) -> bool:
    """Whether the label map alone gives the ranks of the scene."""
    from_scene, from_label_map = _both_ranks(rectangles, height, width)
    return from_scene == from_label_map


def is_stable(rectangles: Rectangles, height: int, width: int) -> bool:
    """Whether no move of one rectangle by one pixel changes a rank, in either derivation."""
    unmoved = _both_ranks(rectangles, height, width)
    return all(
        _both_ranks(scene, height, width) == unmoved for scene in _scenes_one_move_away(rectangles)
    )


def _scenes_one_move_away(rectangles: Rectangles) -> Iterator[Rectangles]:
    for k in range(len(rectangles)):
        for dx, dy in MOVES:
            scene = np.array(rectangles, np.int64)
            scene[k] = _moved(scene[k], dx, dy)
            yield scene


def is_decided(rectangles: Rectangles, height: int, width: int) -> bool:
    """Whether of any two that touch in the picture one is above the other, maybe through others."""
    label = paint(rectangles, height, width)
    relation = relation_of_scene(rectangles, height, width)
    beside = zip(label[:, :-1].ravel().tolist(), label[:, 1:].ravel().tolist(), strict=True)
    beneath = zip(label[:-1].ravel().tolist(), label[1:].ravel().tolist(), strict=True)
    touching = {(k - 1, m - 1) for k, m in (*beside, *beneath) if k != m and k > 0 and m > 0}
    return all(nx.has_path(relation, a, b) or nx.has_path(relation, b, a) for a, b in touching)


def certificate_failure(rectangles: Rectangles, height: int, width: int) -> str | None:
    """Why a scene gets no certificate, or ``None`` when it gets one.

    Returns
    -------
    str or None
        The first of ``"unreadable"``, ``"undecided"``, ``"unstable"`` that the scene is.
    """
    if not is_readable(rectangles, height, width):
        return "unreadable"
    if not is_decided(rectangles, height, width):
        return "undecided"
    if not is_stable(rectangles, height, width):
        return "unstable"
    return None


# ----------------------------------------------------------------------------------------- picture


def palette(n_colors: int) -> npt.NDArray[np.uint8]:
    """Fully saturated colours of full value at hues k / n_colors of a turn, (n_colors, 3)."""
    colors = []
    for k in range(n_colors):
        sector, rising = divmod(Fraction(6 * k, n_colors), 1)
        falling = 1 - rising
        rgb = (
            (Fraction(1), rising, Fraction(0)),  # red to yellow
            (falling, Fraction(1), Fraction(0)),  # to green
            (Fraction(0), Fraction(1), rising),  # to cyan
            (Fraction(0), falling, Fraction(1)),  # to blue
            (rising, Fraction(0), Fraction(1)),  # to magenta
            (Fraction(1), Fraction(0), falling),  # to red
        )[sector]
        colors.append([int(255 * channel + Fraction(1, 2)) for channel in rgb])  # half up
    return np.array(colors, np.uint8).reshape(n_colors, 3)


def fixed_palette(palette_of_config: Any, n_colors: int) -> npt.NDArray[np.uint8]:
    """The colours of all pictures: the list of the config, or so many hues."""
    if isinstance(palette_of_config, tuple):
        return np.array(palette_of_config, np.uint8)
    return palette(n_colors)


def draw_palette(stream: npt.NDArray[np.uint64], apart: int, n: int) -> npt.NDArray[np.uint8]:
    """Colours of one picture: each drawn until it is far enough from black and those before it.

    The three lowest bytes of a word are red, green and blue. After 1000 words without enough
    colours all of them are drawn again.
    """
    while True:
        colors = [(0, 0, 0)]
        for _ in range(1000):
            word = int(draw_64(stream))
            color = (word % 256, word // 256 % 256, word // 65536 % 256)
            if all(max(abs(a - b) for a, b in zip(color, c, strict=True)) >= apart for c in colors):
                colors.append(color)
            if len(colors) == n + 1:
                return np.array(colors[1:], np.uint8)


def blur_weights(blur: float) -> npt.NDArray[np.int64]:
    """The Gaussian of standard deviation `blur`, in whole units of 1/4096, from -radius to radius.

    The weights farther than any distance from the centre sum, on each side, to the true sum
    rounded to the nearest unit, half up; the centre has the rest. They come from decimal
    arithmetic of 40 digits, hence are the same on every machine.
    """
    radius = int(4 * blur + 0.5)
    if radius == 0:
        return np.array([WEIGHT_SUM], np.int64)
    with localcontext(prec=40):
        sigma = Decimal(repr(float(blur)))
        gauss = [(-Decimal(d * d) / (2 * sigma**2)).exp() for d in range(radius + 1)]
        total = gauss[0] + 2 * sum(gauss[1:])
        tails = [WEIGHT_SUM * sum(gauss[d:]) / total for d in range(1, radius + 1)]
        rounded = [int(tail.to_integral_value(ROUND_HALF_UP)) for tail in tails]
    beside = [near - far for near, far in zip(rounded, [*rounded[1:], 0], strict=True)]
    centre = WEIGHT_SUM - 2 * sum(beside)
    return np.array([*reversed(beside), centre, *beside], np.int64)


def render(
    label: LabelMap,
    colors: Sequence[int] | npt.NDArray[Any],
    palette: npt.NDArray[np.uint8],
    blur: float,
) -> npt.NDArray[np.uint8]:
    """The picture of a label map.

    Parameters
    ----------
    label
        The label map, (height, width).
    colors
        For each rectangle, the row of the palette that it has.
    palette
        The colours, (n_colors, 3).
    blur
        Standard deviation of the Gaussian blur, in pixels; 0 for none.

    Returns
    -------
    uint8 array (height, width, 3)
    """
    black = np.zeros((1, 3), np.uint8)
    color_of_label = np.concatenate([black, palette[np.asarray(colors, np.int64)]])
    picture = color_of_label[label].astype(np.int64)
    weights = blur_weights(blur)
    radius = len(weights) // 2
    for axis in (0, 1):
        size = picture.shape[axis]
        padding = [(0, 0)] * 3
        padding[axis] = (radius, radius)
        padded = np.pad(picture, padding, mode="symmetric")  # d c b a | a b c d
        picture = sum(
            (w * padded.take(range(i, i + size), axis) for i, w in enumerate(weights)),
            start=np.zeros_like(picture),
        )
    return ((picture + 2**23) >> 24).astype(np.uint8)
