"""What surrounds every command: streams that cannot be written, odd arguments, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from synthprobe_data import SynthprobeError, make_sample
from synthprobe_data.cli.common import run_command
from synthprobe_data.cli.gen import main as generate
from synthprobe_data.cli.shards import main as shards
from synthprobe_data.ready import ready_path
from synthprobe_data.verification.verify import verify

MODULES = {
    "synthprobe-gen": "synthprobe_data.cli.gen",
    "synthprobe-shards": "synthprobe_data.cli.shards",
    "synthprobe-probe": "synthprobe_models.cli.main",
}
QUICK = (
    *("--height", "24", "--width", "24", "--n-rectangles", "3", "--train", "4", "--test", "2"),
    *("--n-vis", "3", "--n-gap", "3", "--n-par", "3"),
)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """The word before kernels are compiled is said elsewhere."""
    make_sample("rde", index=0)
    assert verify(ready_path("rde"), sample=1).ok


posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
with_torch = pytest.mark.skipif(find_spec("torch") is None, reason="there is no PyTorch")


def call(
    program: str,
    words: Sequence[object],
    redirection: str = "",
    prepare: str = "",
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, its streams redirected as a shell does it."""
    code = f"{prepare}\nimport sys\nfrom {MODULES[program]} import main\nsys.exit(main())"
    return subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {redirection}',
            "sh",
            sys.executable,
            "-c",
            code,
            *map(str, words),
        ],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=200,
        env={**os.environ, **environment},
    )


def assert_one_sentence(done: subprocess.CompletedProcess[str], program: str) -> None:
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(program)
    assert done.stderr.rstrip().endswith(".")


@posix
@pytest.mark.parametrize("words", [("info",), ("--help",), ("info", "--json")])
@pytest.mark.parametrize(
    ("redirection", "sentence"),
    [
        (">&-", "standard output is closed"),
        pytest.param(
            ">/dev/full",
            "standard output: No space left on device.",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it"),
        ),
    ],
)
def test_an_output_that_cannot_be_written_gets_one_sentence(
    words: tuple[str, ...], redirection: str, sentence: str
) -> None:
    given = [*words[:1], *([ready_path("rde")] if "info" in words else []), *words[1:]]
    done = call("synthprobe-shards", given, redirection)
    assert_one_sentence(done, "synthprobe-shards")
    assert sentence in done.stderr


@posix
def test_with_closed_output_nothing_is_generated(tmp_path: Path) -> None:
    done = call("synthprobe-gen", ["rde", "--out", tmp_path / "a.h5", *QUICK], ">&-")
    assert_one_sentence(done, "synthprobe-gen")
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.parametrize("redirection", ["2>&-", "<&-", "<&- 2>&-"])
def test_other_closed_streams_do_not_matter(tmp_path: Path, redirection: str) -> None:
    options = ["rde", "--out", tmp_path / "a.h5", *QUICK, "--workers", "1"]
    done = call("synthprobe-gen", options, redirection)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{tmp_path / 'a.h5'}: 6 samples")


@posix
def test_who_reads_no_further_is_not_bothered(tmp_path: Path) -> None:
    done = call("synthprobe-shards", ["info", ready_path("rde")], "| true; sleep 0.1")
    assert done.stderr == ""


@posix
def test_characters_that_the_output_does_not_have_are_replaced() -> None:
    # The rows of a picture are "128×128×3".
    done = call("synthprobe-shards", ["info", ready_path("rde")], PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "image uint8 128?128?3" in done.stdout
    plain = call("synthprobe-shards", ["info", ready_path("rde")], PYTHONIOENCODING="utf-8")
    assert "image uint8 128×128×3" in plain.stdout


NOT_UTF_8 = os.fsdecode(b"\xff")


@posix
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("synthprobe-gen", ("rde", "--out", f"{NOT_UTF_8}.h5", *QUICK)),
        ("synthprobe-gen", ("rde", "--out", NOT_UTF_8, "--shards", "2", *QUICK)),
        ("synthprobe-gen", (NOT_UTF_8,)),
        ("synthprobe-shards", ("info", NOT_UTF_8)),
        ("synthprobe-shards", ("preview", ready_path("rde"), "--out", f"{NOT_UTF_8}.png")),
        (
            "synthprobe-shards",
            ("preview", ready_path("rde"), "--split", NOT_UTF_8, "--out", "a.png"),
        ),
        ("synthprobe-probe", ("inspect", NOT_UTF_8)),
        ("synthprobe-probe", ("list", "--load", NOT_UTF_8)),
    ],
)
def test_an_argument_that_is_not_utf_8_gets_one_sentence(
    tmp_path: Path, program: str, words: tuple[object, ...]
) -> None:
    done = call(program, words, prepare=f"import os; os.chdir({str(tmp_path)!r})")
    assert_one_sentence(done, program)
    assert "UTF-8" in done.stderr
    assert os.listdir(tmp_path) == []


@posix
def test_what_exists_under_such_a_name_can_be_read_but_not_made(tmp_path: Path) -> None:
    folder = tmp_path / NOT_UTF_8
    folder.mkdir()
    path = folder / f"a{NOT_UTF_8}.h5"
    path.write_bytes(ready_path("rde").read_bytes())
    done = call("synthprobe-shards", ["info", path])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{path}: ")  # the bytes of the name, as `ls` shows them
    refused = call("synthprobe-gen", ["rde", "--out", path, "--force", *QUICK])
    assert_one_sentence(refused, "synthprobe-gen")
    assert path.read_bytes() == ready_path("rde").read_bytes()
    made = call("synthprobe-gen", ["rde", "--out", folder / "b.h5", *QUICK])
    assert (made.returncode, made.stderr) == (0, "")
    assert sorted(os.listdir(folder)) == sorted(
        [path.name, "b.h5", "b.md", "b.croissant.json", "b.png"]
    )


LONG = "a" * 300 + ".h5"


@pytest.mark.parametrize("options", [(), ("--shards", "2")])
def test_a_name_that_is_too_long_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    assert generate(["rde", "--out", str(tmp_path / LONG), *QUICK, *options]) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        ("info", LONG),
        ("verify", LONG),
        ("card", LONG),
        ("preview", LONG, "--out", "a.png"),
        ("browse", LONG, "--out", "a.html"),
        ("explain", LONG, "1", "--out", "a.png"),
        ("merge", LONG, "--out", "a.h5"),
        ("split", LONG, "--out", "a", "--shards", "2"),
        ("export", LONG, "--out", "a", "--format", "png"),
        ("merge", str(ready_path("rde")), "--out", LONG),
        ("export", str(ready_path("rde")), "--out", LONG, "--format", "png"),
    ],
)
def test_shards_say_so_too(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shards(words) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("synthprobe-gen", ("rde", "--out", "closed/a.h5", *QUICK)),
        ("synthprobe-gen", ("rde", "--out", "closed/a", "--shards", "2", *QUICK)),
        ("synthprobe-gen", ("rde", "--out", "blind", "--shards", "2", *QUICK)),
        ("synthprobe-shards", ("info", "closed/rde.h5")),
        ("synthprobe-shards", ("verify", "closed/rde.h5")),
        ("synthprobe-shards", ("info", "closed")),
        ("synthprobe-shards", ("export", "rde.h5", "--out", "closed/a", "--format", "png")),
    ],
)
def test_a_folder_that_may_not_be_read_gets_one_sentence(
    tmp_path: Path, program: str, words: tuple[str, ...]
) -> None:
    work = tmp_path / "work"
    (work / "closed").mkdir(parents=True)
    (work / "blind").mkdir()
    (work / "blind" / "manifest.json").write_text("{}")
    for place in ("rde.h5", "closed/rde.h5"):
        (work / place).write_bytes(ready_path("rde").read_bytes())
    (work / "closed").chmod(0)
    (work / "blind").chmod(0o300)
    # The superuser may do everything: become somebody else, when all is imported.
    prepare = f"""
import os, {MODULES[program]}, synthprobe_data.cli.shards_actions, synthprobe_data.generation.folder
list(synthprobe_data.DATASETS.values())
os.chdir({str(work)!r})
if os.geteuid() == 0:
    os.chown(".", 65534, -1); os.chown("closed", 65534, -1); os.chown("blind", 65534, -1)
    os.setuid(65534)
"""
    try:
        done = call(program, words, prepare=prepare)
    finally:
        (work / "closed").chmod(0o700)
        (work / "blind").chmod(0o700)
    assert_one_sentence(done, program)
    assert os.listdir(work / "closed") == ["rde.h5"]


# Importing this module is what an impatient user interrupts.
INTERRUPTED_BY = """
import os, signal, sys
signal.signal(signal.SIGINT, {handler})
class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Impatient())
"""


@posix
@pytest.mark.parametrize(
    ("program", "words", "module"),
    [
        ("synthprobe-gen", ("rde", "--help"), "numba"),
        ("synthprobe-gen", ("rde", "--help"), "numpy"),
        ("synthprobe-shards", ("info", ready_path("rde")), "h5py"),
        ("synthprobe-shards", ("ready", "rde"), "numba.core.typing"),
        pytest.param("synthprobe-probe", ("list",), "numpy", marks=with_torch),
        pytest.param("synthprobe-probe", ("list",), "torch", marks=with_torch),
    ],
)
def test_ctrl_c_during_imports_is_quiet(
    program: str, words: tuple[object, ...], module: str
) -> None:
    prepare = INTERRUPTED_BY.format(handler="signal.default_int_handler", module=module)
    done = call(program, words, prepare=prepare)
    assert done.returncode == 130, done.stderr
    assert done.stderr == f"{program}: interrupted.\n"
    assert done.stdout == ""


@posix
def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    prepare = INTERRUPTED_BY.format(handler="signal.SIG_IGN", module="numba")
    done = call("synthprobe-shards", ["ready", "rde"], prepare=prepare)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_package_starts_without_its_libraries() -> None:
    code = (
        "import sys, synthprobe_data, synthprobe_data.cli.gen, synthprobe_data.cli.shards\n"
        "print(sorted({'numba', 'numpy', 'h5py', 'joblib', 'tqdm'} & set(sys.modules)))\n"
        "from synthprobe_data import *\n"
        "print(make_sample('rde', index=0)['image'].shape, 'RdeConfig' in dir(synthprobe_data))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines() == ["[]", "(128, 128, 3) True"], done.stderr


def test_the_handlers_of_signals_are_given_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    during = []

    def body(_words: list[str]) -> int:
        during.append(signal.getsignal(signal.SIGINT))
        return 7

    assert run_command("x", lambda: body, []) == 7
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert during == before[:1]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SynthprobeError("it is so."), 2, "x: it is so."),
        (PermissionError(13, "Permission denied", "a/b"), 2, "x: a/b: Permission denied."),
        (OSError(5, "Input/output error"), 2, "x: Input/output error."),
        (OSError("Can't open file\n(more)"), 2, "x: Can't open file."),
        (MemoryError(), 2, "x: there is not enough memory for this."),
        (KeyboardInterrupt(), 130, "x: interrupted."),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_each_way_to_fail_has_its_sentence(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_words: list[str]) -> int:
        raise error

    assert run_command("x", lambda: body, []) == code
    assert capsys.readouterr().err.rstrip("\n") == said


@pytest.mark.parametrize("workers", ["100000", "1024", "-3"])
def test_so_many_workers_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], workers: str
) -> None:
    given = ["--workers", workers]
    assert generate(["rde", "--out", str(tmp_path / "a.h5"), *QUICK, *given]) == 2
    assert shards(["verify", str(ready_path("rde")), *given]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all(f"workers is {workers}: it must be a whole number from 1 to" in s for s in said)
    assert os.listdir(tmp_path) == []


THREADS = """
import os, sys
from synthprobe_data.cli.common import run_command
run_command("x", lambda: lambda words: print(os.environ["OPENBLAS_NUM_THREADS"]) or 0, [])
"""


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("3", "3")])
def test_a_command_multiplies_with_one_thread_unless_told_otherwise(
    given: str | None, threads: str
) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    done = subprocess.run(
        [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{threads}\n"


def test_a_program_that_has_numpy_keeps_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert run_command("x", lambda: lambda words: 0, []) == 0
    assert "OPENBLAS_NUM_THREADS" not in os.environ
