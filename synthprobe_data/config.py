"""What the configs of all datasets have in common: declared ranges, checked in one place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from synthprobe_data.errors import SynthprobeError


def option(
    default: Any, low: float, high: float, meaning: str, *, least_of: str | None = None
) -> Any:
    """A setting with its range, both ends included; whole numbers when ``low`` is one.

    A setting whose default is ``None`` may also be ``None``. With ``least_of``, it is the least
    that the setting of that name may come out as, and the command spells the two ``3..10``.
    """
    metadata = {"low": low, "high": high, "help": meaning, "least_of": least_of}
    return dataclasses.field(default=default, metadata=metadata)


def choice(default: str, values: tuple[str, ...]) -> Any:
    """A setting that is one of some words."""
    return dataclasses.field(default=default, metadata={"choices": values})


def words(default: str, values: tuple[str, ...], read: Callable[[Path], Any], meaning: str) -> Any:
    """A setting that is one of some words, or what ``read`` finds in a file."""
    metadata = {"words": values, "read": read, "help": meaning}
    return dataclasses.field(default=default, metadata=metadata)


class Config:
    """Base of the frozen dataclasses that hold the settings of a dataset."""

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Raise `SynthprobeError` for the first setting that is out of its range."""
        for setting in options(type(self)):
            value = getattr(self, setting.name)
            if value is None and setting.default is None:
                continue
            low, high = setting.metadata["low"], setting.metadata["high"]
            whole = isinstance(low, int)
            fits = isinstance(value, int if whole else (int, float))
            if isinstance(value, bool) or not fits or not low <= value <= high:
                kind = "a whole number" if whole else "a number"
                raise SynthprobeError(
                    f"{setting.name} is {value!r}: it must be {kind} from {low} to {high}."
                )

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values."""
        return dataclasses.asdict(self)  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Self:
        """The config with these settings; unknown names are refused."""
        known = {setting.name for setting in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for name in settings:
            if name not in known:
                raise SynthprobeError(f"{name!r} is not a setting of {cls.__name__}.")
        return cls(**settings)


def worded(config: type[Config]) -> list[dataclasses.Field[Any]]:
    """The settings of a config that are a word, or the content of a file."""
    return [f for f in dataclasses.fields(config) if "words" in f.metadata]  # type: ignore[arg-type]


def least_settings(config: type[Config]) -> dict[str, str]:
    """By the name of a setting that may vary: the setting that says how little it may be."""
    named = ((f.metadata["least_of"], f.name) for f in options(config))
    return {name: least for name, least in named if name is not None}


def option_words(config: Config, other: Config) -> list[str]:
    """What a command says to have the ranged settings of ``config`` instead of ``other``'s."""
    least = least_settings(type(config))
    words = []
    for setting in options(type(config)):
        name = setting.name
        if name in least.values():
            continue  # said together with the setting that it belongs to
        names = [name, least[name]] if name in least else [name]
        value = getattr(config, name)
        if value is None or all(getattr(config, n) == getattr(other, n) for n in names):
            continue
        low = getattr(config, least[name]) if name in least else None
        words += ["--" + name.replace("_", "-"), f"{value}" if low is None else f"{low}..{value}"]
    return words


def options(config: type[Config]) -> list[dataclasses.Field[Any]]:
    """The settings of a config that have a declared range."""
    return [f for f in dataclasses.fields(config) if "low" in f.metadata]  # type: ignore[arg-type]
