"""How far a run is: bars with a label on a terminal, lines where there is none."""

from __future__ import annotations

import io
import sys

import pytest

pytest.importorskip("torch")

from synthprobe_models.cli import train_actions
from synthprobe_models.cli.main import main
from synthprobe_models.training.progress import RunBar, run_label
from tests.models.small_runs import small_file


def test_a_label_says_which_run_of_how_many() -> None:
    assert run_label("lambda-pe", "rde", 1, 5, (7, 12)) == "rde, lambda-pe, seed 2 of 5, 7 of 12"
    assert run_label("lambda-pe", "rde", 1) == "rde, lambda-pe, seed 1"


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("shown", [True, False])
def test_a_terminal_gets_a_bar_with_a_label_and_a_log_one_line_an_epoch(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, shown: bool
) -> None:
    stream = io.StringIO()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    with RunBar("rde, lambda-pe, seed 2 of 5", epochs=2, steps=3, done=0, shown=shown) as bar:
        for epoch in (1, 2):
            for _ in range(3):
                bar.step(0.5, 1e-3)
            bar.epoch({"epoch": epoch, "loss": 0.25, "seconds": 4.2})
    said = stream.getvalue()
    lines = [
        f"rde, lambda-pe, seed 2 of 5: epoch {epoch} of 2, loss 0.25, 4 s\n" for epoch in (1, 2)
    ]
    assert ("rde, lambda-pe, seed 2 of 5: " in said and "6/6" in said) == (terminal and shown)
    if not terminal:
        assert said == ("".join(lines) if shown else "")


def test_every_rate_of_a_sweep_says_which_one_it_is(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(train_actions, "standings", lambda _: [])
    file = small_file(tmp_path / "rde.h5")
    words = ["--epochs", "1", "--width", "2", "--down-samplings", "1", "--batch", "5"]
    assert main(["sweep", "unet", "--on", str(file), *words, "--out", str(tmp_path / "out")]) == 0
    said = [line.partition(": epoch ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said[:2] == ["rde, unet, rate 0.1, 1 of 9", "rde, unet, rate 0.05, 2 of 9"]
    assert [line.rpartition(", ")[2] for line in said] == [f"{i} of 9" for i in range(1, 10)]
