"""The command that made a dataset, fit to be shown to others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from synthprobe_data.config import Config, option_words, options, worded
from synthprobe_data.dataset import Dataset

PROGRAM = "synthprobe-gen"


def portable_command(command: str) -> str:
    """A command without what belongs to one machine.

    Of a path only the last name is left, and in the place of a network address stands ADDRESS.
    """
    try:
        words = shlex.split(command)
    except ValueError:  # an open quotation mark: not for a shell
        words = command.split()
    return shlex.join(_portable(word) for word in words)


def _portable(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    if "://" in value:
        value = "ADDRESS"
    elif re.search(r"[/\\]", value):
        value = re.split(r"[/\\]", value.rstrip("/\\"))[-1] or "."
    return option + equals + value


def same_rows_command(
    dataset: Dataset,
    config: Config,
    *,
    seed: int,
    splits: Mapping[str, int],
    out: str,
    shards: int | None,
) -> str | None:
    """The shortest command that makes these rows, or ``None`` if no command does.

    It names only what differs from the canonical settings.
    """
    sizes = dataset.split_sizes(config)
    if set(splits) - set(sizes):
        return None
    words = [PROGRAM, dataset.name, "--out", out]
    if shards is not None:
        words += ["--shards", str(shards)]
    for split, size in sizes.items():
        if splits.get(split, 0) != size:
            words += [f"--{split}", str(splits.get(split, 0))]
    if seed != 0:
        words += ["--seed", str(seed)]
    ranged = {setting.name for setting in options(type(config))}
    flags = {(flag.setting, flag.value): flag.flag for flag in dataset.flags}
    canonical = dataset.config()
    words += option_words(config, canonical)
    for setting in worded(type(config)):
        value = getattr(config, setting.name)
        if value not in setting.metadata["words"]:
            return None  # what a file says, which nobody else has
        if value != getattr(canonical, setting.name):
            words += ["--" + setting.name.replace("_", "-"), value]
        ranged.add(setting.name)
    for name, value in config.to_dict().items():
        if name not in ranged and value != getattr(canonical, name):
            words.append(flags[name, value])
    return shlex.join(words)
