"""What the configs of all datasets have in common: declared ranges, checked in one place."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

from synthprobe_data.errors import SynthprobeError


def option(default: Any, low: float, high: float, meaning: str) -> Any:
    """A setting with its range, both ends included; whole numbers when ``low`` is one.

    A setting whose default is ``None`` may also be ``None``.
    """
    return dataclasses.field(default=default, metadata={"low": low, "high": high, "help": meaning})


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


def options(config: type[Config]) -> list[dataclasses.Field[Any]]:
    """The settings of a config that have a declared range."""
    return [f for f in dataclasses.fields(config) if f.metadata]  # type: ignore[arg-type]
