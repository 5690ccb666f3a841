"""The results of runs as files that are committed: ``runs/NAME-SEED.json`` beside the run folders.

A run folder has checkpoints and is large; its record has all that tables and profiles are made
from. Where the folder is gone, the record stands for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from synthprobe_models.files import make_folder, plain_json, write_text
from synthprobe_models.training.run_folder import RunFolder, read_result

_END: Final = ".json"
WITHOUT: Final = (
    "These figures are from before the results of runs were kept: there is no folder `runs`, so "
    "that they cannot be derived again."
)
"""What a page says that was written by an earlier version, and has no records."""


def keep_record(folder: Path, result: Mapping[str, Any]) -> None:
    """Write the record of a run, unless it is there.

    Parameters
    ----------
    folder
        Of the run.
    result
        As in its ``result.json``.
    """
    path = folder.with_name(folder.name + _END)
    text = plain_json(dict(result)) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    make_folder(path.parent)
    write_text(path, text)


def restore_records(runs: Path) -> None:
    """Put records whose run folders are gone back into folders, so that their runs are complete.

    Parameters
    ----------
    runs
        The folder of the records.
    """
    for path in runs.glob(f"*{_END}"):
        folder = path.with_name(path.name.removesuffix(_END))
        result = read_result(path)
        if folder.exists() or result is None:
            continue
        run = RunFolder(folder)
        run.begin(result["settings"], resume=False, force=False)
        run.finish(result)


def read_records(runs: Path, key: str) -> list[dict[str, Any]]:
    """The results of the runs of a row, by their seeds.

    Parameters
    ----------
    runs
        The folder of the records.
    key
        Of the row.
    """
    ends = {path: path.name.removeprefix(f"{key}-").removesuffix(_END) for path in runs.glob("*")}
    seeds = {path: int(end) for path, end in ends.items() if end.isdecimal() and len(end) < 19}
    seeds = {path: seed for path, seed in seeds.items() if path.name == f"{key}-{seed}{_END}"}
    found = [read_result(path) for path in sorted(seeds, key=seeds.__getitem__)]
    return [result for result in found if result is not None]


def has_records(runs: Path) -> bool:
    """Whether a folder of results has records.

    Parameters
    ----------
    runs
        The folder of the records.
    """
    return any(runs.glob(f"*{_END}")) or any(runs.glob(f"*/*{_END}"))
