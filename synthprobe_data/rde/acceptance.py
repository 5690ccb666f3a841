"""How many scenes meet what is demanded of them: before a run, and for the card.

Before a run, some hundred or thousand scenes are drawn from a stream of their own, for each number
of rectangles that a sample may ask for. If hardly any meets the demands, the run would not end, or
hardly; so it is refused, with what scenes of these settings do reach.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel
from synthprobe_data.random import open_stream, stream_key
from synthprobe_data.rde.config import HUES, RdeConfig
from synthprobe_data.rde.demands import (
    DEMANDS,
    demand_nothing,
    demand_words,
    demanded,
    meet_demands,
)
from synthprobe_data.rde.generate import (
    DATASET,
    EASY,
    EMPTY,
    FLAT,
    KEPT,
    TALLIED,
    UNDECIDED_SCENES,
    UNREADABLE_SCENES,
    UNSTABLE_SCENES,
    Workspace,
    draw_once,
    prepare,
)
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.kernels.place import Settings, draw_number
from synthprobe_data.tally import Tally

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

_SCENES: Final = 10_000
"""Scenes drawn beforehand, at most, for all numbers of rectangles together."""
_LEAST_SCENES: Final = 1_000
"""For one number of rectangles."""
_TRIALS: Final = 20_000_000
"""Unsuccessful trials that may be spent on them, so that many trials mean fewer scenes."""
_STEP: Final = 500
_ENOUGH: Final = 20
"""No more are drawn when so many have met the demands."""
_FEW: Final = 5
"""Fewer of `_SCENES` are too few: a sample could then not be made now and then."""
_SELDOM: Final = 0.05
"""A share below which it is said beforehand."""
_COUNTED: Final = 20_000
"""Scenes drawn again for the card, at most, of each split."""

_SCENE_VERDICTS: Final = {
    "kept": (KEPT,),
    "without the certificate": (UNREADABLE_SCENES, UNDECIDED_SCENES, UNSTABLE_SCENES),
    "of one rank only": (FLAT,),
    "not as hard as demanded": (EASY,),
    "empty": (EMPTY,),
}


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """What became of the scenes of one number of rectangles."""

    number: int
    """Rectangles asked for."""
    scenes: int
    """Scenes that could be kept otherwise."""
    met: int
    """Of these, the ones that meet the demands."""
    most: dict[str, int]
    """The greatest that was seen of each demanded figure, by the name of the setting."""
    tenth: dict[str, int]
    """What a tenth of the scenes reaches."""

    @property
    def share(self) -> float:
        """The share that meets the demands."""
        return self.met / self.scenes if self.scenes else 0.0

    @property
    def is_hopeless(self) -> bool:
        """Whether so few meet the demands that a run might not end."""
        return self.met < _FEW and self.met < _ENOUGH * self.scenes / _SCENES


def check_accepted(config: RdeConfig) -> str | None:
    """What to expect of demands; `SynthprobeError` if hardly a scene meets them."""
    if not demanded(config):
        return None
    found = look_for(config)
    hopeless = [one for one in found if one.is_hopeless]
    if hopeless:
        raise SynthprobeError(_too_much(config, hopeless[0]))
    least = min(found, key=lambda one: one.share)
    if least.share >= _SELDOM:
        return None
    return (
        f"about {round(1 / least.share):,} scenes to be drawn for each sample, as "
        f"{least.share:.2%} of them meet {demand_words(config)}"
    )


def _too_much(config: RdeConfig, found: Acceptance) -> str:
    of = f" of {found.number} rectangles" * (config.min_rectangles is not None)
    reached = ", ".join(
        f"{DEMANDS[name].replace('_', ' ')} {found.most[name]} at most and {found.tenth[name]} in "
        "a tenth of them"
        for name in found.most
    )
    return (
        f"{found.met} of {found.scenes:,} scenes{of} drawn with these settings meet "
        f"{demand_words(config)}; what they reach: {reached or 'nothing'}. Give less, or other "
        "settings."
    )


@functools.lru_cache(maxsize=64)
def look_for(config: RdeConfig) -> tuple[Acceptance, ...]:
    """Draw scenes of each number of rectangles, and see how many meet the demands."""
    numbers = range(config.least_rectangles, config.n_rectangles + 1)
    most = max(_LEAST_SCENES, _SCENES // len(numbers))
    most = max(10, min(most, _TRIALS // config.trials // len(numbers)))
    return tuple(_look_for(config, number, most) for number in numbers)


def _look_for(config: RdeConfig, number: int, most: int) -> Acceptance:
    free = dataclasses.replace(
        demand_nothing(config),
        difficulty=False,
        n_rectangles=number,
        min_rectangles=None,
        # Colours have no influence on scenes, and a list may have another number of them.
        n_colors=None,
        palette=HUES,
    )
    names = demanded(config)
    figures: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    scenes = met = drawn = 0
    while drawn < most and met < _ENOUGH:
        count = min(_STEP, most - drawn)
        rectangles, sizes = _draw(free, drawn, count)
        drawn += count
        found = difficulty_block(rectangles, sizes, height=config.height, width=config.width)
        scenes += len(sizes)
        met += int(meet_demands(config, found).sum())
        for name in names:
            figures[name].append(found[DEMANDS[name]])
    values = {name: np.sort(np.concatenate(parts)) for name, parts in figures.items()}
    return Acceptance(
        number=number,
        scenes=scenes,
        met=met,
        most={name: int(v[-1]) for name, v in values.items() if len(v)},
        tenth={
            name: int(v[math.floor(0.9 * (len(v) - 1))]) for name, v in values.items() if len(v)
        },
    )


def _draw(config: RdeConfig, start: int, count: int) -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
    """Scenes that could be kept, of so many that are drawn."""
    prepared = prepare(config)
    rectangles = np.full((count, config.n_rectangles, 4), -1, np.int16)
    numbers = np.zeros(count, np.uint8)
    _draw_each(
        prepared.settings,
        stream_key(0, DATASET, "acceptance"),
        start,
        prepared.workspace,
        np.zeros(TALLIED, np.int64),
        rectangles,
        numbers,
    )
    return rectangles[numbers > 0], numbers[numbers > 0]


@kernel
def _draw_each(
    settings: Settings,
    key: NDArray[np.uint64],
    start: int,
    work: Workspace,
    tally: NDArray[np.int64],
    rectangles: NDArray[np.int16],
    numbers: NDArray[np.uint8],
) -> None:
    """Draw one scene for each row, of the largest number; 0 rectangles if it cannot be kept."""
    for s in range(len(numbers)):
        open_stream(work.stream, key, start + s)
        numbers[s] = draw_once(settings, settings.n_rectangles, work, tally)
        for i in range(numbers[s]):
            for side in range(4):
                rectangles[s, i, side] = work.sides[side, i]


def draws_tally(data: OpenDataset) -> Tally | None:
    """What became of the scenes of the first samples, drawn again; ``None`` without demands."""
    config: Any = data.config
    if not demanded(config):
        return None
    counts = {}
    for split, size in data.splits.items():
        tally = count_draws(config, data.seed, split, size)
        counts[split] = {
            name: int(tally[list(places)].sum()) for name, places in _SCENE_VERDICTS.items()
        }
    return acceptance_tally(counts, demand_words(config))


def acceptance_tally(counts: dict[str, dict[str, int]], demands: str) -> Tally:
    """The table of the card, of what was counted in each split; ``kept`` is the acceptance."""
    return Tally(
        title="Scenes that were drawn",
        value="the scene was",
        of="scenes",
        counts=counts,
        note=(
            f"A scene that does not meet {demands} is drawn again. The share of those that are "
            f"kept is the acceptance rate. Counted on up to {_COUNTED:,} scenes of each split, "
            "drawn again for its first samples."
        ),
    )


def count_draws(config: RdeConfig, seed: int, split: str, samples: int) -> NDArray[np.int64]:
    """Draw the scenes of the first samples of a split again, and tally them."""
    prepared = prepare(config)
    tally = np.zeros(TALLIED, np.int64)
    _count_draws(
        prepared.settings,
        stream_key(seed, DATASET, split),
        samples,
        max(10, min(_COUNTED, _TRIALS // config.trials)),
        prepared.workspace,
        tally,
    )
    return tally


@kernel
def _count_draws(
    settings: Settings,
    key: NDArray[np.uint64],
    samples: int,
    most: int,
    work: Workspace,
    tally: NDArray[np.int64],
) -> None:
    """Tally the scenes of sample after sample, as `generate.draw_scene` draws them."""
    drawn = 0
    for s in range(samples):
        open_stream(work.stream, key, s)
        asked = draw_number(work.stream, settings)
        n = 0
        while n == 0 and drawn < most:
            n = draw_once(settings, asked, work, tally)
            drawn += 1
        if drawn >= most:
            return
