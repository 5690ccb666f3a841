"""What a dataset is: its columns, declared once, and everything that is its own.

Writers, readers, `verify`, cards, previews and exports know a dataset by this declaration alone, so
that a new one needs no change in them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.config import Config
from synthprobe_data.errors import SynthprobeError

if TYPE_CHECKING:
    from PIL import Image

    from synthprobe_data.shards.collection import OpenDataset, Split
    from synthprobe_data.tally import Tally

VALIDATION: Final = "validation"
"""The split that choices are made by, so that the test split stays unseen until the end."""

Block = dict[str, NDArray[Any]]
"""Some consecutive samples: the arrays by name; one row is one sample."""

Sample = dict[str, NDArray[Any]]
"""One row: the arrays by name."""

Scale = Mapping[str, float]
"""``offset`` and ``divisor``: networks see ``(value + offset) / divisor``."""


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """One array of every sample: one HDF5 dataset of a file."""

    name: str
    dtype: str
    """As NumPy names it."""
    dims: tuple[int | str, ...] = ()
    """The shape of a row; a name stands for the setting of the config with this name."""
    role: Literal["input", "target", "fact"]
    """What networks see, what they must find, or what is known beside."""
    meaning: str
    """One phrase for cards and documentation."""
    fill: int | None = 0
    """The value of a new array; ``None`` if the generator sets every value."""
    only_if: str | None = None
    """A setting of the config; the column is stored only if that is true."""
    export: Literal["picture", "text", "no"] = "text"
    """What becomes of it in an export: a PNG file, text, or nothing."""
    chunk_by_row: bool | None = None
    """Whether each row is a chunk of its own; by default if it is large."""
    lines_repeat: bool = False
    """Whether rows are pictures of bytes whose lines mostly repeat the line above.

    The files are smaller then, and written faster.
    """

    def shape(self, config: Config) -> tuple[int, ...]:
        """The shape of a row with these settings."""
        return tuple(getattr(config, d) if isinstance(d, str) else d for d in self.dims)

    def is_stored(self, config: Config) -> bool:
        """Whether files of these settings have this column."""
        return self.only_if is None or bool(getattr(config, self.only_if))

    def empty(self, config: Config, count: int) -> NDArray[Any]:
        """An array for so many rows."""
        shape = (count, *self.shape(config))
        if self.fill is None:
            return np.empty(shape, self.dtype)
        return np.full(shape, self.fill, self.dtype) if self.fill else np.zeros(shape, self.dtype)


def stored_columns(
    columns: Sequence[ColumnSpec], config: Config
) -> list[tuple[ColumnSpec, tuple[int, ...]]]:
    """Those columns that files of these settings have, each with the shape of a row."""
    return [(column, column.shape(config)) for column in columns if column.is_stored(config)]


def empty_block(columns: Sequence[ColumnSpec], config: Config, count: int) -> Block:
    """Arrays for so many samples, of those columns that are stored with these settings."""
    return {c.name: c.empty(config, count) for c in columns if c.is_stored(config)}


@dataclass(frozen=True)
class SettingFlag:
    """A setting that the command spells as a flag, when it is not the default."""

    flag: str
    setting: str
    value: Any
    meaning: str


@dataclass(frozen=True)
class Level:
    """A named difficulty: settings that belong together."""

    meaning: str
    """One phrase."""
    settings: Callable[[Mapping[str, Any]], dict[str, Any]]
    """``settings(given)``: the settings of this level, where some are given anyway."""


@dataclass(frozen=True)
class Member:
    """One file of a suite."""

    config: Config
    meaning: str
    """What differs from the first one, in one phrase."""


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Test splits that belong together, which ask what a network that was trained carries over."""

    members: Callable[[Any], dict[str, Member]]
    """``members(config)``: by name; the first one has the settings of ``config``."""
    samples: int
    """Of each member, unless another number is asked for."""
    figures: Callable[[OpenDataset], Mapping[str, str]]
    """``figures(data)``: what the card says of one member, by what it is."""
    notes: tuple[str, ...]
    """What a reader of the card must know, a sentence each."""


@dataclass(frozen=True)
class PixelChecks:
    """How the rows of a dataset are read from their pixels alone."""

    check_config: Callable[[Any], None]
    """``check_config(config)``: `SynthprobeError` if such pictures cannot be read."""
    read_block: Callable[[Any, Block], tuple[list[tuple[int, str]], dict[str, int]]]
    """``read_block(config, block)``: the rows that fail, with a sentence, and counts by name."""


@dataclass(frozen=True)
class RowChecks:
    """The checks of a dataset that look at one row at a time."""

    names: Callable[[Any], dict[str, str]]
    """``names(config)``: the checks by name, each with the sentence for a row that fails it."""
    check_block: Callable[[Any, Block, Sequence[tuple[str, int]]], NDArray[np.uint32]]
    """``check_block(config, block, row_ids)``: for each row, bit i is set when it fails check i.

    ``row_ids`` has the split and the index of each row.
    """
    solver: PixelChecks | None = None
    """How to read the answer off the pixels, where a solver does that."""

    def failed(self, config: Config, sample: Sample, split: str, index: int) -> list[str]:
        """The names of the checks that one sample fails."""
        block = {column: np.asarray(value)[None] for column, value in sample.items()}
        mask = int(self.check_block(config, block, [(split, index)])[0])
        return [check for bit, check in enumerate(self.names(config)) if mask >> bit & 1]


@dataclass(frozen=True)
class Preview:
    """How the samples of a dataset are drawn."""

    panels: Callable[[Sample, Any], list[Image.Image]]
    """``panels(sample, config)``: pictures of one sample, to stand side by side."""
    legend: str
    """What they show."""
    across: int
    """How many samples stand side by side."""


@dataclass(frozen=True, kw_only=True)
class BrowseEntries:
    """How the samples of a dataset stand in the page that ``browse`` writes."""

    figures: Mapping[str, str]
    """What the samples can be filtered and sorted by, in this order, each in words."""
    entry: Callable[[Sample, Any], dict[str, Any]]
    """``entry(sample, config)``: what the script of the page wants of a sample.

    The names are short because there are many samples: ``png`` is its picture and ``f`` its
    figures, ``panels`` are the pictures under `captions`, and ``colors`` are the rows of a table
    with `headings`, each of which begins with a colour.
    """
    size: Callable[[Any], tuple[int, int]]
    """``size(config)``: height and width of ``png``."""
    layout: Literal["scene", "pictures", "strips"] = "pictures"
    """Rectangles with their cues, pictures side by side, or strips below one another."""
    captions: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    hint: str
    """What there is to see of a sample."""
    ignored_checks: frozenset[str] = frozenset()
    """Checks that a sample may fail and still be shown."""


@dataclass(frozen=True, kw_only=True)
class InfoCounts:
    """What ``info`` counts over all samples of a dataset, from small columns."""

    key: str
    """In the JSON."""
    label: str
    """Of the line for people."""
    columns: tuple[str, ...]
    count: Callable[[Iterable[Block], Any], dict[str, Any] | None]
    """``count(blocks, config)``: plain JSON values; ``None`` if there is nothing to count."""
    sentence: Callable[..., str]
    """``sentence(**counts)``: the same for people."""


def _no_figures(_data: OpenDataset) -> tuple[Tally, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class CardText:
    """The words, the figures and the picture of the card of a dataset."""

    summary: str
    """What a sample is and what the task is, in two or three sentences."""
    good_for: tuple[str, ...]
    not_for: tuple[str, ...]
    task_categories: tuple[str, ...]
    """As the Hugging Face Hub names them."""
    tags: tuple[str, ...]
    attributes: str
    """What attributes of its own a file has; Markdown."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What those settings mean that have no range."""
    checks: Callable[[Any], str]
    """``checks(config)``: which checks every sample has passed; Markdown."""
    figures: Callable[[OpenDataset], tuple[Tally, ...]] = _no_figures
    """Tables of the card, counted over all samples."""
    picture: Callable[[Block], NDArray[np.uint8]]
    """The picture of the card, RGB: all samples of a block."""
    picture_shows: str
    """What is to be seen on it."""
    picture_samples: int
    """How many samples are on it."""
    picture_spread: bool = False
    """Whether they are spread over the split, rather than the first ones."""
    picture_columns: tuple[str, ...]
    """The columns that it needs."""
    h5py_items: str | None = None
    """Python that makes arrays ``inputs`` and ``targets`` of rows ``start:stop`` of ``file``.

    By default of this and the next two: the first columns of the dataset that are input and target.
    """
    sample_item: str | None = None
    """Python that makes arrays ``input`` and ``target`` of ``sample``, a dict of arrays."""
    torch_item: str | None = None
    """Python that makes tensors ``input`` and ``target`` of ``row`` of ``file``."""


@dataclass(frozen=True, kw_only=True)
class Computed:
    """Columns that can be asked for where a file does not store them."""

    names: tuple[str, ...]
    """Of columns that the dataset declares."""
    needs: tuple[str, ...]
    """The stored columns that they are computed from."""
    compute: Callable[[Block, Any], Block]
    """``compute(block, config)``: these columns, of a block with those that they need."""


def _any_sizes(_config: Any, _splits: Mapping[str, int]) -> None:
    """Splits of any size will do."""


def _any_settings(_config: Any) -> None:
    """Samples of any settings may be made."""


def _as_asked(_config: Any, _splits: Mapping[str, int]) -> None:
    """Samples are just what the settings ask for."""


def _no_attributes(_config: Any) -> dict[str, Any]:
    return {}


def _as_it_is(facts: Sample) -> Sample:
    return facts


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset, with all that is its own."""

    name: str
    """As in the command and in the file."""
    title: str
    """One line for people."""
    version: str
    """Raised whenever a sample changes."""
    config: type[Config]
    """The class of its settings; its defaults are the canonical ones."""
    columns: tuple[ColumnSpec, ...]
    """What a sample consists of, in the order in which people read it."""
    sizes: Callable[[Any], dict[str, int]]
    """``sizes(config)``: the canonical number of samples of each split, in the file's order."""
    drawn: bool = True
    """Whether samples are drawn at random, for any split and without end.

    If not, `sizes` has all that there are, and they are the same for every seed.
    """
    check_sizes: Callable[[Any, Mapping[str, int]], None] = _any_sizes
    """``check_sizes(config, splits)``: `SynthprobeError` if there cannot be so many samples."""
    together: int = 1
    """So many samples, from a multiple of it on, belong together: no two files share them."""
    distinct: bool = True
    """Whether no sample occurs twice; where samples are small, equal ones may be drawn."""
    check_new: Callable[[Any], None] = _any_settings
    """``check_new(config)``: `SynthprobeError` if new samples would not be what they are called.

    Files of such settings are still read, and their samples made again to compare.
    """
    check_expected: Callable[[Any, Mapping[str, int]], str | None] = _as_asked
    """``check_expected(config, splits)``: looks ahead at what a run would make.

    A sentence if that falls short of what the settings ask for; `SynthprobeError` if there is no
    point in it.
    """
    generate_block: Callable[[Any, int, str, int, int], Block]
    """``generate_block(config, seed, split, start, count)``: samples, a function of just these."""
    row_checks: RowChecks
    """How `verify` checks a row, and reads it from its pixels."""
    normalisation: Callable[[Any], dict[str, Scale]]
    """``normalisation(config)``: how networks see each of these columns."""
    attributes: Callable[[Any], dict[str, Any]] = _no_attributes
    """``attributes(config)``: what the file says beside the common attributes."""
    card: CardText
    preview: Preview
    trim: Callable[[Sample], Sample] = _as_it_is
    """The facts of a sample without unused rows, as exports have them."""
    computed: Computed | None = None
    readings: Mapping[str, Callable[[Sample, Any], Any]] = field(default_factory=dict)
    """``readings["scene"](sample, config)``: what a sample means, as an object, by name."""
    explain: Callable[[OpenDataset, Split, int, str], bytes] | None = None
    """``explain(data, split, position, kind)``: a figure of what tells the answer of a sample.

    ``kind`` is ``"png"``, ``"svg"`` or ``"pdf"``; the result is the file.
    """
    browse: BrowseEntries | None = None
    """Its samples in the page of ``browse``; by default they are drawn as in `preview`."""
    counts: InfoCounts | None = None
    """What ``info`` says of all samples together."""
    strategies: str | None = None
    """The module with Hypothesis strategies, listed in its ``__all__``."""
    flags: tuple[SettingFlag, ...] = ()
    """The settings that are flags of the command."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """By name: difficulties that users may ask for by one word."""
    suite: Suite | None = None
    """The test splits that the command makes in one go, if there are some."""
    examples: str
    """Commands with what they do, for the help of the command."""
    license: str
    """SPDX identifier of the data's licence."""
    citation: str
    """BibTeX."""

    def column(self, name: str) -> ColumnSpec:
        """The column with this name."""
        return next(column for column in self.columns if column.name == name)

    def first_with(self, role: str) -> ColumnSpec:
        """The first column with this role."""
        return next(column for column in self.columns if column.role == role)

    def split_sizes(self, config: Config) -> dict[str, int]:
        """The canonical sizes of all splits that can be asked for, in the file's order.

        Samples that are drawn can be drawn for a split ``validation``, too; of most datasets the
        canonical files have none.
        """
        sizes = self.sizes(config)
        if not self.drawn or VALIDATION in sizes:
            return sizes
        first, *rest = sizes
        return {first: sizes[first], VALIDATION: 0, **{name: sizes[name] for name in rest}}

    def file_attributes(self, config: Config) -> dict[str, Any]:
        """What files of these settings say beside the common attributes."""
        scales = {name: dict(scale) for name, scale in self.normalisation(config).items()}
        return {**self.attributes(config), "normalisation": json.dumps(scales)}

    def end(self, config: Config, split: str) -> int | None:
        """One past the last index of a split; ``None`` if it has no end."""
        if self.drawn:
            return None
        sizes = self.sizes(config)
        if split not in sizes:
            raise SynthprobeError(
                f"{self.name} has no split {split!r}: it has {' and '.join(sizes)}."
            )
        return sizes[split]
