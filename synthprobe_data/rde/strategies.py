"""Settings, scenes and samples of Rectangle Depth Estimation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import MAX_RECTANGLES, MODES, RdeConfig
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.strategies.common import drawn, seeds, splits

__all__ = [
    "GeneratedSample",
    "Rectangles",
    "candidates",
    "certified_scenes",
    "configs",
    "generated_samples",
    "nudged",
    "rectangle_lists",
]

Rectangles = NDArray[np.int64]
"""x0, y0, x1, y1 of each rectangle, in placement order: (n, 4)."""

_SIZES: Final = st.integers(12, 48)
_LENGTHS: Final = st.integers(0, 6)
_DEFAULTS: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "height": _SIZES,
    "width": _SIZES,
    "n_rectangles": st.integers(1, 8),
    "n_vis": _LENGTHS,
    "n_gap": _LENGTHS,
    "n_par": _LENGTHS,
    "min_size": st.sampled_from([0.0, 0.1, 0.125, 0.25, 0.5]) | st.floats(0.0, 0.5),
    "trials": st.sampled_from([1, 20, 200]),
    "blur": st.sampled_from([0.0, 0.5, 0.7, 1.0, 4.0]) | st.floats(0.0, 4.0),
    "mode": st.sampled_from(MODES),
    "difficulty": st.booleans(),
}


@dataclass(frozen=True, kw_only=True)
class GeneratedSample:
    """A sample and all that it is a function of."""

    config: RdeConfig
    seed: int
    split: str
    index: int
    sample: dict[str, NDArray[Any]]
    """The arrays by name, as in a row of the file."""

    @property
    def n(self) -> int:
        """The number of rectangles that were placed."""
        return int(self.sample["n_rectangles"])

    @property
    def rectangles(self) -> Rectangles:
        """The rectangles that were placed, without the unused rows: (n, 4)."""
        return np.array(self.sample["rectangles"][: self.n], np.int64)


@st.composite
def configs(draw: st.DrawFn, /, **settings: Any) -> RdeConfig:
    """Settings of small scenes, each one drawn by itself: square or not, crowded or roomy.

    Parameters
    ----------
    **settings
        Settings of `RdeConfig` to hold fixed, or to draw from the strategy given.

    Examples
    --------
    >>> configs(mode="rules", n_vis=6, n_par=st.integers(0, 5))  # doctest: +SKIP
    """
    values = {name: drawn(draw, wanted) for name, wanted in {**_DEFAULTS, **settings}.items()}
    if "n_colors" not in values:
        least = values["n_rectangles"]
        values["n_colors"] = draw(st.none() | st.integers(least, min(least + 6, MAX_RECTANGLES)))
    return RdeConfig(**values)


@st.composite
def rectangle_lists(
    draw: st.DrawFn,
    *,
    height: int,
    width: int,
    min_rectangles: int = 1,
    max_rectangles: int = 8,
    beyond: int = 0,
) -> Rectangles:
    """Any rectangles in a picture, as few of them generic as possible.

    All sides lie on a few lines, the borders often among them. So rectangles share sides, meet at
    their corners, miss each other by one pixel and hide each other wholly.

    Parameters
    ----------
    height, width
        Size of the picture.
    min_rectangles, max_rectangles
        Least and greatest number of rectangles.
    beyond
        Pixels by which a rectangle may reach over the border.
    """
    n = draw(st.integers(min_rectangles, max_rectangles))
    low, high = zip(
        *(_intervals(draw, n, -beyond, size + beyond) for size in (width, height)), strict=True
    )
    return np.stack([*low, *high], axis=1)


def _intervals(draw: st.DrawFn, n: int, first: int, last: int) -> tuple[Any, Any]:
    """The lower and upper ends of n intervals between few lines."""
    border = st.sampled_from([first, last])
    few = st.lists(border | st.integers(first, last), min_size=2, max_size=7, unique=True)
    lines = sorted(draw(few))
    ends = st.lists(st.sampled_from(range(len(lines))), min_size=2, max_size=2, unique=True)
    places = np.sort(np.reshape([draw(ends) for _ in range(n)], (n, 2)), axis=1)
    taken = np.array(lines, np.int64)[places.astype(np.int64)]
    return taken[:, 0], taken[:, 1]


@st.composite
def candidates(draw: st.DrawFn, config: RdeConfig, rectangles: Rectangles) -> NDArray[np.int64]:
    """A next rectangle for a scene, at distances that the placement rules tell apart.

    Each side lies within ``max(n_vis, n_gap, n_par) + 1`` pixels of a border of the picture or of a
    parallel side of an earlier rectangle; it is never empty.
    """
    reach = max(config.n_vis, config.n_gap, config.n_par) + 1
    sides = []
    for axis, size in ((0, config.width), (1, config.height)):
        anchors = st.sampled_from([0, size, *rectangles[:, axis::2].ravel().tolist()])
        a, b = (
            min(max(draw(anchors) + draw(st.integers(-reach, reach)), 0), size) for _ in range(2)
        )
        if a == b:
            a, b = (a, a + 1) if a < size else (a - 1, a)
        sides.append((min(a, b), max(a, b)))
    (x0, x1), (y0, y1) = sides
    return np.array([x0, y0, x1, y1], np.int64)


@st.composite
def nudged(
    draw: st.DrawFn, rectangles: Rectangles, *, height: int, width: int, most: int = 2
) -> Rectangles:
    """The scene with one side of one rectangle off by up to ``most`` pixels, inside the picture."""
    scene = np.array(rectangles, np.int64)
    k, side = draw(st.integers(0, len(scene) - 1)), draw(st.integers(0, 3))
    size = (width, height)[side % 2]
    first = 0 if side < 2 else int(scene[k, side - 2]) + 1
    last = int(scene[k, side + 2]) - 1 if side < 2 else size
    scene[k, side] = min(max(int(scene[k, side]) + draw(st.integers(-most, most)), first), last)
    return scene


@st.composite
def generated_samples(
    draw: st.DrawFn, config: RdeConfig | st.SearchStrategy[RdeConfig] | None = None
) -> GeneratedSample:
    """A sample as the generator makes it, with its config, seed, split and index.

    Parameters
    ----------
    config
        The settings, or a strategy for them; `configs` unless stated.
    """
    taken: RdeConfig = drawn(draw, configs() if config is None else config)
    seed, split, index = draw(seeds()), draw(splits()), draw(st.integers(0, 2**31))
    try:
        block = generate_block(taken, seed, split, index, 1)
    except SynthprobeError:  # settings by which next to no scene can be kept
        reject()
    sample = {name: rows[0] for name, rows in block.items()}
    return GeneratedSample(config=taken, seed=seed, split=split, index=index, sample=sample)


def certified_scenes(
    config: RdeConfig | st.SearchStrategy[RdeConfig] | None = None,
) -> st.SearchStrategy[tuple[RdeConfig, Rectangles]]:
    """A config of mode ``"certified"`` and the rectangles of a scene that has its certificate."""
    if config is None:
        config = configs(mode="certified")
    return generated_samples(config).map(lambda drawn: (drawn.config, drawn.rectangles))
