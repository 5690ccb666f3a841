"""The settings of a run as a TOML file: read below the options that are given, and printed."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError, read_toml, toml_text
from synthprobe_models.data.source import STREAM, Source
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.settings import TrainSettings

_KEYS: Final[Mapping[str, type]] = {"name": str, "on": str, "data": dict, "settings": dict}


def take_config(given: argparse.Namespace) -> None:
    """Fill in what was not given from the config, if there is one.

    Parameters
    ----------
    given
        Of the command; gets ``from_config``, the settings, by their names.
    """
    given.from_config = {}
    if given.config is not None:
        table = _run_table(given.config) if given.config.is_dir() else read_toml(given.config)
        _check(given.config, table)
        given.from_config = dict(table.get("settings", {}))
        given.name = given.name or table.get("name")
        given.on = given.on or table.get("on")
        given.probe = given.probe or given.from_config.get("probe")
        if not given.data and str(given.on) == STREAM:
            pairs = table.get("data", {}).items()
            given.data = [f"{name}={json.dumps(value)}" for name, value in pairs]
    for name, value in (("NAME", given.name), ("--on", given.on)):
        if not value:
            given.parser.error(f"the following arguments are required: {name}")


def config_text(settings: TrainSettings, source: Source, on: str) -> str:
    """All that a run depends on, as TOML.

    Parameters
    ----------
    settings
        Of the run.
    source
        Its samples.
    on
        Where they are from.

    Returns
    -------
    str
        What `take_config` reads.
    """
    facts = settings.to_dict()
    table: dict[str, Any] = {"name": facts.pop("name"), "on": on}
    comment = "synthprobe-probe train --config THIS_FILE"
    if on == STREAM:
        table["data"] = source.facts.config.to_dict()
    else:
        comment += f"\nthe samples of {on} have the content digest {source.facts.content}"
    return toml_text({**table, "settings": facts}, comment=comment)


def _run_table(path: Path) -> dict[str, Any]:
    """The same table, of a run that there is."""
    settings = RunFolder(path).read_settings()
    if settings is None or not isinstance(settings.get("name"), str):
        raise SynthprobeError(f"{path} has no run whose settings could be taken.")
    rest = {key: value for key, value in settings.items() if key != "name" and value is not None}
    return {"name": settings["name"], "settings": rest}


def _check(path: Path, table: Mapping[str, Any]) -> None:
    """Raise `SynthprobeError` for what is no config of a run."""
    for key, value in table.items():
        if key not in _KEYS:
            raise SynthprobeError(
                f"{path}: {key!r} is no part of a config, which has {', '.join(_KEYS)}."
            )
        if not isinstance(value, _KEYS[key]):
            raise SynthprobeError(f"{path}: {key} is {value!r}, which is not of its type.")
    known = {field.name for field in dataclasses.fields(TrainSettings)} - {"name"}
    for key in table.get("settings", {}):
        if key not in known:
            raise SynthprobeError(f"{path}: {key!r} is not a setting of a run.")
