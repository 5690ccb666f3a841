"""A dataset for NumPy users: splits, rows and slices, over one file or over a folder of shards."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.config import Config
from synthprobe_data.dataset import Block, Dataset, Sample
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.columns import known_columns, read_columns
from synthprobe_data.shards.condition import Condition
from synthprobe_data.shards.described import is_described, wrong_in_manifest
from synthprobe_data.shards.guard import check_files
from synthprobe_data.shards.indexing import positions
from synthprobe_data.shards.manifest import check_there, read_manifest
from synthprobe_data.shards.reader import ShardReader
from synthprobe_data.shards.selection import INDEX, Selection
from synthprobe_data.shards.suite import check_no_suite
from synthprobe_data.text import counted, printable

if TYPE_CHECKING:
    from synthprobe_data.rde import Difficulty, Scene


def open_dataset(path: str | Path, *, trusted: bool = False) -> OpenDataset:
    """Open a dataset: a file, or a folder of shards.

    Its rows are decoded when they are read. It may be pickled and may cross a fork: each process
    opens the files for itself.

    Parameters
    ----------
    path
        The file or the folder.
    trusted
        Open the files at once. Otherwise a child process with limits opens each of them first, as
        no Python code can catch a crash of the HDF5 library on a file that was made to cause one.
        That takes a tenth of a second, or some for a large file.
    """
    path = Path(path)
    check_there(path)
    if not path.is_dir():
        reader = ShardReader(path, trusted=trusted)
        return OpenDataset(path, [reader], reader.header.content_digest)
    check_no_suite(path)
    manifest = read_manifest(path)
    for sentence in wrong_in_manifest(manifest):
        raise SynthprobeError(f"{path / MANIFEST} cannot be read: {sentence}")
    paths = [path / entry.file for entry in manifest.shards]
    if not trusted:
        check_files(paths)
    with ExitStack() as opened:
        readers = [opened.enter_context(ShardReader(path, trusted=True)) for path in paths]
        for reader, entry in zip(readers, manifest.shards, strict=True):
            if not is_described(reader.header, entry, manifest):
                raise SynthprobeError(f"{reader.path} is not the shard that {MANIFEST} describes.")
        opened.pop_all()  # nothing is refused: they stay open
    return OpenDataset(path, readers, manifest.content_digest)


class OpenDataset:
    """A dataset that has been opened: ``data["train"][7]`` is a sample."""

    def __init__(self, path: Path, readers: list[ShardReader], content_digest: str) -> None:
        first = readers[0].header
        self.path = path
        self.readers = readers
        self.content_digest = content_digest
        self.dataset: Dataset = first.dataset
        self.version: str = first.version
        self.config: Config = first.config
        self.seed: int = first.seed
        self.selection: Selection | None = first.selection
        """Where the samples were taken from, if they are selected ones."""
        self._splits: dict[str, Split] = {}
        for reader in readers:
            for name, (start, stop) in reader.header.splits.items():
                split = self._splits.setdefault(name, Split(name, self.dataset, self.config))
                split.add(reader, start, stop, reader.header.index_start[name])

    @property
    def splits(self) -> dict[str, int]:
        """The number of samples of each split."""
        return {name: len(split) for name, split in self._splits.items()}

    def __getitem__(self, split: str) -> Split:
        if split not in self._splits:
            raise SynthprobeError(
                f"{self.path} has no split {split!r}: it has "
                f"{', '.join(map(printable, self._splits))}."
            )
        return self._splits[split]

    def find_split(self, name: str | None) -> Split:
        """The split of that name; without one, the first that has samples."""
        if name is None:
            name = next((split for split, size in self.splits.items() if size), None)
            if name is None:
                raise SynthprobeError(f"{self.path} has no samples.")
        return self[name]

    def __len__(self) -> int:
        return sum(self.splits.values())

    def __repr__(self) -> str:
        splits = ", ".join(f"{printable(name)} {size}" for name, size in self.splits.items())
        selected = f", {self.selection.selection}" if self.selection else ""
        return (
            f"<dataset {self.dataset.name} {printable(self.version)} in {str(self.path)!r}: "
            f"{splits}{selected}, seed {self.seed}, content digest {self.content_digest[:16]}...>"
        )

    def close(self) -> None:
        """Close the files; they are opened again when they are next read."""
        for reader in self.readers:
            reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Split:
    """The samples of one split, in the order of their indices."""

    def __init__(self, name: str, dataset: Dataset, config: Config) -> None:
        self.name = name
        self._dataset = dataset
        self._config = config
        self._parts: list[tuple[ShardReader, int, int]] = []
        self._ends: list[int] = []
        self.index_start = 0
        """Index, within the whole split, of the first sample that is here."""

    def add(self, reader: ShardReader, start: int, stop: int, index_start: int) -> None:
        """Go on with these rows of a file."""
        if not self._parts:
            self.index_start = index_start
        elif index_start != self.index_start + len(self):
            raise SynthprobeError(f"{reader.path} does not go on where the shard before it ends.")
        self._parts.append((reader, start, stop))
        self._ends = list(accumulate(b - a for _, a, b in self._parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def locate(self, index: int) -> tuple[ShardReader, int]:
        """The file that has a sample, and its row there."""
        if not -len(self) <= index < len(self):
            name = printable(self.name)
            raise IndexError(f"{name} has {counted(len(self), 'sample')}, none at {index}")
        index %= len(self)
        part = bisect_right(self._ends, index)
        reader, _, stop = self._parts[part]
        return reader, stop - (self._ends[part] - index)

    def index_of(self, position: int) -> int:
        """The index, within the whole split, of the sample at a position that is here."""
        reader, row = self.locate(position)
        if reader.header.selection is not None:
            return int(reader.read(INDEX.name, row))
        return self.index_start + int(position) % len(self)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Sample: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Block: ...
    @overload
    def __getitem__(self, index: str) -> NDArray[Any]: ...
    def __getitem__(self, index: Any) -> Sample | Block | NDArray[Any]:
        """One sample; the arrays of several; or a column, by its name.

        Several are named by a slice, a list or an array of whole numbers, or a mask. A column has
        the values of all samples, so one of pictures may be large. Of RDE and twins also ``depth``,
        ``convexity_only``, ``pieces`` and ``cue_distance`` are columns, computed where they are not
        stored, and of every dataset ``index``.
        """
        if isinstance(index, str):
            return self._column(index)
        if isinstance(index, bool | np.bool_) or not isinstance(index, int | np.integer):
            return self.read(positions(index, len(self), printable(self.name)).tolist())
        reader, row = self.locate(int(index))
        return {column.name: reader.read(column.name, row) for column in reader.header.columns}

    def _column(self, name: str) -> NDArray[Any]:
        blocks = [block[name] for block in self._blocks([name])]
        if not blocks:
            header = self._parts[0][0].header
            dtypes = {column.name: column.dtype for column in header.columns}
            shape = known_columns(header)[name]
            return np.empty((0, *shape), dtypes.get(name, np.int64))
        return np.concatenate(blocks)

    def _blocks(self, names: Sequence[str]) -> Iterator[Block]:
        for reader, _, _ in self._parts:
            yield from read_columns(reader, self.name, names)

    def where(self, condition: str) -> NDArray[np.int64]:
        """The positions of all samples that meet a condition, such as ``"depth >= 4"``.

        `synthprobe_data.shards.condition` says what it may be. It may name the same columns as an
        index.
        """
        asked = Condition(condition, known_columns(self._parts[0][0].header))
        blocks = self._blocks(sorted(asked.names))
        met = [np.zeros(0, bool), *(asked.holds(block) for block in blocks)]
        return np.flatnonzero(np.concatenate(met))

    def __repr__(self) -> str:
        columns = ", ".join(
            " ".join([c.name, str(c.dtype), "x".join(map(str, c.shape))]).rstrip()
            for c in self._parts[0][0].header.columns
        )
        return (
            f"<split {printable(self.name)} of {self._dataset.name}: "
            f"{counted(len(self), 'sample')} with {columns}>"
        )

    def read(self, indices: Sequence[int], names: Sequence[str] | None = None) -> Block:
        """The arrays of these samples, of all datasets or of those that are named."""
        columns = {column.name: column for column in self._parts[0][0].header.columns}
        located = [self.locate(index) for index in indices]
        block: Block = {}
        for name in columns if names is None else names:
            if name not in columns:
                raise SynthprobeError(f"there is no column {name!r}: take {', '.join(columns)}.")
            column = columns[name]
            rows = np.empty((len(indices), *column.shape), column.dtype)
            for i, (reader, row) in enumerate(located):
                rows[i] = reader.read(name, row)
            block[name] = rows
        return block

    def __iter__(self) -> Iterator[Sample]:
        return (self[i] for i in range(len(self)))

    def scene(self, index: int) -> Scene:
        """The scene of a sample of rectangles, with its relation as a graph."""
        scene: Scene = self._reading("scene", index)
        return scene

    def difficulty(self, index: int) -> Difficulty:
        """How hard a sample of rectangles is, from its rectangles; it need not be stored."""
        difficulty: Difficulty = self._reading("difficulty", index)
        return difficulty

    def _reading(self, kind: str, index: int) -> Any:
        readings = self._dataset.readings
        if kind not in readings:
            raise SynthprobeError(f"samples of {self._dataset.name} are not scenes.")
        return readings[kind](self[index], self._config)
