"""Options that take several words, wherever they stand, and the keys that such words may have.

This module needs only the standard library until help is asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from synthprobe_data import Parser
from synthprobe_models.experiments import TABLES
from synthprobe_models.training.loggers import LOGGERS


def _is_pair(word: str) -> bool:
    return "=" in word


def _is_no_table(word: str) -> bool:
    return word not in map(str, TABLES)


def _is_logger(word: str) -> bool:
    return word in LOGGERS


def _is_rate(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return _is_no_table(word)


LISTS: Final[Mapping[str, Callable[[str], bool]]] = {
    "--data": _is_pair,
    "--settings": _is_pair,
    "--options": _is_pair,
    "--optimizer-options": _is_pair,
    "--schedule-options": _is_pair,
    "--loss-options": _is_pair,
    "--augmentation": _is_pair,
    "--rows": _is_no_table,
    "--log-to": _is_logger,
    "--rates": _is_rate,
}
"""By option: whether a word after its first one is one more of it."""


def spread(words: Sequence[str]) -> list[str]:
    """The words of a command, with each option of several words given once for each.

    ``--data a=1 b=2 3`` becomes ``--data=a=1 --data=b=2 3``: what cannot belong to the option
    is left to the command. Its parser would hand all words to the option.

    Parameters
    ----------
    words
        Of a command.
    """
    found: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*found, word, *rest]
        flag, given, value = word.partition("=")
        belongs = LISTS.get(flag)
        if belongs is None or not (given or (rest and not rest[0].startswith("-"))):
            found.append(word)
            continue
        found.append(f"{flag}={value if given else rest.pop(0)}")
        while rest and not rest[0].startswith("-") and belongs(rest[0]):
            found.append(f"{flag}={rest.pop(0)}")
    return found


class KeysParser(Parser):
    """A parser whose help ends with what is only looked up when it is asked for."""

    keys: Callable[[], Sequence[str]] | None = None
    """Makes the last lines of the help."""

    def format_help(self) -> str:
        """The help, and those lines."""
        text = super().format_help()
        return text if self.keys is None else "\n".join([text, *self.keys(), ""])


def stream_keys() -> list[str]:
    """The keys of ``--data`` for every probe."""
    from synthprobe_models.probes import PROBES

    return [line for probe in PROBES for line in _data_keys(probe, probe)]


def table_keys() -> list[str]:
    """The keys of ``--data`` and ``--settings`` for every table."""
    from synthprobe_models.experiments.table import find_table
    from synthprobe_models.training.settings import TrainSettings

    lines: list[str] = []
    for number in TABLES:
        probe = find_table(number).probe
        lines += _data_keys(f"table {number}, {probe}", probe)
    decided = ("name", "probe", "seed", "options")
    return [*lines, "keys of --settings:", *_fields(TrainSettings, leave_out=decided)]


def _data_keys(heading: str, probe: str) -> Iterator[str]:
    from synthprobe_data import DATASETS

    yield f"keys of --data ({heading}):"
    config, flags = DATASETS[probe].config, DATASETS[probe].flags
    meanings = {flag.setting: f"true: {flag.meaning}" for flag in flags if flag.value is True}
    for name in {flag.setting for flag in flags} - set(meanings):
        words = [getattr(config(), name), *(f.value for f in flags if f.setting == name)]
        meanings[name] = f"one of {', '.join(words)}"
    yield from _fields(config, meanings=meanings)


_WORDS: Final = {
    "optimizer": "as --optimizer of train",
    "schedule": "as --schedule of train",
    "loss": "as --loss of train",
    "frame": "as --frame of train",
    "precision": "float32 or bfloat16",
    "optimizer_options": 'as JSON, such as {"lookahead": 0}',
    "schedule_options": 'as JSON, such as {"floor": 0.1}',
    "loss_options": 'as JSON, such as {"weight": 0.25}',
    "augmentation": 'as JSON, such as {"flip": 0.5}',
}
"""What the settings of a run without a range are."""


def _fields(
    config: type[Any], *, leave_out: Sequence[str] = (), meanings: Mapping[str, str] = _WORDS
) -> Iterator[str]:
    for setting in dataclasses.fields(config):
        if setting.name in leave_out:
            continue
        meaning = setting.metadata.get("help") or meanings.get(setting.name, "")
        if "choices" in setting.metadata:
            meaning = f"one of {', '.join(setting.metadata['choices'])}"
        if "low" in setting.metadata:
            meaning += f" ({setting.metadata['low']} to {setting.metadata['high']})"
        yield f"  {setting.name:<18} {meaning}"
