"""The card of a suite: one page and one picture for all of its files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from synthprobe_data.cards.card import as_table
from synthprobe_data.cards.command import portable_command
from synthprobe_data.cards.hub import as_front_matter, size_category
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.pictures import side_by_side
from synthprobe_data.shards.collection import open_dataset
from synthprobe_data.shards.suite import SuiteManifest, suite_paths

PICTURE: Final = "samples.png"
_SHOWN: Final = 128
"""Each picture of the card is scaled to about this side."""
_TEXT: Final = 20


def render_suite_card(
    folder: Path, manifest: SuiteManifest, dataset: Dataset, command: str | None
) -> str:
    """The page: what the members are, how their scenes differ, hashes and how to load them."""
    if dataset.suite is None:
        raise SynthprobeError(f"{dataset.name} has no suite.")
    paths = suite_paths(folder)
    found: dict[str, Any] = {}
    for name, path in paths.items():
        with open_dataset(path, trusted=True) as data:
            found[name] = dataset.suite.figures(data)
    first = manifest.members[0]
    figures = list(found[first.name])
    made = "" if command is None else f"\n\n```sh\n{portable_command(command)}\n```"
    parts = [
        f"# {dataset.title}: a suite",
        f"Test splits of several settings, for a network that was trained once on those of "
        f"`{first.name}`: how does what it learnt carry over? `synthprobe-probe eval RUN --on "
        f"FOLDER` and `synthprobe-probe score WHAT --on FOLDER` print one table.",
        f"![One sample of each member: the picture above, what to find below]({PICTURE})",
        "## Members",
        as_table(
            ("file", "what differs", "samples", "settings that differ"),
            [
                (f"`{m.file}`", m.meaning, f"{m.rows:,}", _changed(m.config, first.config))
                for m in manifest.members
            ],
        ),
        *dataset.suite.notes,
        "## Figures",
        as_table(
            ("figure", *(f"`{name}`" for name in found)),
            [(figure, *(found[name][figure] for name in found)) for figure in figures],
        ),
        "## How it was made",
        f"Seed {manifest.seed}, split `{manifest.split}`; settings of `{first.name}`: "
        f"{', '.join(f'`{k}` {v}' for k, v in first.config.items())}.{made}",
        "## Hashes",
        "SHA-256 of each file, and its content digest, which depends on the samples alone:",
        "```text\n"
        + "\n".join(f"{m.sha256}  {m.content_digest}  {m.file}" for m in manifest.members)
        + "\n```",
        "`synthprobe-shards verify FOLDER` checks all of them, and makes every sample again.",
        "## Loading",
        "Each file is a dataset of its own: `synthprobe_data.open_dataset(FOLDER / FILE)`. With "
        f'Hugging Face `datasets`: `load_dataset(FOLDER, "{first.name}")`.',
        "## Citation",
        f"```bibtex\n{dataset.citation.strip()}\n```",
    ]
    return _front_matter(manifest, dataset) + "\n" + "\n\n".join(parts) + "\n"


def _changed(config: dict[str, Any], first: dict[str, Any]) -> str:
    names = [*config, *(name for name in first if name not in config)]
    changed = [
        f"`{name}` {config.get(name, 'not set')}"
        for name in names
        if config.get(name) != first.get(name)
    ]
    return ", ".join(changed) or "none"


def _front_matter(manifest: SuiteManifest, dataset: Dataset) -> str:
    return as_front_matter(
        {
            "license": dataset.license.lower(),
            "pretty_name": f"{dataset.title}: a suite",
            "task_categories": list(dataset.card.task_categories),
            "tags": list(dataset.card.tags),
            "size_categories": [size_category(sum(m.rows for m in manifest.members))],
            "configs": [
                {
                    "config_name": m.name,
                    "data_files": [{"split": manifest.split, "path": m.file}],
                }
                for m in manifest.members
            ],
        }
    )


def suite_picture(folder: Path, manifest: SuiteManifest) -> bytes:
    """The first sample of each member, its name above, as PNG."""
    panels = []
    for name, path in suite_paths(folder).items():
        with open_dataset(path, trusted=True) as data:
            about = data.dataset.card
            drawn = about.picture(data[manifest.split].read([0], about.picture_columns))
        panels.append(_titled(name, drawn))
    tallest = max(panel.height for panel in panels)
    rows = [_padded(panel, tallest) for panel in panels]
    png = io.BytesIO()
    side_by_side(rows).save(png, "PNG", optimize=True)
    return png.getvalue()


def _titled(name: str, drawn: np.ndarray[Any, Any]) -> Image.Image:
    picture = Image.fromarray(drawn)
    times = max(1, round(_SHOWN / picture.width))
    picture = picture.resize(
        (times * picture.width, times * picture.height), Image.Resampling.NEAREST
    )
    width = max(_SHOWN, picture.width)
    whole = Image.new("RGB", (width, _TEXT + picture.height), (255, 255, 255))
    text = ImageDraw.Draw(whole)
    text.text((width // 2, _TEXT // 2), name, (0, 0, 0), ImageFont.load_default(14), anchor="mm")
    whole.paste(picture, ((width - picture.width) // 2, _TEXT))
    return whole


def _padded(panel: Image.Image, height: int) -> Image.Image:
    whole = Image.new("RGB", (panel.width, height), (255, 255, 255))
    whole.paste(panel, (0, 0))
    return whole
