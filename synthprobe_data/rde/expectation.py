"""What to say before a run: what its scenes will be like, or why there is no point in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

from synthprobe_data.config import option_words
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.acceptance import check_accepted
from synthprobe_data.rde.config import CANONICAL, MAX_SIZE, RdeConfig
from synthprobe_data.rde.outlook import Outlook, look_ahead
from synthprobe_data.rde.readable import check_certifiable

_LENGTHS: Final = ("n_vis", "n_gap", "n_par")
_SHORTER: Final = (3, 2, 1)
_FEWER: Final = (6, 4, 3)
_LARGER: Final = (1.5, 2, 3, 4, 6, 8, 12, 16)
_SIZE_STEP: Final = 8


def check_expected(config: RdeConfig, splits: Mapping[str, int]) -> str | None:
    """Look ahead at what samples of these settings will be like.

    Returns
    -------
    str or None
        A sentence, if it falls short of what was asked for. `SynthprobeError` if hardly a scene
        would have an order to find, or if there are fewer distinct scenes than samples; it names
        settings that would do.
    """
    if config == CANONICAL:
        return None
    seldom = check_accepted(config)
    outlook = look_ahead(config)
    if outlook is None:  # then the run says which sample could not be made
        return seldom and f"expect {seldom}."
    samples = sum(splits.values())
    if outlook.is_degenerate:
        raise SynthprobeError(f"{_flat(config, outlook)}; {_instead(config, samples)}.")
    if outlook.distinct < samples:
        raise SynthprobeError(
            f"there are only about {_rounded(outlook.distinct)} distinct samples of these "
            f"settings, fewer than the {samples:,} asked for; {_instead(config, samples)}."
        )
    said = [] if seldom is None else [seldom]
    if outlook.is_short or outlook.is_mostly_flat:
        said.append(_counts(outlook))
    if outlook.repeats(samples) >= 1:
        said.append(
            f"about {_rounded(outlook.repeats(samples))} of the {samples:,} samples equal to "
            "another, which verify reports"
        )
    if not said:
        return None
    sentence = f"expect {', and '.join(said)}"
    if outlook.is_short:
        sentence += f"; a larger picture, or smaller {_names(_LENGTHS)}, has room for more"
    elif not config.require_order and outlook.is_mostly_flat:
        sentence += "; --require-order draws again until two ranks occur"
    return f"{sentence}."


def _flat(config: RdeConfig, outlook: Outlook) -> str:
    if config.require_order:
        return (
            f"none of {_looked_at(config)} scenes drawn with these settings has two ranks, which "
            "require_order asks for"
        )
    return f"with these settings there is hardly an order to find: expect {_counts(outlook)}"


def _looked_at(config: RdeConfig) -> int:
    """How many scenes were looked at, those that `require_order` refuses among them."""
    free = look_ahead(dataclasses.replace(config, require_order=False))
    return 0 if free is None else free.scenes


def _counts(outlook: Outlook) -> str:
    """How many rectangles, and how many scenes without an order."""
    span = f"{outlook.least} to {outlook.most}"
    if outlook.least == outlook.most:
        span = "in every scene"
    asked = f"{outlook.asked}"
    if outlook.asked_least < outlook.asked:
        asked = f"{outlook.asked_least} to {outlook.asked} (on average {outlook.wanted:g})"
    return (
        f"{outlook.mean:.1f} of the {asked} rectangles asked for on average ({span}), and "
        f"{outlook.flat:.0%} of the scenes flat (all rectangles of one rank)"
    )


def _instead(config: RdeConfig, samples: int) -> str:
    """Settings near these that would do, each of them tried."""
    tried = [
        _first_that_does(_roomier(config), samples) or _first_that_does(_both(config), samples),
        _first_that_does(_larger(config), samples),
    ]
    found = [
        f"{_options(config, other)} ({look.mean:.1f} rectangles, {look.flat:.0%} flat)"
        for other, look in filter(None, tried)
    ]
    if not config.require_order and config.n_rectangles > 1:
        ordered = look_ahead(dataclasses.replace(config, require_order=True))
        if ordered and ordered.flat < 1 and ordered.repeats(samples) < 1:
            found.append(f"--require-order ({ordered.mean:.1f} rectangles, none flat)")
    if not found:
        return (
            f"give a larger picture, smaller {_names(_LENGTHS)}, fewer rectangles or fewer samples"
        )
    return f"what would do: {', or '.join(found)}"


def _first_that_does(
    candidates: Iterator[RdeConfig], samples: int
) -> tuple[RdeConfig, Outlook] | None:
    for config in candidates:
        outlook = look_ahead(config)
        if (
            outlook is not None
            and not (outlook.is_short or outlook.is_mostly_flat or outlook.flat == 1)
            and outlook.repeats(samples) < 1
        ):
            return config, outlook
    return None


def _roomier(config: RdeConfig) -> Iterator[RdeConfig]:
    """In the same picture: smaller lengths, then also fewer rectangles; more, if it is one."""
    for number in _numbers(config):
        yield from _changed(config, n_rectangles=number)
        for length in _SHORTER:
            lengths = {name: min(getattr(config, name), length) for name in _LENGTHS}
            yield from _changed(config, n_rectangles=number, **lengths)


def _numbers(config: RdeConfig) -> list[int]:
    numbers = [config.n_rectangles, *(n for n in _FEWER if n < config.n_rectangles)]
    return numbers if config.n_rectangles >= min(_FEWER) else [*numbers, *reversed(_FEWER)]


def _larger(config: RdeConfig) -> Iterator[RdeConfig]:
    """The same in larger pictures."""
    for factor in _LARGER:
        height, width = (
            min(MAX_SIZE, -(-int(size * factor) // _SIZE_STEP) * _SIZE_STEP)
            for size in (config.height, config.width)
        )
        yield from _changed(config, height=height, width=width)


def _both(config: RdeConfig) -> Iterator[RdeConfig]:
    """A little larger, with smaller lengths and fewer rectangles."""
    lengths = {name: min(getattr(config, name), min(_SHORTER) + 1) for name in _LENGTHS}
    for larger in _larger(config):
        for number in _numbers(config):
            yield from _changed(larger, n_rectangles=number, **lengths)


def _changed(config: RdeConfig, **settings: Any) -> Iterator[RdeConfig]:
    """The config with other settings, if they are allowed."""
    if config.n_colors is not None and settings.get("n_rectangles", 0) > config.n_colors:
        settings["n_colors"] = None
    if (config.min_rectangles or 0) >= settings.get("n_rectangles", config.n_rectangles):
        settings["min_rectangles"] = None
    try:
        changed = dataclasses.replace(config, **settings)
        check_certifiable(changed)
    except SynthprobeError:
        return
    if changed != config:
        yield changed


def _options(config: RdeConfig, other: RdeConfig) -> str:
    """The options of the command that differ."""
    return " ".join(option_words(other, config))


def _rounded(number: float) -> str:
    """Two digits that count."""
    return f"{float(f'{number:.2g}'):,.0f}"


def _names(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
