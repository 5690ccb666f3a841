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
from typing import Any, Final

from synthprobe_data.atomic.files import check_target, write_text
from synthprobe_data.dataset import BrowseEntries
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.inspect.browse.fallback import entries_from_preview
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.collection import OpenDataset, Split, open_dataset
from synthprobe_data.text import file_name, printable

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
        chosen = data.find_split(split)
        shown = min(samples, len(chosen))
        if not shown:
            raise SynthprobeError(f"{printable(chosen.name)} of {path} has no samples.")
        write_text(out, _page(data, chosen, shown, progress))
    return shown


def page_name(path: str | Path, split: str | None = None) -> Path:
    """A name for the page in the current folder: ``rde-test.html`` for the split test of rde.h5."""
    with open_dataset(path) as data:
        return Path(f"{Path(path).resolve().stem}-{file_name(data.find_split(split).name)}.html")


def _page(data: OpenDataset, split: Split, count: int, progress: bool) -> str:
    """The whole page."""
    shown = data.dataset.browse or entries_from_preview(data, split)
    entries = []
    with progress_bar(count, progress) as bar:
        for position in range(count):
            entries.append(_entry(data, split, position, shown))
            bar.update()
    name, split_name = printable(data.path.resolve().name), printable(split.name)
    height, width = shown.size(data.config)
    script, style = _part("scene.js") + _part("page.js"), _part("page.css")
    content = {
        "file": name,
        "split": split_name,
        "of": len(split),
        "dataset": data.dataset.name,
        "height": height,
        "width": width,
        "figures": list(shown.figures.items()),
        "layout": shown.layout,
        "panels": shown.captions,
        "headings": shown.headings,
        "samples": entries,
    }
    parts = {
        # Only this script and this style, pictures from the page itself, and nothing else from
        # anywhere.
        "policy": f"default-src 'none'; img-src data:; script-src '{_hash(script)}'; "
        f"style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'",
        "title": html.escape(f"{name}, {split_name}: {data.dataset.title}"),
        "hint": html.escape(shown.hint),
        "style": style,
        "script": script,
        # In a script element only "<" could end it, or start a comment.
        "content": json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"),
    }
    # In one pass, so that nothing that is put in is taken for a slot.
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], _part("page.html"))


def _entry(data: OpenDataset, split: Split, position: int, shown: BrowseEntries) -> dict[str, Any]:
    """One sample with its index ``i``; `SynthprobeError` if it does not keep its own rules."""
    sample, index = split[position], split.index_of(position)
    failed = data.dataset.row_checks.failed(data.config, sample, split.name, index)
    if wrong := [check for check in failed if check not in shown.ignored_checks]:
        raise SynthprobeError(
            f"{printable(split.name)} {index} does not agree with itself ({', '.join(wrong)}), so "
            "it is not shown: synthprobe-shards verify says more."
        )
    return {"i": index, **shown.entry(sample, data.config)}


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """As a content security policy names a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
