"""The options that every command has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import synthprobe_data
from synthprobe_data import ready_path, voice
from synthprobe_data.cli.gen import main as gen
from synthprobe_data.cli.shards import main as shards

QUICK = (
    *("rde", "--height", "24", "--width", "24", "--n-rectangles", "3", "--train", "4"),
    *("--test", "2", "--n-vis", "3", "--n-gap", "3", "--n-par", "3"),
)


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    yield
    voice.set_level(voice.USUAL)


@pytest.mark.parametrize(
    ("main", "words", "program"),
    [
        (gen, ["--version"], "synthprobe-gen"),
        (gen, ["rde", "--version"], "synthprobe-gen"),
        (shards, ["--version"], "synthprobe-shards"),
        (shards, ["info", "--version"], "synthprobe-shards"),
    ],
)
def test_every_command_has_its_version(
    main: Callable[[list[str]], int],
    words: list[str],
    program: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(words)
    assert capsys.readouterr().out == f"{program} {synthprobe_data.__version__}\n"


def test_a_quiet_command_says_its_result_alone_and_a_verbose_one_more(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert gen([*QUICK, "--out", str(tmp_path / "a.h5"), "--quiet"]) == 0
    quiet = capfd.readouterr()
    assert "content digest" in quiet.out
    assert quiet.err == ""
    assert gen([*QUICK, "--out", str(tmp_path / "b.h5"), "-v"]) == 0
    verbose = capfd.readouterr()
    assert f"synthprobe {synthprobe_data.__version__}, Python 3." in verbose.err
    assert "6 of 6 samples (100%)" in verbose.err
    assert gen([*QUICK, "--out", str(tmp_path / "c.h5")]) == 0
    assert "6 of 6" not in capfd.readouterr().err


def test_an_error_is_said_however_quiet_and_has_its_origin_if_verbose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "none.h5")
    assert shards(["info", missing, "-q"]) == 2
    sentence = capsys.readouterr().err
    assert sentence.startswith(f"synthprobe-shards: {missing}")
    assert sentence.count("\n") == 1
    assert shards(["info", missing, "-v"]) == 2
    verbose = capsys.readouterr().err
    assert verbose.endswith(sentence)
    assert "Traceback" in verbose


def test_quiet_and_verbose_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        shards(["info", "a.h5", "-q", "-v"])
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("main", "words", "completed"),
    [
        (gen, ["synthprobe-gen", "rde", "--n-rec"], "--n-rectangles"),
        (gen, ["synthprobe-gen", "cent"], "centered-square"),
        (shards, ["synthprobe-shards", "verify", "--rep"], "--repair"),
    ],
)
def test_bash_completes_commands_and_options(
    main: Callable[[list[str]], int],
    words: list[str],
    completed: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("shtab")
    with pytest.raises(SystemExit, match="0"):
        main(["--print-completion", "bash"])
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out, "utf-8")
    asked = (
        f'. "{script}"; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; '
        f"$(complete -p {words[0]} | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [completed]


def test_without_shtab_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(SystemExit, match="2"):
        shards(["--print-completion", "zsh"])
    assert "pip install 'synthprobe[completion]'" in capsys.readouterr().err


def run_module(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)


def test_the_package_runs_as_a_module() -> None:
    done = run_module("synthprobe_data", "shards", "ready", "rde")
    assert (done.returncode, done.stdout) == (0, f"{ready_path('rde')}\n")
    wrong = run_module("synthprobe_data", "make")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "gen" in wrong.stderr
    assert run_module("synthprobe_data", "--help").returncode == 0
