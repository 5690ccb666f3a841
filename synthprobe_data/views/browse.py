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

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.run import progress_bar
from synthprobe_data.shards.export import png
from synthprobe_data.shards.opened import OpenDataset, Split, open_dataset
from synthprobe_data.shards.writer import check_target, write_text
from synthprobe_data.views.explanation import Explanation, explain, pick_split
from synthprobe_data.words import file_name

MAX_SAMPLES: Final = 20_000
_FIGURES: Final = {
    "depth": "depth of the order",
    "occluded_pairs": "occluded pairs",
    "convexity_only": "pairs ordered by convexity only",
    "pieces": "visible pieces",
    "cue_distance": "longest way to a cue, in pixels",
}
"""What the samples can be filtered by, in this order, each in words."""


def write_page(
    path: str | Path,
    out: str | Path,
    *,
    split: str | None = None,
    samples: int = 1000,
    force: bool = False,
    progress: bool = False,
) -> int:
    """Write a page to look through samples of RDE; return how many are on it.

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
        chosen = pick_split(data, split)
        shown = min(samples, len(chosen))
        if not shown:
            raise SynthprobeError(f"{chosen.name} of {path} has no samples.")
        write_text(out, _page(data, chosen, shown, progress))
    return shown


def page_name(path: str | Path, split: str | None = None) -> Path:
    """A name for the page in the current folder: ``rde-test.html`` for the split test of rde.h5."""
    with open_dataset(path) as data:
        return Path(f"{Path(path).resolve().stem}-{file_name(pick_split(data, split).name)}.html")


def _page(data: OpenDataset, split: Split, count: int, progress: bool) -> str:
    """The whole page."""
    entries = []
    with progress_bar(count, progress) as bar:
        for position in range(count):
            entries.append(_entry(explain(data, split, position)))
            bar.update()
    name = data.path.resolve().name
    settings = data.config.to_dict()
    script, style = _part("scene.js") + _part("page.js"), _part("page.css")
    content = {
        "file": name,
        "split": split.name,
        "of": len(split),
        "height": settings["height"],
        "width": settings["width"],
        "figures": list(_FIGURES.items()),
        "samples": entries,
    }
    parts = {
        # Only this script and this style, pictures from the page itself, and nothing else from
        # anywhere.
        "policy": f"default-src 'none'; img-src data:; script-src '{_hash(script)}'; "
        f"style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'",
        "title": html.escape(f"{name}, {split.name}: {data.dataset.title}"),
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


def _entry(shown: Explanation) -> dict[str, Any]:
    """A sample as the script wants it, with short names because there are many."""
    difficulty = shown.difficulty
    figures = {
        "depth": difficulty.depth,
        "occluded_pairs": shown.occluded_pairs,
        "convexity_only": difficulty.convexity_only,
        "pieces": int(difficulty.pieces.sum()),
        "cue_distance": difficulty.cue_distance,
    }
    return {
        "i": shown.index,
        "png": base64.b64encode(png(shown.image)).decode(),
        "f": [figures[name] for name in _FIGURES],
        "rects": shown.rectangles.tolist(),
        "rgb": ["#" + bytes(color).hex() for color in shown.colors],
        "rank": shown.rectangle_rank.tolist(),
        "pieces": difficulty.pieces.tolist(),
        "at": [shown.centres.get(k) for k in range(len(shown.rectangles))],
        "t": [list(t) for t in shown.t_junctions],
        "hidden": [list(segment) for segment in shown.hidden_sides],
        "meet": [[a, b, *box] for (a, b), box in shown.overlaps.items()],
        "x": [round(x, 2) for x, _ in shown.drawing.places],
        # Who, whom, by which cue, and where it passes each layer between the two.
        "above": [
            [arrow.upper, arrow.lower, arrow.cue, *(round(x, 2) for x, _ in arrow.places[1:-1])]
            for arrow in shown.drawing.arrows
        ],
        "wide": round(shown.drawing.width, 2),
    }
