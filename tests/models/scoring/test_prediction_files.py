"""Predictions from files: every format, every mistake, and what a hostile file can do."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("torch")

from synthprobe_data import SynthprobeError
from synthprobe_models.scoring.prediction_files import open_predictions

COUNT, SHAPE = 4, (3, 5)
VALUES = np.random.default_rng(0).integers(0, 60_000, (COUNT, *SHAPE)).astype(np.float64)


def write_h5(path: Path, values: np.ndarray) -> Path:
    with h5py.File(path, "w") as file:
        file["prediction"] = values
    return path


def write_npy(path: Path, values: np.ndarray) -> Path:
    np.save(path, values)
    return path


def write_npz(path: Path, values: np.ndarray) -> Path:
    np.savez_compressed(path, prediction=values)
    return path


def write_pngs(path: Path, values: np.ndarray) -> Path:
    path.mkdir()
    for row, picture in enumerate(values):
        Image.fromarray(picture.astype(np.uint16)).save(path / f"{row:04d}.png")
    return path


def write_npys(path: Path, values: np.ndarray) -> Path:
    path.mkdir()
    for row, picture in enumerate(values):
        np.save(path / f"{row}.npy", picture)
    return path


FILES = {"a.h5": write_h5, "a.npy": write_npy, "a.npz": write_npz}
ALL = {**FILES, "pngs": write_pngs, "npys": write_npys}


def opened(path: Path):
    return open_predictions(path, COUNT, SHAPE)


def refused(path: Path, rows=range(COUNT)) -> str:
    with pytest.raises(SynthprobeError) as error, contextlib.closing(opened(path)) as file:
        file.rows(list(rows))
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


@pytest.mark.parametrize("name", ALL)
def test_every_format_gives_the_same_rows_in_any_order(tmp_path, name) -> None:
    file = opened(ALL[name](tmp_path / name, VALUES))
    np.testing.assert_array_equal(file.rows([0, 1, 2, 3]), VALUES)
    np.testing.assert_array_equal(file.rows([3, 1]), VALUES[[3, 1]])
    file.close()


@pytest.mark.parametrize("name", FILES)
def test_an_axis_of_channels_may_be_there(tmp_path, name) -> None:
    file = opened(FILES[name](tmp_path / name, VALUES[:, None]))
    np.testing.assert_array_equal(file.rows([2]), VALUES[[2]])


@pytest.mark.parametrize("name", FILES)
def test_wrong_count_shape_type_and_nan_name_the_row(tmp_path, name) -> None:
    write, path = FILES[name], tmp_path / name
    assert "3 rows for 4 samples: there is no row 3" in refused(write(path, VALUES[:3]))
    more = np.concatenate([VALUES, VALUES[:1]])
    assert "5 rows for 4 samples: row 4 is one too many" in refused(write(path, more))
    assert "row 0" in refused(write(path, VALUES[:, :, :4]))
    assert "must be (3, 5)" in refused(write(path, VALUES[:, :, :4]))
    assert "complex" in refused(write(path, VALUES.astype(np.complex128)))
    for value, said in ((np.nan, "nan"), (np.inf, "inf")):
        wrong = VALUES.copy()
        wrong[2, 1, 4] = value
        sentence = refused(write(path, wrong))
        assert f"row 2 of {path} has {said} at (1, 4)" in sentence


def test_a_folder_names_the_row_that_is_wrong(tmp_path) -> None:
    path = write_pngs(tmp_path / "p", VALUES)
    (path / "readme.txt").write_text("is no prediction")
    opened(path).rows(range(COUNT))
    np.save(path / "2.npy", VALUES[2])
    assert "two files for row 2: 0002.png and 2.npy" in refused(path)
    (path / "2.npy").unlink()
    Image.fromarray(VALUES[1].astype(np.uint8)).save(path / "0001.png")
    assert "row 1" in refused(path)
    assert "no 16-bit grey PNG" in refused(path)
    Image.fromarray(VALUES[1].astype(np.uint16).T.copy()).save(path / "0001.png")
    assert "has 5 x 3 pixels: it must have 3 x 5" in refused(path)
    (path / "0001.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    assert "row 1" in refused(path)
    (path / "0001.png").unlink()
    assert "no file for row 1" in refused(path)
    np.save(path / "1.npy", VALUES[0, :2])
    assert "row 1" in refused(path)
    np.save(path / "1.npy", VALUES[1])
    np.save(path / "17.npy", VALUES[1])
    assert "row 17 is one too many" in refused(path)


class Trap:
    """Unpickled, it would say so."""

    def __reduce__(self):
        return print, ("code was run",)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_no_pickle_is_ever_loaded(tmp_path, capsys, kind) -> None:
    content = io.BytesIO()
    np.save(content, np.array([Trap()] * COUNT, dtype=object), allow_pickle=True)
    path = tmp_path / f"a.{kind}"
    if kind == "npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("prediction.npy", content.getvalue())
    else:
        path.write_bytes(content.getvalue())
    refused(path)
    path.write_bytes(pickle.dumps(Trap()))
    refused(path)
    assert "code was run" not in capsys.readouterr().out


def header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        out, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return out.getvalue()


def test_a_file_that_promises_more_than_it_has_is_refused(tmp_path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(header((COUNT, *SHAPE)) + bytes(8))
    assert "damaged" in refused(path)
    path.write_bytes(header((2**39, 2**39)))
    assert "damaged" in refused(path)
    path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 100)
    assert "damaged" in refused(path)


def test_an_archive_that_inflates_to_more_is_read_no_further_than_it_may(tmp_path) -> None:
    path = tmp_path / "a.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("prediction.npy", "w") as stream,
    ):
        stream.write(header((COUNT, *SHAPE)) + VALUES.tobytes())
        for _ in range(64):
            stream.write(bytes(2**20))
    file = opened(path)
    assert file.array.nbytes == VALUES.nbytes
    np.testing.assert_array_equal(file.rows(range(COUNT)), VALUES)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("prediction.npy", header((COUNT, *SHAPE)) + VALUES.tobytes())
    assert "packed otherwise" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"")
        archive.writestr("b.npy", b"")
    assert "no array 'prediction'" in refused(path)


def test_other_files_are_refused(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("1,2")
    assert "must end in .h5, .npy or .npz" in refused(tmp_path / "a.csv")
    assert "there is no file" in refused(tmp_path / "missing.npy")
    (tmp_path / "a.h5").write_text("1,2")
    assert "cannot be read" in refused(tmp_path / "a.h5")
    (tmp_path / "a.npz").write_text("1,2")
    assert "not a .npz file" in refused(tmp_path / "a.npz")


def test_an_archive_with_a_directory_that_takes_much_memory_is_refused(tmp_path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("prediction.npy", header((COUNT, *SHAPE)) + VALUES.tobytes())
        for number in range(20):
            archive.writestr(f"{number}", b"", zipfile.ZIP_STORED)
            archive.infolist()[-1].extra = bytes(2**16 - 100)
    assert path.stat().st_size > 2**20
    assert "damaged" in refused(path)


def test_what_is_no_regular_file_is_never_opened(tmp_path) -> None:
    """To open a pipe would wait for ever."""
    path = write_npys(tmp_path / "p", VALUES)
    (path / "1.npy").unlink()
    os.mkfifo(path / "1.npy")
    assert f"row 1, {path / '1.npy'}, is no file" in refused(path)
    (path / "1.npy").unlink()
    (path / "1.npy").symlink_to("/dev/zero")
    assert "is no file" in refused(path)


def test_a_folder_names_the_row_of_another_type(tmp_path) -> None:
    path = write_npys(tmp_path / "p", VALUES)
    np.save(path / "3.npy", VALUES[3].astype(np.complex128))
    assert f"row 3, {path / '3.npy'}, has numbers of type complex128" in refused(path)


@st.composite
def damage(draw: st.DrawFn) -> tuple[float | None, list[tuple[float, int]]]:
    """Where a file ends early, or which of its bytes are others."""
    place = st.floats(0, 1, exclude_max=True)
    if draw(st.booleans()):
        return draw(place), []
    return None, draw(st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=8))


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "pngs"])
@given(damage=damage())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_are_read_or_refused_in_one_sentence(tmp_path, name, damage) -> None:
    path = tmp_path / name
    if not path.exists():
        ALL[name](path, VALUES)
    file = path / "0002.png" if path.is_dir() else path
    whole = file.read_bytes()
    end, others = damage
    content = bytearray(whole if end is None else whole[: int(end * len(whole))])
    for place, byte in others:
        # Half of them among the first bytes, which say what there is.
        length = len(content) if place < 0.5 else min(len(content), 200)
        content[int(place * 2 % 1 * length)] = byte
    file.write_bytes(content)
    said = ""
    try:
        with contextlib.closing(opened(path)) as found:
            assert np.isfinite(found.rows(range(COUNT))).all()
    except SynthprobeError as error:
        said = str(error)
    file.write_bytes(whole)
    assert "\n" not in said
