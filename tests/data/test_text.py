"""What a file says is shown, never obeyed: not by a terminal, and not by a page."""

from __future__ import annotations

import html
import json
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.cli.shards import main
from synthprobe_data.convert.merge_split import split
from synthprobe_data.text import is_utf_8, printable
from synthprobe_data.verification.verify import verify
from tests.data.shards.forged import read_json, rename_split, set_json

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b31m\r\nspoofed\u202eb\u2066\u200b\x00"
SHOWN = r"a\x1b]0;owned\x07\x1b[2J\x9b31m\r\nspoofed\u202eb\u2066\u200b\x00"


def is_harmless(said: str) -> bool:
    """Whether a terminal shows all of it, as lines that we began."""
    return said.replace("\n", "").isprintable() and "\nspoofed" not in said


@given(st.text(st.characters(exclude_categories=())))
def test_what_is_printable_stays_and_all_else_is_escaped(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert is_utf_8(shown)
    assert printable(shown) == shown
    for sign in text:
        if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            assert sign not in shown
        elif unicodedata.category(sign)[0] in "LMNPS":
            assert sign in shown


def test_an_escape_says_which_sign_it_was() -> None:
    assert printable(EVIL) == SHOWN
    assert printable("\ud800 \U000e0001") == r"\ud800 \U000e0001"
    assert printable("Größe 深度 ½ 🙂") == "Größe 深度 ½ 🙂"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    make_file("rde", folder / "one.h5", train=5, test=2, config=SMALL, cards=False)
    split(folder / "one.h5", folder / "shards", 2)
    return folder


@pytest.fixture
def evil_split(tmp_path: Path, good: Path) -> Path:
    """A file with a split whose name is an attack."""
    return forged(good, tmp_path, lambda file: rename_split(file, "train", EVIL))


@pytest.fixture
def evil_version(tmp_path: Path, good: Path) -> Path:
    """A file with a version that is an attack."""

    def change(file: h5py.File) -> None:
        file.attrs["version"] = np.bytes_(f"1.0{EVIL}.".encode())

    return forged(good, tmp_path, change)


def forged(good: Path, folder: Path, change: Callable[[h5py.File], None]) -> Path:
    path = folder / "forged.h5"
    shutil.copy(good / "one.h5", path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


COMMANDS = {
    "info": (0, ["info", "{path}"]),
    "info --json": (0, ["info", "{path}", "--json"]),
    "verify": (1, ["verify", "{path}"]),
    "verify --json": (1, ["verify", "{path}", "--json"]),
    "verify --repair": (2, ["verify", "{path}", "--repair"]),
    "card": (2, ["card", "{path}"]),
    "preview": (0, ["preview", "{path}", "--out", "{out}/sheet.png"]),
    "preview without a name": (0, ["preview", "{path}"]),
    "preview beyond the end": (2, ["preview", "{path}", "--start", "9", "--out", "{out}/a.png"]),
    "preview of another split": (2, ["preview", "{path}", "--split", "no", "--out", "{out}/a.png"]),
    "explain": (0, ["explain", "{path}", "0", "--out", "{out}/figure.svg"]),
    "explain beyond the end": (2, ["explain", "{path}", "9", "--out", "{out}/figure.svg"]),
    "browse": (0, ["browse", "{path}", "--out", "{out}/page.html"]),
    "select": (2, ["select", "{path}", "--rows", "9", "--out", "{out}/some.h5"]),
    "merge": (2, ["merge", "{path}", "--out", "{out}/again.h5"]),
    "split": (2, ["split", "{path}", "--out", "{out}/folder", "--shards", "3"]),
    "export": (2, ["export", "{path}", "--out", "{out}/png", "--format", "png"]),
}
"""The exit code for a split with an evil name, and the command."""


def run(words: list[str], path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> int:
    code = main([word.format(path=path, out=out) for word in words])
    said = capsys.readouterr()
    assert is_harmless(said.out)
    assert is_harmless(said.err)
    assert code != 2 or said.err.splitlines()[-1].startswith("synthprobe-shards: ")
    return code


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_terminal_obeys_in_the_name_of_a_split(
    evil_split: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, words = COMMANDS[command]
    assert run(words, evil_split, tmp_path, capsys) == code


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_terminal_obeys_in_the_version(
    evil_version: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run(COMMANDS[command][1], evil_version, tmp_path, capsys)


def test_info_shows_the_escapes(
    evil_split: Path, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(evil_split)]) == 0
    assert f"{SHOWN} 5" in capsys.readouterr().out


def test_the_readers_of_python_users_show_the_escapes(evil_split: Path) -> None:
    with open_dataset(evil_split) as data:
        for shown in (repr(data), repr(data[EVIL])):
            assert shown.isprintable()
            assert SHOWN in shown
        with pytest.raises(SynthprobeError) as refusal:
            data["train"]
        assert str(refusal.value).isprintable()
        with pytest.raises(IndexError) as out_of_range:
            data[EVIL][99]
        assert str(out_of_range.value).isprintable()


@pytest.mark.parametrize("words", [["preview", "{path}"], ["explain", "{path}", "0"]])
def test_a_picture_shows_the_escapes(
    evil_split: Path, good: Path, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "plain").mkdir()
    plain = forged(good, tmp_path / "plain", lambda file: rename_split(file, "train", SHOWN))
    pictures = []
    for path in (evil_split, plain):
        out = path.with_suffix(".png")
        given = [word.format(path=path) for word in words]
        assert main([*given, "--out", str(out)]) == 0
        pictures.append(out.read_bytes())
    assert pictures[0] == pictures[1]


def test_the_page_shows_the_escapes(evil_split: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["browse", str(evil_split), "--out", str(page)]) == 0
    text = page.read_text("utf-8")
    assert html.escape(SHOWN) in text.partition("</title>")[0]
    assert json.dumps(SHOWN) in text
    assert "\x1b" not in text
    assert "\\u001b" not in text


def test_the_hash_in_a_forged_croissant_file_is_shown_escaped(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.h5"
    shutil.copy(good / "one.h5", path)
    card = {"distribution": [{"name": "one.h5", "sha256": EVIL}]}
    (tmp_path / "one.croissant.json").write_text(json.dumps(card))
    assert run(["info", "{path}"], path, tmp_path, capsys) == 0
    assert run(["verify", "{path}"], path, tmp_path, capsys) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update({EVIL: 1}),
        lambda m: m.update(version=EVIL),
        lambda m: m.update(dataset=EVIL),
        lambda m: m["splits"].update({EVIL: 1}),
        lambda m: m["config"].update({EVIL: 1}),
        lambda m: m["shards"][0].update({EVIL: 1}),
        lambda m: m["shards"][0].update(split=EVIL),
        lambda m: m["shards"][0].update(file=f"{EVIL}.h5"),
        lambda m: m["shards"][0].update(sha256=EVIL),
    ],
)
def test_a_forged_manifest_is_refused_in_words_that_a_terminal_shows(
    good: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, object]], object],
) -> None:
    folder = Path(shutil.copytree(good / "shards", tmp_path / "shards"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    run(["info", "{path}"], folder, tmp_path, capsys)
    for words in (["verify", "{path}"], ["verify", "{path}", "--repair"]):
        assert run(words, folder, tmp_path, capsys) in (0, 1, 2)


LONE = "train\ud800"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_split_that_is_not_utf_8_is_refused_in_one_sentence(
    good: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = forged(good, tmp_path, lambda file: rename_split(file, "train", LONE))
    words = COMMANDS[command][1]
    verified = command in ("verify", "verify --json")
    assert run(words, path, tmp_path, capsys) == (1 if verified else 2)
    report = verify(path, workers=1)
    assert report.failed == {"format": 1}
    assert "its splits have a name that is not UTF-8" in report.failures[0].sentence
    with pytest.raises(SynthprobeError, match="its splits have a name that is not UTF-8"):
        open_dataset(path)


def test_a_name_of_one_attribute_alone_is_refused_too(good: Path, tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        set_json(file, "index_start", {**read_json(file, "index_start"), LONE: 0})

    with pytest.raises(SynthprobeError) as refusal:
        open_dataset(forged(good, tmp_path, change))
    assert str(refusal.value).isprintable()


def test_a_shard_whose_split_is_not_utf_8_is_refused(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(good / "shards", tmp_path / "shards"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["shards"][0]["split"] = LONE
    manifest["splits"][LONE] = manifest["splits"].pop("train")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert run(["info", "{path}"], folder, tmp_path, capsys) == 2
    assert run(["verify", "{path}"], folder, tmp_path, capsys) == 1
