"""``synthprobe-probe`` with streams that cannot be written, odd names, and folders in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.data.cli.test_common import (
    LONG,
    NOT_UTF_8,
    assert_one_sentence,
    call,
    posix,
)

PROBE = "synthprobe-probe"


@posix
@pytest.mark.parametrize("words", [("list",), ("train", "--help")])
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
def test_an_output_that_cannot_be_written_gets_one_sentence(words, redirection, sentence) -> None:
    done = call(PROBE, words, redirection)
    assert_one_sentence(done, PROBE)
    assert sentence in done.stderr


@posix
def test_characters_that_the_output_does_not_have_are_replaced() -> None:
    done = call(PROBE, ["list"], PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


@posix
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("train", NOT_UTF_8, "--on", "stream"), "UTF-8"),
        (("train", "unet", "--on", "stream", "--out", f"a{NOT_UTF_8}"), "UTF-8"),
        (("eval", "run", "--on", "rde.h5", "--split", NOT_UTF_8), "UTF-8"),
        (("table", "1", "--out", LONG), "File name too long"),
        (("profile", "lambda", "--out", LONG), "File name too long"),
        (("inspect", "lambda", "--out", LONG), "File name too long"),
        (("eval", LONG, "--on", LONG), "File name too long"),
        (("list", "--load", f"{LONG}.py"), "File name too long"),
    ],
)
def test_odd_names_get_one_sentence(tmp_path, words, sentence) -> None:
    done = call(PROBE, words, prepare=f"import os; os.chdir({str(tmp_path)!r})")
    assert_one_sentence(done, PROBE)
    assert sentence in done.stderr
    assert os.listdir(tmp_path) == []
