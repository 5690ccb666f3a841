"""The figure of one sample, as its dataset draws it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from synthprobe_data.atomic.files import check_target, write_bytes
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.registry import DATASETS
from synthprobe_data.shards.collection import open_dataset
from synthprobe_data.text import counted, file_name, printable

FORMATS: Final = ("png", "svg", "pdf")


def explain_to_file(
    path: str | Path,
    index: int,
    *,
    split: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Draw what tells the answer of one sample into a file; return the file.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    index
        The sample, counted from the first of the split that is there.
    split
        Which split; the first by default.
    out
        The file to write: ``.png``, ``.svg`` or ``.pdf``. By default a PNG in the current folder,
        such as ``rde-test-7.png`` for sample 7 of the split test of ``rde.h5``.
    force
        Replace an existing file.
    """
    with open_dataset(path) as data:
        draw = data.dataset.explain
        if draw is None:
            able = [name for name, dataset in DATASETS.items() if dataset.explain]
            raise SynthprobeError(
                f"{data.path} is of the dataset {data.dataset.name}: only samples of "
                f"{', '.join(able)} can be explained."
            )
        chosen = data.find_split(split)
        if isinstance(index, bool) or not 0 <= index < len(chosen):
            raise SynthprobeError(
                f"index is {index}: {printable(chosen.name)} has "
                f"{counted(len(chosen), 'sample')}, counted from 0."
            )
        if out is None:
            out = f"{Path(path).resolve().stem}-{file_name(chosen.name)}-{index}.png"
        out = Path(out)
        kind = out.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise SynthprobeError(f"{out} is no name for a figure: end it with .png, .svg or .pdf.")
        check_target(out, force=force)
        figure = draw(data, chosen, index, kind)
    write_bytes(out, figure)
    return out
