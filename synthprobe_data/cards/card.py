"""The card of a dataset: front matter for the Hugging Face Hub, then Markdown for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from synthprobe_data.cards import snippets
from synthprobe_data.cards.facts import CardFacts, find_licence, picture_split
from synthprobe_data.cards.hub import arrow_bytes, hub_splits, render_front_matter
from synthprobe_data.cards.words import MAINTENANCE, NOTHING_OF_OTHERS, files_state
from synthprobe_data.config import options, worded
from synthprobe_data.shards.selection import INDEX, column_meanings
from synthprobe_data.tally import Tally

_RIGHT: Final = "--:"
_LEFT: Final = "---"


def render_card(facts: CardFacts, figures: Sequence[Tally]) -> str:
    """The whole card."""
    about = facts.dataset.card
    parts = [
        f"# {facts.dataset.title}",
        about.summary,
        _picture(facts),
        _sizes(facts),
        "## What it is for",
        _bullets(about.good_for),
        "## What it is not for",
        _bullets(about.not_for),
        NOTHING_OF_OTHERS,
        "## What is in it",
        _columns(facts),
        "## How it was made",
        *_making(facts),
        "## Figures",
        *(_tally(tally) for tally in figures),
        "## Checks",
        about.checks(facts.config),
        *_checks(facts),
        "## Hashes",
        *_hashes(facts),
        "## Loading",
        *_loading(facts),
        "## Citation",
        f"```bibtex\n{facts.dataset.citation.strip()}\n```",
        f"To name the data itself: synthprobe, dataset `{facts.dataset.name}`, version "
        f"{facts.version}, content digest `{facts.content_digest[:16]}`.",
        "## Licence",
        _licence(facts),
        "## Maintenance",
        MAINTENANCE,
    ]
    return render_front_matter(facts) + "\n" + "\n\n".join(parts) + "\n"


def _picture(facts: CardFacts) -> str:
    split = picture_split(facts.splits)
    about = facts.dataset.card
    count = min(about.picture_samples, facts.splits[split])
    samples = "The first sample" if count == 1 else f"The first {count} samples"
    where = ""
    if about.picture_spread and count > 1:
        samples, where = f"{count} samples", ", from all over it"
    return (
        f"![{samples} of the split {split}{where}: {about.picture_shows}]({quote(facts.picture)})"
    )


def _sizes(facts: CardFacts) -> str:
    splits = " and ".join(f"{size:,} in `{name}`" for name, size in facts.splits.items())
    files = "one HDF5 file" if len(facts.files) == 1 else f"{len(facts.files)} HDF5 files"
    size = _size(sum(file.bytes for file in facts.files))
    return (
        f"{sum(facts.splits.values()):,} samples, {splits}; {files}, {size}; version "
        f"{facts.version}, seed {facts.seed}."
    )


def _columns(facts: CardFacts) -> str:
    meanings = column_meanings(facts.dataset)
    table = as_table(
        ("dataset", "type", "shape of a row", "what it is"),
        [
            (f"`{c.name}`", c.dtype.name, " × ".join(map(str, c.shape)) or "-", meanings[c.name])
            for c in facts.columns
        ],
    )
    attributes = facts.dataset.card.attributes
    return (
        f"{table}\n\nAll datasets have one row for each sample. Attributes of a file hold the "
        "`config`, the `seed`, the rows of each split (`splits`), the `content_digest`, and "
        f"{attributes}."
    )


def _making(facts: CardFacts) -> list[str]:
    program = f"synthprobe {facts.package_version}"
    parts = []
    if facts.command is not None:
        parts.append(f"By this command, with {program}:\n\n```sh\n{facts.command}\n```")
    if facts.same_rows is not None and facts.same_rows != facts.command:
        by = "" if facts.command else f" (this card was written by {program})"
        says = f"This command makes the same samples{by}:"
        if not facts.known:
            says = (
                f"By what {files_state(facts)}, though nobody made the samples again to compare, "
                f"they are those of this command{by}:"
            )
        parts.append(f"{says}\n\n```sh\n{facts.same_rows}\n```")
    if facts.selection is not None:
        parts.append(
            "These are selected samples. They were taken, as they are, from the dataset with the "
            f"content digest `{facts.selection.selected_from}`:\n\n"
            f"```text\n{facts.selection.selection}\n```\n\n"
            f"`{INDEX.name}` says of each which sample of its split it is there, counted from 0; "
            "rows count those that the file had which they were taken from."
        )
    if facts.seconds is not None:
        workers = f" with {facts.workers} worker{'s' * (facts.workers != 1)}" * bool(facts.workers)
        parts.append(f"It took {facts.seconds:.1f} s{workers} on: {facts.machine}.")
    kind = type(facts.config)
    meanings = {s.name: s.metadata["help"] for s in [*options(kind), *worded(kind)]}
    meanings |= facts.dataset.card.settings
    parts.append(
        as_table(
            ("setting", "value", "meaning"),
            [
                (f"`{name}`", "not set" if value is None else value, meanings.get(name, ""))
                for name, value in facts.config.to_dict().items()
            ],
        )
    )
    return parts


def _checks(facts: CardFacts) -> list[str]:
    """What was looked at when the card was written."""
    parts = []
    if facts.regenerated:
        parts.append(
            "When this card was written, every sample was made again from settings, seed, split "
            "and index, and all of its bytes were the same."
        )
    elif not facts.known:
        parts.append(
            f"That is what {files_state(facts)}: when this card was written, the samples were not "
            "made again with the same bytes. `synthprobe-shards verify` compares them."
        )
    files = "file" if len(facts.files) == 1 else "files"
    parts.append(
        "When this card was written, the names, types, shapes, chunks and filters of all datasets "
        f"in the {files} were those of the format."
    )
    return parts


def _tally(tally: Tally) -> str:
    splits = list(tally.counts)
    totals = tally.totals or {split: sum(tally.counts[split].values()) for split in splits}
    rows = []
    for value in tally.counts[splits[0]]:
        cells = []
        for split in splits:
            count = tally.counts[split][value]
            cells += [f"{count:,}", f"{100 * count / max(1, totals[split]):.1f} %"]
        rows.append((value, *cells))
    header = [cell for split in splits for cell in (f"{tally.of} in `{split}`", "share")]
    table = as_table((tally.value, *header), rows, [_LEFT] + [_RIGHT] * len(header))
    return "\n\n".join(filter(None, (f"### {tally.title}", table, tally.note)))


def _hashes(facts: CardFacts) -> list[str]:
    files = "\n".join(f"{file.sha256}  {file.name}" for file in facts.files)
    parts = [
        "SHA-256 of the file, which depends on how it was compressed; now and then a row is "
        "packed in another way, in a file of the same size with the same samples:"
        if len(facts.files) == 1
        else "SHA-256 of the files, which depends on how they were compressed; now and then a row "
        "is packed in another way, in a file of the same size with the same samples:",
        f"```text\n{files}\n```",
        "Content digest, which depends on the samples alone: SHA-256 over the SHA-256 of every "
        "row, in which the datasets follow one another in the order of their names.",
        f"```text\n{facts.content_digest}\n```",
        "To compute it again, with h5py alone:",
        _python(snippets.digest_snippet(facts)),
    ]
    if facts.card_path_kind == "folder":
        parts.append(
            "`manifest.json` has the content digest of each file, and which samples are in it."
        )
    return parts


def _loading(facts: CardFacts) -> list[str]:
    copied = _size(sum(map(arrow_bytes, facts.columns)) * sum(facts.splits.values()))
    parts = [
        "Each piece runs as it stands in the folder of the data. With h5py:",
        _python(snippets.h5py_snippet(facts)),
        "With PyTorch:",
        _python(snippets.torch_snippet(facts)),
        f"With Hugging Face `datasets`, which copies the data into its cache first ({copied}"
        f"{'; not with `streaming=True`' * (facts.card_path_kind == 'folder')}):",
        _python(snippets.hugging_face_snippet(facts)),
    ]
    if facts.card_path_kind == "file":
        (name,) = hub_splits(facts)[0]
        hub = (
            "To put the file on the Hugging Face Hub, name this card README.md there; its front "
            "matter is right for that."
        )
        if len(facts.splits) > 1:
            splits = " and ".join(f"`{split}`" for split in facts.splits)
            parts.append(
                f"For Hugging Face, and for most other programs, **a file is one split**: a plain "
                f'`load_dataset("hdf5", data_files=...)` gives {splits} of this file as one. The '
                "rows must be taken apart as above. To share the data, a folder of shards "
                "(`synthprobe-shards split --shards K`) is better, which `load_dataset` reads "
                "rightly as it stands; or one file for each split "
                "(`synthprobe-shards split --split-files`)."
            )
            hub += f" There its one split is called `{name}`."
        parts.append(hub)
    return parts


def _licence(facts: CardFacts) -> str:
    licence = find_licence(facts.dataset.license)
    return f"The data is under [{licence.title}]({licence.url})."


def _python(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```"


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def as_table(
    header: Sequence[str], rows: Iterable[Sequence[Any]], align: Sequence[str] | None = None
) -> str:
    """A Markdown table."""
    lines = [header, align or [_LEFT] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _size(size: int) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1e3:.1f} kB"
