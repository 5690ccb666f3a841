"""Options that take several words, wherever they stand, and the keys that such words may have.

This module needs only the standard library until help is asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from synthprobe_data.command_line import Parser

TABLES: Final = (1, 2, 3)
"""The numbers of the paper's tables."""


def _is_pair(word: str) -> bool:
    return "=" in word


def _is_no_table(word: str) -> bool:
    return word not in map(str, TABLES)


LISTS: Final[Mapping[str, Callable[[str], bool]]] = {
    "--data": _is_pair,
    "--settings": _is_pair,
    "--options": _is_pair,
    "--optimizer-options": _is_pair,
    "--schedule-options": _is_pair,
    "--rows": _is_no_table,
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
    return [line for probe in _CONFIGS for line in _data_keys(probe, probe)]


def table_keys() -> list[str]:
    """The keys of ``--data`` and ``--settings`` for every table."""
    from synthprobe_models.settings import TrainSettings

    lines: list[str] = []
    for number, probe in zip(TABLES, _CONFIGS, strict=True):
        lines += _data_keys(f"table {number}, {probe}", probe)
    decided = ("name", "probe", "seed", "options")
    return [*lines, "keys of --settings:", *_fields(TrainSettings, leave_out=decided)]


_CONFIGS: Final = ("rde", "centered-square", "color-code")
"""The probes, in the order of the paper's tables."""


def _data_keys(heading: str, probe: str) -> Iterator[str]:
    from synthprobe_data import DATASETS
    from synthprobe_data.color_code.config import MODES as CODE_MODES
    from synthprobe_data.rde.config import MODES as RDE_MODES

    modes = {"rde": RDE_MODES, "color-code": CODE_MODES}.get(probe, ())
    yield f"keys of --data ({heading}):"
    yield from _fields(DATASETS[probe].config, modes=modes)


_WORDS: Final = {
    "optimizer": "as --optimizer of train",
    "schedule": "as --schedule of train",
    "loss": "as --loss of train",
    "precision": "float32 or bfloat16",
    "optimizer_options": 'as JSON, such as {"lookahead": 0}',
    "schedule_options": 'as JSON, such as {"floor": 0.1}',
    "difficulty": "true: also how hard each sample is",
}
"""What settings without a range are."""


def _fields(
    config: type[Any], *, modes: Sequence[str] = (), leave_out: Sequence[str] = ()
) -> Iterator[str]:
    for setting in dataclasses.fields(config):
        if setting.name in leave_out:
            continue
        meaning = setting.metadata.get("help") or _WORDS.get(setting.name, "")
        if setting.name == "mode":
            meaning = f"one of {', '.join(modes)}"
        if setting.metadata:
            meaning += f" ({setting.metadata['low']} to {setting.metadata['high']})"
        yield f"  {setting.name:<18} {meaning}"
