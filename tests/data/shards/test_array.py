"""Arrays in files of anybody: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import GuardedArray, SynthprobeError
from synthprobe_data.shards.guard import validate_files

VALUES = np.arange(7 * 5 * 6, dtype=np.float64).reshape(7, 5, 6) / 7


def written(path: Path, **options: object) -> Path:
    with h5py.File(path, "w") as file:
        file.create_dataset("prediction", data=VALUES.astype("<f4"), **options)
    return path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (3, 5, 6)},
        {"chunks": (2, 3, 4), "compression": "gzip"},
        {"chunks": (3, 4, 5), "compression": "gzip", "shuffle": True},
    ],
)
def test_rows_are_those_that_h5py_reads(tmp_path, options) -> None:
    with GuardedArray(written(tmp_path / "a.h5", **options), "prediction") as array:
        assert len(array) == 7
        for start, stop in ((0, 7), (2, 3), (3, 6)):
            np.testing.assert_array_equal(
                array.rows(start, stop), VALUES[start:stop].astype(np.float32)
            )


@pytest.mark.parametrize("dtype", ["<f2", "<f8", "u1", "<u2", "<i4"])
def test_numbers_of_any_kind_are_read(tmp_path, dtype) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["other"] = VALUES.astype(dtype)  # the only one, whatever its name
    with GuardedArray(tmp_path / "a.h5", "prediction") as array:
        np.testing.assert_array_equal(array.rows(0, 7), VALUES.astype(dtype))


def test_texts_of_fixed_length_are_read_and_no_others(tmp_path) -> None:
    with h5py.File(written(tmp_path / "a.h5"), "a") as file:
        file.attrs["split"] = np.bytes_("test")
        file.attrs["dataset"] = "of variable length"
    with GuardedArray(tmp_path / "a.h5", "prediction") as array:
        assert (array.text("split"), array.text("dataset"), array.text("x")) == ("test", None, None)


def test_floats_are_walked_by_the_child_too(tmp_path) -> None:
    """A chunk that is larger than one may be is found where limits hold, not by the reader."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        stored = file.create_dataset("prediction", (1, 4), "<f4", chunks=(1, 4), compression="gzip")
        stored.id.write_direct_chunk((0, 0), bytes(66 * 2**20))
    ((_, sentence),) = validate_files([path])
    assert sentence is not None
    assert "chunk of" in sentence


def refused(path: Path) -> str:
    with pytest.raises(SynthprobeError) as error:
        GuardedArray(path, "prediction").rows(0, 1)
    assert str(error.value).startswith(f"{path} cannot be read: ")
    return str(error.value)


def test_what_is_no_plain_array_is_refused(tmp_path) -> None:
    path = tmp_path / "a.h5"

    def sentence(write) -> str:
        with h5py.File(path, "w") as file:
            write(file)
        return refused(path)

    assert "no dataset 'prediction'" in sentence(lambda f: f.update(a=[1], b=[2]))
    assert "link to somewhere" in sentence(
        lambda f: f.__setitem__("prediction", h5py.ExternalLink("b.h5", "x"))
    )
    assert "not a dataset" in sentence(lambda f: f.create_group("prediction"))
    assert "of type" in sentence(lambda f: f.__setitem__("prediction", np.bytes_("abc")))
    assert "big-endian" in sentence(lambda f: f.__setitem__("prediction", VALUES.astype(">f4")))
    assert "no rows" in sentence(lambda f: f.__setitem__("prediction", 1.0))
    assert "filter" in sentence(
        lambda f: f.create_dataset("prediction", data=VALUES, chunks=(1, 5, 6), fletcher32=True)
    )
    assert "never written" in sentence(lambda f: f.create_dataset("prediction", (5, 4), "<f4"))
    assert "0 of 3 chunks" in sentence(
        lambda f: f.create_dataset("prediction", (5, 4), "<f4", chunks=(2, 4))
    )


def test_a_chunk_that_inflates_to_more_than_it_may_is_refused(tmp_path) -> None:
    import zlib

    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        stored = file.create_dataset("prediction", (1, 4), "<f4", chunks=(1, 4), compression="gzip")
        stored.id.write_direct_chunk((0, 0), zlib.compress(bytes(10**6)))
    assert "do not end where the chunk ends" in refused(path)


def test_what_is_no_file_of_hdf5_is_refused(tmp_path) -> None:
    (tmp_path / "a.h5").write_bytes(b"no file at all" * 100)
    assert "not an HDF5 file" in refused(tmp_path / "a.h5")
    assert refused(tmp_path / "missing.h5")


def test_compressed_data_that_are_damaged_get_one_sentence(tmp_path) -> None:
    """Whatever the library that inflates them makes of it."""
    path = written(tmp_path / "a.h5", chunks=(1, 5, 6), compression="gzip")
    with h5py.File(path) as file:
        chunks = [file["prediction"].id.get_chunk_info(row) for row in range(7)]
    content = bytearray(path.read_bytes())
    for row, chunk in enumerate(chunks):
        for place in range(8 * row, 8 * row + 8):
            content[chunk.byte_offset + place] ^= 255
    path.write_bytes(content)
    with GuardedArray(path, "prediction") as array:
        for row in range(7):
            with pytest.raises(SynthprobeError) as error:
                array.rows(row, row + 1)
            said = f"{path} cannot be read: row {row} to {row} of prediction: "
            assert str(error.value).startswith(said)
