"""What scenes of some settings will be like, from a few that are drawn beforehand.

Rectangles that find no room are left out, so a scene may have fewer than were asked for, down to
one. That is seen on a few hundred scenes; they are drawn from a split of their own and not
rendered, which takes a fraction of a second.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.random import open_stream, stream_key
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.demands import demand_nothing, demanded, meet_demands
from synthprobe_data.rde.generate import DATASET, TALLIED, Workspace, draw_once, prepare
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.kernels.grid import compress
from synthprobe_data.rde.kernels.place import Settings, draw_number, place_next
from synthprobe_data.rde.kernels.ranks import is_flat

SPLIT: Final = "outlook"
SCENES: Final = 400
_FEW_SCENES: Final = 10
"""Fewer say nothing."""
_TRIALS: Final = 400_000
"""Unsuccessful trials that may be spent on all scenes, so that many trials mean fewer scenes."""
_MORE_SCENES: Final = 1600
_MOST_SCENES: Final = 8000
"""Where scenes must be hard, until enough of them are."""
_NEARLY: Final = 0.1
"""More scenes are drawn where the share of flat ones is so close to a half."""
_CHANCES: Final = 200
"""Scenes of which the probability is estimated."""
_COLOR_BITS: Final = 16
"""A colour of its own is one of at least two to the power of this."""
_ENOUGH: Final = 0.95
"""The share of the rectangles asked for below which scenes fall short."""
_FAR_TOO_FEW: Final = 0.8
"""The share below which it is the lack of room that makes scenes flat."""


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What to expect of a sample."""

    scenes: int
    """How many scenes this was seen on."""
    asked: int
    """Rectangles asked for, at most."""
    asked_least: int
    """Rectangles asked for, at least: each sample draws its number."""
    mean: float
    least: int
    most: int
    """Rectangles in a scene."""
    flat: float
    """The share of scenes in which all rectangles have one rank."""
    alike: float
    """The probability that two samples are equal, colours included."""

    @property
    def is_short(self) -> bool:
        """Whether scenes have clearly fewer rectangles than were asked for."""
        return self.mean < _ENOUGH * self.wanted

    @property
    def wanted(self) -> float:
        """Rectangles asked for on average."""
        return (self.asked_least + self.asked) / 2

    @property
    def is_mostly_flat(self) -> bool:
        """Whether most scenes are flat, by more than two standard errors of the share."""
        return self.flat - 1 / math.sqrt(self.scenes) > 0.5

    @property
    def is_degenerate(self) -> bool:
        """Whether there is hardly an order to find: no scene has one, or most lack the room.

        Of two rectangles, about half of the scenes are flat wherever they have all the room; who
        asks for two gets what was asked for.
        """
        return self.flat == 1 or (self.is_mostly_flat and self.mean < _FAR_TOO_FEW * self.wanted)

    @property
    def distinct(self) -> float:
        """As if there were so many distinct samples, all equally likely."""
        return 1 / self.alike if self.alike else math.inf

    def repeats(self, samples: int) -> float:
        """How many pairs of equal samples to expect among so many."""
        return samples * (samples - 1) / 2 * self.alike


@functools.lru_cache(maxsize=64)
def look_ahead(config: RdeConfig) -> Outlook | None:
    """Draw some scenes and see what they are like; ``None`` if hardly any can be kept."""
    # Blur, colours and the columns of difficulty have no influence on the scenes.
    free = dataclasses.replace(demand_nothing(config), require_order=False, difficulty=False)
    count = max(_FEW_SCENES, min(SCENES, _TRIALS // config.trials))
    drawn = _draw(free, 0, count)
    if len(drawn) < _FEW_SCENES:
        return None
    if count == SCENES and abs(drawn.flat.mean() - 0.5) < _NEARLY:
        drawn += _draw(free, count, _MORE_SCENES - count)
        count = _MORE_SCENES
    kept = drawn.ordered() if config.require_order else drawn
    if demanded(config):
        kept = drawn.demanded(config)
        while len(kept) < _FEW_SCENES and count < _MOST_SCENES:
            drawn += _draw(free, count, SCENES)
            count += SCENES
            kept = drawn.demanded(config)
        if len(kept) < _FEW_SCENES:
            return None
    numbers = kept.numbers if len(kept) else np.zeros(1, np.uint8)
    return Outlook(
        scenes=len(kept),
        asked=config.n_rectangles,
        asked_least=config.least_rectangles,
        mean=float(numbers.mean()),
        least=int(numbers.min()),
        most=int(numbers.max()),
        flat=float(kept.flat.mean()) if len(kept) else 1.0,
        alike=_alike(config, kept, count),
    )


@dataclass(frozen=True)
class _Drawn:
    """Scenes that could be kept."""

    numbers: NDArray[np.uint8]
    flat: NDArray[np.bool_]
    rectangles: NDArray[np.int16]
    kept: NDArray[np.int64]
    """Their indices."""

    def __len__(self) -> int:
        return len(self.numbers)

    def __add__(self, other: _Drawn) -> _Drawn:
        return _Drawn(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.flat, other.flat]),
            np.concatenate([self.rectangles, other.rectangles]),
            np.concatenate([self.kept, other.kept]),
        )

    def ordered(self) -> _Drawn:
        """Those with two ranks."""
        return self._those(~self.flat)

    def demanded(self, config: RdeConfig) -> _Drawn:
        """Those that are as hard as is demanded, with two ranks where that is asked for."""
        found = difficulty_block(
            self.rectangles, self.numbers, height=config.height, width=config.width
        )
        met = meet_demands(config, found)
        return self._those(met & ~self.flat if config.require_order else met)

    def _those(self, some: NDArray[np.bool_]) -> _Drawn:
        return _Drawn(self.numbers[some], self.flat[some], self.rectangles[some], self.kept[some])


def _draw(config: RdeConfig, start: int, count: int) -> _Drawn:
    """Draw so many scenes; those that cannot be kept are left out, not drawn again."""
    prepared = prepare(config)
    numbers = np.zeros(count, np.uint8)
    flat = np.zeros(count, np.bool_)
    rectangles = np.full((count, config.n_rectangles, 4), -1, np.int16)
    _draw_scenes(
        prepared.settings,
        stream_key(0, DATASET, SPLIT),
        start,
        prepared.workspace,
        np.zeros(TALLIED, np.int64),
        numbers,
        flat,
        rectangles,
    )
    kept = numbers > 0
    return _Drawn(numbers[kept], flat[kept], rectangles[kept], start + np.flatnonzero(kept))


@kernel
def _draw_scenes(
    settings: Settings,
    key: NDArray[np.uint64],
    start: int,
    work: Workspace,
    tally: NDArray[np.int64],
    numbers: NDArray[np.uint8],
    flat: NDArray[np.bool_],
    rectangles: NDArray[np.int16],
) -> None:
    """Draw one scene for each row, the first that `generate_block` draws for that sample."""
    for s in range(len(numbers)):
        open_stream(work.stream, key, start + s)
        n = draw_once(settings, draw_number(work.stream, settings), work, tally)
        numbers[s] = n
        flat[s] = is_flat(work.rank, n)
        for i in range(n):
            for side in range(4):
                rectangles[s, i, side] = work.sides[side, i]


def _alike(config: RdeConfig, kept: _Drawn, count: int) -> float:
    """The probability that two samples are equal: the mean probability of a sample, of those kept.

    A rectangle is drawn from all that are accepted where it goes, each as likely as any other, and
    the candidates that it took say how many those are. So the probability of a scene is known from
    that scene alone, and equal ones need not be seen. It is taken too high for a scene that stopped
    short, as others may go on from there. Colours are drawn apart.
    """
    prepared = prepare(config)
    some = kept.kept[:_CHANCES]
    chance = np.zeros(len(some), np.float64)
    key = stream_key(0, DATASET, SPLIT)
    _find_chances(prepared.settings, key, prepared.workspace, some, chance)
    numbers = kept.numbers[:_CHANCES].tolist()
    if config.random_palette:
        colors = [2.0 ** (-_COLOR_BITS * n) for n in numbers]
    else:
        colors = [1 / math.perm(config.palette_size, n) for n in numbers]
    return float(np.mean(chance * colors)) / (len(kept) / count) if len(kept) else 0.0


@kernel
def _find_chances(
    settings: Settings,
    key: NDArray[np.uint64],
    work: Workspace,
    indices: NDArray[np.int64],
    chance: NDArray[np.float64],
) -> None:
    """Draw scenes once more, as `place` does, and estimate the probability of each.

    A candidate is two numbers of 0 to the size on each axis, in any order. That it took t of them
    to place a rectangle means, on average, that one in t is accepted.
    """
    numbers = settings.n_rectangles - settings.least_rectangles + 1
    of_one = 4.0 / float((settings.width + 1) * (settings.height + 1)) ** 2
    for i in range(len(indices)):
        open_stream(work.stream, key, indices[i])
        asked = draw_number(work.stream, settings)
        grid, trial, trials, product = work.grid, work.trial, settings.trials, 1.0 / numbers
        compress(work.sides, 0, settings.width, settings.height, grid)
        for n in range(asked):
            left = place_next(work.stream, settings, work.sides, n, grid, trial, trials)
            if left == 0:
                break
            product *= (trials - left + 1) * of_one
            trials = left
            grid, trial = trial, grid
        chance[i] = product
