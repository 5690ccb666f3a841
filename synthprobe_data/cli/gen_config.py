"""The settings of a generation as a TOML file: read as defaults of the options, and printed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.toml import read_toml, toml_text

if TYPE_CHECKING:
    from synthprobe_data.config import Config
    from synthprobe_data.dataset import Dataset

SUFFIX: Final = ".toml"
_KEYS: Final = {"dataset": str, "version": str, "seed": int, "samples": dict, "settings": dict}


def add_config_options(command: argparse.ArgumentParser) -> None:
    """Add the two options to a command.

    Parameters
    ----------
    command
        Which generates one dataset.
    """
    command.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="take settings, seed and numbers of samples from a TOML file, as --print-config "
        "writes it, or from a dataset; options override it",
    )
    command.add_argument(
        "--print-config",
        action="store_true",
        help="print settings, seed and numbers of samples as TOML, and generate nothing",
    )


def config_text(dataset: Dataset, config: Config, *, seed: int, splits: Mapping[str, int]) -> str:
    """All that the samples depend on, as TOML.

    Parameters
    ----------
    dataset, config, seed, splits
        Of the samples.

    Returns
    -------
    str
        What `defaults_from` reads.
    """
    comment = f"synthprobe-gen {dataset.name} --config THIS_FILE --out {dataset.name}.h5"
    table = {
        "dataset": dataset.name,
        "version": dataset.version,
        "seed": seed,
        "samples": dict(splits),
        "settings": config.to_dict(),
    }
    return toml_text(table, comment=comment)


def defaults_from(path: Path, dataset: Dataset) -> dict[str, Any]:
    """What the options of a command are if they are not given.

    Parameters
    ----------
    path
        A TOML file, or a dataset.
    dataset
        What is to be generated.

    Returns
    -------
    dict
        By the name of the setting or of the split, and ``seed``.
    """
    table = read_toml(path) if path.suffix == SUFFIX else _table_of(path)
    for key, value in table.items():
        if key not in _KEYS:
            raise SynthprobeError(
                f"{path}: {key!r} is no part of a config, which has {', '.join(_KEYS)}."
            )
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise SynthprobeError(f"{path}: {key} is {value!r}, which is not of its type.")
    name = table.get("dataset", dataset.name)
    if name != dataset.name:
        raise SynthprobeError(f"{path} has settings of {name}, not of {dataset.name}.")
    version = table.get("version", dataset.version)
    if version != dataset.version:
        raise SynthprobeError(
            f"{path} is for version {version} of {dataset.name}: this program makes version "
            f"{dataset.version}, whose samples may differ. Leave the version out to take it."
        )
    found = _settings(path, dataset, table.get("settings", {}))
    splits = dataset.split_sizes(dataset.config())
    for split, size in table.get("samples", {}).items():
        if split not in splits:
            raise SynthprobeError(
                f"{path}: {split!r} is no split of {dataset.name}, which has {', '.join(splits)}."
            )
        if not isinstance(size, int) or isinstance(size, bool):
            raise SynthprobeError(f"{path}: {split} is {size!r}: it must be a whole number.")
        found[split] = size
    if table.get("samples"):
        found |= {split: 0 for split in splits if split not in table["samples"]}
    if "seed" in table:
        found["seed"] = table["seed"]
    return found


def _settings(path: Path, dataset: Dataset, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as the options of the command would give them."""
    from synthprobe_data.config import least_settings

    try:  # says what is wrong with them, by themselves
        config = dataset.config.from_dict(dict(settings))
    except SynthprobeError as error:
        raise SynthprobeError(f"{path}: {error}") from None
    except (TypeError, ValueError) as error:
        raise SynthprobeError(f"{path}: its settings are wrong: {error}.") from None
    found = {name: getattr(config, name) for name in settings}
    for name, least in least_settings(dataset.config).items():
        low = found.pop(least, None)
        if low is not None:
            found[name] = (low, getattr(config, name))
    return found


def _table_of(path: Path) -> dict[str, Any]:
    """The same table, of a dataset that there is."""
    from synthprobe_data.shards.collection import open_dataset

    with open_dataset(path) as data:
        if data.selection is not None or any(data[name].index_start for name in data.splits):
            raise SynthprobeError(
                f"{path} has some samples of a larger dataset: a config would make others."
            )
        config = {name: value for name, value in data.config.to_dict().items() if value is not None}
        return {
            "dataset": data.dataset.name,
            "version": data.version,
            "seed": data.seed,
            "samples": data.splits,
            "settings": config,
        }
