"""Files from strangers: an error in one sentence, or the right data; never a crash or a trap."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import ColorCodeConfig, RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.convert.merge_split import split
from synthprobe_data.shards.layout import FORMAT_VERSION
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.shards.reader import ShardReader
from synthprobe_data.verification.verify import verify

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "good.h5"
    make_file("rde", path, train=5, test=2, config=SMALL)
    return path


def replace_label(file: h5py.File, **options: object) -> None:
    label = file["label"][()]
    del file["label"]
    file.create_dataset("label", **{"data": label, **options})


def external_link(file: h5py.File) -> None:
    del file["label"]
    file["label"] = h5py.ExternalLink("/etc/passwd", "/label")


def soft_link(file: h5py.File) -> None:
    del file["label"]
    file["label"] = h5py.SoftLink("/rank")


def dangling_link(file: h5py.File) -> None:
    del file["label"]
    file["label"] = h5py.SoftLink("/nowhere")


def external_storage(file: h5py.File) -> None:
    shape = file["label"].shape
    del file["label"]
    stolen = [("/etc/passwd", 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("label", shape, "u1", external=stolen)


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(file["label"].shape, "u1")
    layout[:] = h5py.VirtualSource("elsewhere.h5", "label", file["label"].shape)
    del file["label"]
    file.create_virtual_dataset("label", layout)


def objects(file: h5py.File) -> None:
    rows = len(file["label"])
    del file["label"]
    file.create_dataset("label", (rows,), h5py.string_dtype())


def references(file: h5py.File) -> None:
    rows = len(file["label"])
    del file["label"]
    file.create_dataset("label", (rows,), h5py.ref_dtype)


def compound(file: h5py.File) -> None:
    replace_label(file, data=np.zeros(file["label"].shape, [("a", "u1")]))


def group(file: h5py.File) -> None:
    del file["label"]
    file.create_group("label")


def bomb(file: h5py.File) -> None:
    packed = zlib.compress(bytes(50_000_000))
    file["label"].id.write_direct_chunk((0, 0, 0), packed)


def short_row(file: h5py.File) -> None:
    file["label"].id.write_direct_chunk((0, 0, 0), zlib.compress(bytes(100)))


def unpacked_bomb(file: h5py.File) -> None:
    file["label"].id.write_direct_chunk((0, 0, 0), bytes(100_000), filter_mask=1)


def never_written(name: str, **options: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        shape, dtype = file[name].shape, file[name].dtype
        del file[name]
        file.create_dataset(name, shape, dtype, **options)

    return change


def one_chunk_missing(file: h5py.File) -> None:
    label = file["label"][()]
    never_written("label", chunks=(1, *label.shape[1:]), compression="gzip")(file)
    for row in range(1, len(label)):
        file["label"][row] = label[row]


def bomb_of_many_rows(file: h5py.File) -> None:
    """A chunk of the numbers of rectangles that decodes to far more than its rows."""
    file["n_rectangles"].id.write_direct_chunk((0,), zlib.compress(bytes(50_000_000)))


def unpacked_bomb_of_many_rows(file: h5py.File) -> None:
    file["n_rectangles"].id.write_direct_chunk((0,), bytes(100_000), filter_mask=1)


def rows_from_nothing(rows: int, chunk_rows: int = 1024) -> Callable[[h5py.File], None]:
    """So many rows, and none of them written."""

    def change(file: h5py.File) -> None:
        for name in list(file):
            shape, dtype = file[name].shape[1:], file[name].dtype
            del file[name]
            chunk = 1 if file.attrs["dataset"] == b"rde" and len(shape) > 1 else chunk_rows
            file.create_dataset(
                name, (rows, *shape), dtype, chunks=(chunk, *shape), compression="gzip"
            )
        file.attrs["splits"] = np.bytes_(json.dumps({"train": [0, rows]}))
        file.attrs["index_start"] = np.bytes_('{"train": 0}')

    return change


def contiguous_from_nothing(file: h5py.File) -> None:
    """A dataset that is said to stand in the file as it is, but is far larger than the file."""
    rows_from_nothing(10**7)(file)
    shape, dtype = file["rectangles"].shape, file["rectangles"].dtype
    del file["rectangles"]
    file.create_dataset("rectangles", shape, dtype)


def attribute(name: str, value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file.attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value

    return change


def variable_text(file: h5py.File) -> None:
    file.attrs["version"] = "1.0.0"


def setting(**changes: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        config = {**json.loads(file.attrs["config"]), **changes}
        file.attrs["config"] = np.bytes_(json.dumps(config).encode())

    return change


HOSTILE: dict[str, Callable[[h5py.File], None]] = {
    "an external link": external_link,
    "a soft link": soft_link,
    "a dangling link": dangling_link,
    "external storage": external_storage,
    "a virtual dataset": virtual,
    "objects": objects,
    "references": references,
    "a compound type": compound,
    "a group": group,
    "a further dataset": lambda file: file.create_dataset("extra", data=np.zeros(7, "u1")),
    "a missing dataset": lambda file: file.__delitem__("color"),
    "another type": lambda file: replace_label(file, dtype="f4"),
    "another byte order": lambda file: replace_label(file, dtype=">i2"),
    "another shape": lambda file: replace_label(file, data=np.zeros((7, 40, 33), "u1")),
    "fewer rows": lambda file: replace_label(file, data=np.zeros((6, 40, 32), "u1")),
    "a filter that is not deflate": lambda file: replace_label(file, compression="lzf"),
    "a second filter": lambda file: replace_label(file, compression="gzip", shuffle=True),
    "a checksum filter": lambda file: replace_label(file, fletcher32=True, chunks=(1, 40, 32)),
    "a chunk that decodes to too much": bomb,
    "a chunk that decodes to too little": short_row,
    "a chunk that is too large as it is": unpacked_bomb,
    "a chunk of many rows that decodes to too much": bomb_of_many_rows,
    "a chunk of many rows that is too large as it is": unpacked_bomb_of_many_rows,
    "chunks that were never written": never_written("label", chunks=True, compression="gzip"),
    "chunks of many rows that were never written": never_written("rectangles", chunks=True),
    "one chunk that was never written": one_chunk_missing,
    "contiguous rows that were never written": never_written("label"),
    "small contiguous rows that were never written": never_written("n_rectangles"),
    "a million rows from nothing": rows_from_nothing(10**6),
    "a hundred million rows from nothing": rows_from_nothing(10**8),
    "contiguous rows beyond the file": contiguous_from_nothing,
    "another format": attribute("synthprobe_format", FORMAT_VERSION + 1),
    "a format that is a text": attribute("synthprobe_format", "1"),
    "an unknown dataset": attribute("dataset", "cats"),
    "a dataset that is a number": attribute("dataset", 7),
    "a config that is not JSON": attribute("config", "{"),
    "a config that is a list": attribute("config", "[]"),
    "a config that is nested without end": attribute("config", "[" * 20_000),
    "an unknown setting": setting(colour="red"),
    "a setting out of range": setting(height=10**9),
    "a setting of another size": setting(height=48),
    "a setting of another type": setting(n_vis=None),
    "a negative seed": attribute("seed", -1),
    "a seed that is an array": attribute("seed", [1, 2]),
    "a digest that is none": attribute("content_digest", "abc"),
    "splits beyond the rows": attribute("splits", '{"train": [0, 8]}'),
    "splits with a gap": attribute("splits", '{"train": [0, 3], "test": [4, 7]}'),
    "splits that overlap": attribute("splits", '{"train": [0, 5], "test": [4, 7]}'),
    "splits that are no spans": attribute("splits", '{"train": 7}'),
    "an index that is negative": attribute("index_start", '{"train": 0, "test": -1}'),
    "an index for another split": attribute("index_start", '{"train": 0}'),
    "a text of variable length": variable_text,
    "a missing attribute": lambda file: file.attrs.__delitem__("splits"),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_refused_with_one_sentence(
    tmp_path: Path, good: Path, spoil: Callable[[h5py.File], None]
) -> None:
    path = tmp_path / "bad.h5"
    shutil.copy(good, path)
    with h5py.File(path, "r+") as file:
        spoil(file)
    with pytest.raises(SynthprobeError) as refusal, ShardReader(path) as reader:
        reader.read_rows(0, len(reader))
    assert str(refusal.value).startswith(str(path))
    assert "cannot be read: " in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_wide_chunk_of_many_rows_is_read_but_not_one_without_bounds(
    tmp_path: Path, good: Path
) -> None:
    path = tmp_path / "wide.h5"
    shutil.copy(good, path)
    with h5py.File(path, "r+") as file:
        replace_label(file, chunks=(7, 40, 32), compression="gzip")
    with ShardReader(path) as wide, ShardReader(good) as plain:
        assert (wide.read("label", 6) == plain.read("label", 6)).all()
    with h5py.File(path, "r+") as file:
        label = file["label"][()]
        del file["label"]
        file.create_dataset(
            "label", label.shape, "u1", chunks=(100_000, 40, 32), maxshape=(None, 40, 32)
        )
    with pytest.raises(SynthprobeError, match="chunks of"):
        ShardReader(path)


def test_more_rows_than_bytes_are_refused_though_all_their_chunks_are_there(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bad.h5"
    make_file("color-code", path, train=5, test=2, config=ColorCodeConfig(positions=4, colors=2))
    with h5py.File(path, "r+") as file:
        rows_from_nothing(10**6, 10**5)(file)
        for name in file:
            shape = file[name].chunks
            packed = zlib.compress(np.zeros(shape, file[name].dtype).tobytes(), 9)
            for start in range(0, 10**6, 10**5):
                file[name].id.write_direct_chunk((start, *(0,) * (len(shape) - 1)), packed)
    assert path.stat().st_size < 10**6
    with pytest.raises(SynthprobeError, match="more rows than bytes"):
        ShardReader(path)


@pytest.mark.parametrize("options", [{}, {"chunks": (3, 2, 3), "compression": "gzip"}])
def test_rows_that_are_too_many_to_keep_are_read_in_pieces(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object]
) -> None:
    path = tmp_path / "pieces.h5"
    shutil.copy(good, path)
    with h5py.File(path, "r+") as file:
        above = file["above"][()]
        del file["above"]
        file.create_dataset("above", data=above, **options)
    for kept in (1, 20, 10_000):
        monkeypatch.setattr("synthprobe_data.shards.reader.MAX_KEPT_BYTES", kept)
        with ShardReader(path) as pieces:
            for row in (6, 0, 3, 2, 5):
                assert (pieces.read("above", row) == above[row]).all()
            assert (pieces.small("above", 2, 6) == above[2:6]).all()
            assert (pieces.small("above") == above).all()
            assert sum(column.nbytes for column in pieces._small.values()) <= kept


@pytest.mark.parametrize("content", [b"", b"not HDF5", b"\x89HDF\r\n\x1a\n" + bytes(2000)])
def test_what_is_not_hdf5_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.h5"
    path.write_bytes(content)
    with pytest.raises(SynthprobeError, match="cannot be read"):
        open_dataset(path)
    with pytest.raises(SynthprobeError, match="does not exist"):
        open_dataset(tmp_path / "missing.h5")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        f'{{"synthprobe_format": {FORMAT_VERSION + 1}}}',
        '{"synthprobe_format": 1, "shards": [{"file": "../x.h5"}]}',
        '{"synthprobe_format": 1, "shards": 3}',
        "[" * 100_000,
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(SynthprobeError, match="cannot be read"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["../secret.h5", "/secret.h5", "a\0.h5", "\ud800.h5", "a\n.h5"])
def test_a_manifest_that_leads_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    entry = {
        "file": name, "split": "train", "index_start": 0, "rows": 1,
        "bytes": 1, "sha256": "", "content_digest": "",
    }  # fmt: skip
    manifest = {
        "synthprobe_format": 1, "dataset": "rde", "version": "1.0.0", "config": {}, "seed": 0,
        "splits": {"train": 1}, "content_digest": "", "shards": [entry],
    }  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SynthprobeError, match="not a file beside it"):
        open_dataset(tmp_path)
    report = verify(tmp_path)
    assert report.failed == {"manifest": 1}
    str(report.failures[0]).encode()  # it can be printed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dataset", 7),
        ("version", ["1.0.0"]),
        ("config", []),
        ("seed", "0"),
        ("seed", -1),
        ("splits", 1),
        ("splits", {"train": "1"}),
        ("content_digest", None),
        ("content_digest", "abc"),
    ],
)
def test_a_manifest_with_a_value_of_another_type_is_refused(
    tmp_path: Path, good: Path, field: str, value: object
) -> None:
    split(good, tmp_path / "d", 2)
    path = tmp_path / "d" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(SynthprobeError, match=f"cannot be read: its {field} is not"):
        open_dataset(tmp_path / "d")
    assert verify(tmp_path / "d").failed == {"manifest": 1}


def test_the_commonest_mistakes_are_said_in_words_for_people(tmp_path: Path, good: Path) -> None:
    cut, text = tmp_path / "cut.h5", tmp_path / "text.h5"
    cut.write_bytes(good.read_bytes()[:-100])
    text.write_text("a pointer to a file that is elsewhere")
    for path, sentence in ((cut, "it is truncated"), (text, "it is not an HDF5 file")):
        with pytest.raises(SynthprobeError, match=f"{path.name} cannot be read: {sentence}"):
            open_dataset(path)
