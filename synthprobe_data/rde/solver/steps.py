"""From the pixels of a picture to its reading, step by step."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import MAX_RECTANGLES, MAX_SIZE, MIN_SIZE
from synthprobe_data.rde.solver.colors import (
    CIRCLE,
    cluster_colors,
    cluster_hues,
    count_hues,
    find_nearest,
    hue_colors,
    is_saturated,
    separation,
)
from synthprobe_data.rde.solver.deblur import Deblurring, deblur, deblurring
from synthprobe_data.rde.solver.order import (
    CONVEXITY,
    JUNCTION_FIELDS,
    close,
    find_boxes,
    find_convexity,
    find_junctions,
    find_ranks,
    find_touching,
)
from synthprobe_data.rde.solver.reading import Junction, Reading
from synthprobe_data.rde.solver.regions import (
    Cells,
    expand,
    find_cells,
    levels_off,
    number_regions,
)

MAX_BLUR: Final = 4.0
_BLACK: Final = np.zeros((1, 3), np.uint8)


def solve(image: ArrayLike, palette: ArrayLike | None = None, *, blur: float = 0.7) -> Reading:
    """Read label map, order and ranks off the pixels of an RDE picture.

    Parameters
    ----------
    image
        The picture, uint8 (height, width, 3), black where there is no rectangle.
    palette
        The colours that rectangles may have, uint8 (n_colors, 3); each has one of its own. Without
        it they are found from the pixels: as fully saturated ones first, then as any colours that
        are twice as far apart as those of a palette need be.
    blur
        Standard deviation of the blur, in pixels, as in `RdeConfig`; 0 for none.

    Returns
    -------
    Reading
        Its label map, rendered, gives the picture back to the byte, and no other label map in its
        colours (or in the colours of the palette, if it was given) does.

    Raises
    ------
    SynthprobeError
        If the picture is not of rectangles painted over one another and blurred so; or if its
        colours are too near one another for the blur to be undone with certainty.
    """
    picture = _checked_picture(image)
    inverse = deblurring(_checked_blur(blur))
    height, width = picture.shape[:2]
    rows = picture.reshape(height, 3 * width)
    reach = len(inverse.taps) - 1
    sharp = np.empty(rows.shape, np.float32)
    margin = np.empty(3 * (width + 2 * reach), np.float32)
    deblur(rows.astype(np.float32), inverse.taps, margin, sharp)
    if palette is not None:
        colors = _checked_palette(palette)
        cells = _nearest_cells(sharp, colors, _checked_separation(colors, inverse, given=True))
        _check_exact(_levels_off(cells, colors, inverse, rows), inverse, rows)
        return _read(cells, colors)
    if not is_saturated(sharp.reshape(-1, 3), inverse.error):
        return _solve_any_colors(sharp, inverse, rows)
    try:
        return _solve_hues(sharp, inverse, rows)
    except SynthprobeError as first:
        try:
            return _solve_any_colors(sharp, inverse, rows)
        except SynthprobeError:
            raise first from None


def _solve_hues(
    sharp: NDArray[np.float32], inverse: Deblurring, rows: NDArray[np.uint8]
) -> Reading:
    """Read a picture of fully saturated colours."""
    count = np.zeros(CIRCLE, np.int64)
    count_hues(sharp, count)
    hues = cluster_hues(count, inverse.error)
    if len(hues) > MAX_RECTANGLES:
        raise SynthprobeError(
            f"this is not an RDE picture: it has {len(hues)} colours, more than the "
            f"{MAX_RECTANGLES} rectangles of the largest scene."
        )
    colors = hue_colors(hues)
    cells = _nearest_cells(sharp, colors, _checked_separation(colors, inverse, given=False))
    off = _levels_off(cells, colors, inverse, rows)
    if off:
        least_flat_first = np.argsort(count[hues], kind="stable")
        colors, off = _mended_colors(cells, hues, least_flat_first, off, inverse, rows)
        _checked_separation(colors, inverse, given=False)
    _check_exact(off, inverse, rows)
    return _read(cells, colors)


def _solve_any_colors(
    sharp: NDArray[np.float32], inverse: Deblurring, rows: NDArray[np.uint8]
) -> Reading:
    """Read a picture of any colours that are far enough apart."""
    height, width = rows.shape[0], rows.shape[1] // 3
    found = cluster_colors(sharp.reshape(-1, 3), inverse.error, MAX_RECTANGLES)
    if found is None:
        raise SynthprobeError(
            f"this is not an RDE picture: it has more colours than the {MAX_RECTANGLES} rectangles "
            "of the largest scene."
        )
    colors, label = found
    cells = find_cells(label.reshape(height, width))
    off = _levels_off(cells, colors, inverse, rows)
    if off:
        colors, off = _mended_channels(cells, colors, off, inverse, rows)
    _check_exact(off, inverse, rows)
    _checked_separation(colors, inverse, given=False, known=False)
    return _read(cells, colors)


def _nearest_cells(sharp: NDArray[np.float32], colors: NDArray[np.uint8], apart: int) -> Cells:
    """The cells of the label map that has the nearest colour everywhere."""
    nearest = np.empty((sharp.shape[0], sharp.shape[1] // 3), np.uint8)
    find_nearest(sharp, np.concatenate([_BLACK, colors]).astype(np.float32), apart / 2, nearest)
    return find_cells(nearest)


def _check_exact(off: int, inverse: Deblurring, rows: NDArray[np.uint8]) -> None:
    """Raise `SynthprobeError` unless rendering gave the picture back to the byte."""
    if off:
        raise SynthprobeError(
            f"this is not an RDE picture of blur {inverse.blur:g}: no label map gives its pixels "
            f"back; the nearest one is {off} levels off, summed over {rows.size} bytes."
        )


def check_distant(apart: int, *, blur: float = 0.7) -> None:
    """Raise `SynthprobeError` if pictures of unknown colours so far apart cannot be read.

    Parameters
    ----------
    apart
        In the channel in which two colours, black among them, differ most.
    blur
        As for `solve`.
    """
    _check_apart(apart, deblurring(_checked_blur(blur)), "of a picture may be", known=False)


def check_readable(palette: ArrayLike, *, blur: float = 0.7) -> None:
    """Raise `SynthprobeError` if pictures of these colours and this blur cannot be read.

    Parameters
    ----------
    palette, blur
        As for `solve`.
    """
    colors = _checked_palette(palette)
    _checked_separation(colors, deblurring(_checked_blur(blur)), given=True)


def _checked_picture(image: ArrayLike) -> NDArray[np.uint8]:
    picture = _array("image", image)
    shape = picture.shape
    if (
        picture.dtype != np.uint8
        or picture.ndim != 3
        or shape[2] != 3
        or not all(MIN_SIZE <= size <= MAX_SIZE for size in shape[:2])
    ):
        raise SynthprobeError(
            f"image is {picture.dtype} of shape {shape}: it must be uint8 of shape "
            f"(height, width, 3), {MIN_SIZE} to {MAX_SIZE} pixels high and wide."
        )
    return np.require(picture, np.uint8, ["C", "W"])  # for the kernels


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:  # such as rows of different lengths
        raise SynthprobeError(f"{name} is not an array: {error}.".replace("..", ".")) from error


def _checked_blur(blur: Any) -> float:
    if isinstance(blur, bool) or not isinstance(blur, int | float) or not 0 <= blur <= MAX_BLUR:
        raise SynthprobeError(f"blur is {blur!r}: it must be a number from 0 to {MAX_BLUR:g}.")
    return float(blur)


def _checked_palette(palette: ArrayLike) -> NDArray[np.uint8]:
    colors = _array("palette", palette)
    if (
        colors.dtype != np.uint8
        or colors.ndim != 2
        or colors.shape[1] != 3
        or not 1 <= len(colors) <= MAX_RECTANGLES
    ):
        raise SynthprobeError(
            f"palette is {colors.dtype} of shape {colors.shape}: it must be uint8 of shape "
            f"(n_colors, 3), 1 to {MAX_RECTANGLES} colours."
        )
    return colors


def _checked_separation(
    colors: NDArray[np.uint8], inverse: Deblurring, *, given: bool, known: bool = True
) -> int:
    """How far the colours, black among them, are apart; the blur must not be able to hide it."""
    apart = separation(np.concatenate([_BLACK, colors]))
    whose = "of the palette are" if given else "that the picture seems to have are"
    _check_apart(apart, inverse, whose, known=known)
    return apart


def _check_apart(apart: int, inverse: Deblurring, whose: str, *, known: bool) -> None:
    """Raise `SynthprobeError` if the blur may hide so small a distance.

    Colours that are known tell what a pixel is that is nearer to one than to all others. Where
    they are not, pixels of one must be nearer to each other than to those of another.
    """
    least = (2 if known else 4) * inverse.error
    if apart <= least:
        raise SynthprobeError(
            f"two colours {whose} {apart} levels apart (black is one of them): a blur of "
            f"{inverse.blur:g} can be undone with certainty if they are more than {least:.0f} "
            "apart."
        )


def _levels_off(
    cells: Cells, colors: NDArray[np.uint8], inverse: Deblurring, image: NDArray[np.uint8]
) -> int:
    """How far rendering the cells is off the picture, summed over all bytes."""
    height, size = image.shape
    return levels_off(
        cells,
        np.concatenate([_BLACK, colors]).astype(np.uint32),
        inverse.weights,
        image,
        np.empty(size + 6 * (len(inverse.weights) - 1), np.uint32),
        np.empty((len(cells.shown), size), np.uint32),
        np.empty(height, np.int64),
        np.empty(size, np.uint32),
    )


def _mended_colors(
    cells: Cells,
    hues: NDArray[np.int64],
    order: NDArray[np.int64],
    off: int,
    inverse: Deblurring,
    image: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], int]:
    """Move each hue, in this order, as long as that comes nearer to the picture.

    A rectangle that is nowhere flat may have a common hue beside its own: the rounding is the same
    all along a side. Returns the colours, and how many levels they are still off.
    """
    for k in order:
        for step in (1, -1):
            for _ in range(int(2 * inverse.error)):
                moved = hues.copy()
                moved[k] = (hues[k] + step) % CIRCLE
                nearer = _levels_off(cells, hue_colors(moved), inverse, image)
                if nearer >= off:
                    break
                hues, off = moved, nearer
        if off == 0:
            break
    return hue_colors(hues), off


def _mended_channels(
    cells: Cells,
    colors: NDArray[np.uint8],
    off: int,
    inverse: Deblurring,
    image: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], int]:
    """Move each channel of each colour as long as that comes nearer to the picture.

    Returns the colours, and how many levels they are still off.
    """
    before = off + 1
    while 0 < off < before:
        before = off
        for k, channel in np.ndindex(colors.shape):
            for step in (1, -1):
                while 0 <= int(colors[k, channel]) + step <= 255:
                    moved = colors.copy()
                    moved[k, channel] = int(colors[k, channel]) + step
                    nearer = _levels_off(cells, moved, inverse, image)
                    if nearer >= off:
                        break
                    colors, off = moved, nearer
    return colors, off


def _read(cells: Cells, colors: NDArray[np.uint8]) -> Reading:
    """All that follows from the cells."""
    color_of = np.empty(MAX_RECTANGLES, np.uint8)
    n = number_regions(cells.shown, np.empty(MAX_RECTANGLES + 1, np.uint8), color_of)
    if n == 0:
        raise SynthprobeError("this is not an RDE picture: it shows no rectangle.")
    boxes = np.empty((n, 4), np.int64)
    above = np.zeros((n, n), np.uint8)
    find_boxes(cells, boxes)
    region, row = find_convexity(cells, boxes, above)
    if region:
        raise SynthprobeError(
            f"this is not an RDE picture: the background shows inside the extent of region "
            f"{region} (row {cells.y[row]}), so that it is no rectangle."
        )
    convexity = above & CONVEXITY != 0
    if close(convexity):
        raise SynthprobeError(
            "this is not an RDE picture: some of its regions show inside each other's extents in "
            "a circle, so that no order of rectangles gives it."
        )
    found = np.empty(((len(cells.x) - 2) * (len(cells.y) - 2), JUNCTION_FIELDS), np.int64)
    found = found[: find_junctions(cells, above, found)]
    follows = above != 0
    contradictory = close(follows)
    direct = above != 0
    if contradictory:
        # What only T-junctions say between regions that are above each other is left out.
        direct &= ~(follows & follows.T) | (above & CONVEXITY != 0)
    rank = np.zeros(n + 1, np.uint8)
    find_ranks(direct, rank[1:])
    touching = np.zeros((n, n), np.bool_)
    find_touching(cells, touching)
    return Reading(
        label=expand(cells, np.arange(n + 1, dtype=np.uint8)),
        rank=expand(cells, rank),
        color=colors[color_of[:n] - 1],
        rectangle_rank=rank[1:],
        boxes=np.stack([(cells.x, cells.y)[side % 2][boxes[:, side]] for side in range(4)], axis=1),
        above=above,
        junctions=tuple(
            Junction(row, column, bar, (a, b), (down, right), length, (back, ahead))
            for row, column, bar, a, b, down, right, length, back, ahead in found.tolist()
        ),
        contradictory=contradictory,
        unambiguous=not contradictory and not (touching & ~(follows | follows.T)).any(),
    )
