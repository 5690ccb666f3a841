"""One HTML page to look through the samples of a shard: no server, no network, nothing beside it.

The page is put together from ``page.html``, ``page.css``, ``scene.js`` and ``page.js``, which stand
beside this file. What comes from the shard goes in as JSON and, in the title, as escaped text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from pathlib import Path
from typing import Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.printable import printable
from synthprobe_data.run import progress_bar
from synthprobe_data.shards.opened import OpenDataset, Split, open_dataset
from synthprobe_data.shards.writer import check_target, write_text
from synthprobe_data.views.entries import ENTRIES
from synthprobe_data.views.explanation import first_split
from synthprobe_data.words import file_name

MAX_SAMPLES: Final = 20_000


def write_page(
    path: str | Path,
    out: str | Path,
    *,
    split: str | None = None,
    samples: int = 1000,
    force: bool = False,
    progress: bool = False,
) -> int:
    """Write a page to look through samples; return how many are on it.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    out
        The HTML file to write.
    split
        Which split; the first by default.
    samples
        How many samples, from the first on.
    force
        Replace an existing file.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    """
    out = Path(out)
    if out.suffix.lower() not in (".html", ".htm"):
        raise SynthprobeError(f"{out} is not the name of a page: end it with .html.")
    if isinstance(samples, bool) or not 1 <= samples <= MAX_SAMPLES:
        raise SynthprobeError(
            f"samples is {samples!r}: it must be a whole number from 1 to {MAX_SAMPLES}."
        )
    check_target(out, force=force)
    with open_dataset(path) as data:
        chosen = first_split(data, split)
        shown = min(samples, len(chosen))
        if not shown:
            raise SynthprobeError(f"{printable(chosen.name)} of {path} has no samples.")
        write_text(out, _page(data, chosen, shown, progress))
    return shown


def page_name(path: str | Path, split: str | None = None) -> Path:
    """A name for the page in the current folder: ``rde-test.html`` for the split test of rde.h5."""
    with open_dataset(path) as data:
        return Path(f"{Path(path).resolve().stem}-{file_name(first_split(data, split).name)}.html")


def _page(data: OpenDataset, split: Split, count: int, progress: bool) -> str:
    """The whole page."""
    shown = ENTRIES[data.dataset.name]
    entries = []
    with progress_bar(count, progress) as bar:
        for position in range(count):
            entries.append(shown.entry(data, split, position))
            bar.update()
    name, split_name = printable(data.path.resolve().name), printable(split.name)
    height, width = shown.size(data.config.to_dict())
    script, style = _part("scene.js") + _part("page.js"), _part("page.css")
    content = {
        "file": name,
        "split": split_name,
        "of": len(split),
        "dataset": data.dataset.name,
        "height": height,
        "width": width,
        "figures": list(shown.figures.items()),
        "panels": shown.panels,
        "samples": entries,
    }
    parts = {
        # Only this script and this style, pictures from the page itself, and nothing else from
        # anywhere.
        "policy": f"default-src 'none'; img-src data:; script-src '{_hash(script)}'; "
        f"style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'",
        "title": html.escape(f"{name}, {split_name}: {data.dataset.title}"),
        "hint": shown.hint,
        "style": style,
        "script": script,
        # In a script element only "<" could end it, or start a comment.
        "content": json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"),
    }
    # In one pass, so that nothing that is put in is taken for a place to put something.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _part("page.html"))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """As a content security policy names a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
