"""The rate of each row of a table, chosen on validation samples."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data import source  # noqa: E402
from synthprobe_models.experiments import make, rates  # noqa: E402
from synthprobe_models.experiments.make import make_table  # noqa: E402
from synthprobe_models.experiments.rates import RateChoice, check_rates, read_choices  # noqa: E402
from synthprobe_models.experiments.table import Table, find_table  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import DivergedError, Machine, Trainer  # noqa: E402

QUIET = Machine(progress=False)
ROWS = ["transformer", "lambda"]
OFFERED = [1e-4, 1e-2]


@pytest.fixture(autouse=True)
def tiny(monkeypatch) -> None:
    def find_tiny(number: int) -> Table:
        table = find_table(number)
        data = {
            size: dataclasses.replace(
                given, config={"positions": 16, "colors": 3}, sizes={"train": 40, "test": 8}
            )
            for size, given in table.data.items()
        }
        return dataclasses.replace(table, data=data)

    monkeypatch.setattr(make, "find_table", find_tiny)
    monkeypatch.setattr(source, "VALIDATION_OF_STREAM", 16)


def make_chosen(out: Path, **more: Any) -> str:
    paths = make_table(
        3, "mini", out, rows=more.pop("rows", ROWS), epochs=2, rates=OFFERED, machine=QUIET, **more
    )
    return paths.markdown.read_text(encoding="utf-8")


def test_each_row_is_trained_with_the_rate_of_the_least_validation_loss(tmp_path) -> None:
    text = make_chosen(tmp_path)
    for row in ROWS:
        short = {rate: RunFolder(tmp_path / "rates" / row / f"rate-{rate}") for rate in OFFERED}
        results = {rate: folder.read_result() for rate, folder in short.items()}
        losses = {rate: found["validation"]["loss"] for rate, found in results.items() if found}
        assert len(losses) == 2
        assert not any(found.get("test") for found in results.values() if found)
        best = min(losses, key=losses.__getitem__)
        run = RunFolder(tmp_path / "runs" / f"{row}-0").read_result()
        assert run is not None
        assert run["settings"]["rate"] == best
        assert run["settings"]["epochs"] == 2
        assert f"**{losses[best]:.4g}**" in text
    assert "chosen without the test samples" in text


def test_what_was_chosen_is_kept_and_nothing_is_trained_twice(tmp_path, monkeypatch) -> None:
    text = make_chosen(tmp_path)
    monkeypatch.setattr(Trainer, "run", None)
    assert make_chosen(tmp_path) == text
    # Rows that are not asked for again keep their rate.
    assert make_chosen(tmp_path, rows=ROWS[:1]) == text


def test_the_pages_say_the_losses_again_from_the_records_alone(tmp_path, capsys) -> None:
    text = make_chosen(tmp_path / "table")
    again = tmp_path / "again"
    for path in (tmp_path / "table").glob("r*/*.json"):
        copy = again / path.relative_to(tmp_path / "table")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    assert main(["table", "3", "--out", str(again), "--pages"]) == 0
    assert (again / "table.md").read_text(encoding="utf-8") == text
    (again / "rates" / "lambda.json").write_text('{"losses": 3}', encoding="utf-8")
    assert main(["table", "3", "--out", str(again), "--pages"]) == 2
    assert "lambda.json is not the choice of a rate." in capsys.readouterr().err


def test_a_rate_that_diverges_is_not_taken_and_if_all_do_a_sentence_says_so(
    tmp_path, monkeypatch
) -> None:
    run = Trainer.run

    def diverges(self: Trainer, *words: Any, **more: Any) -> Any:
        if self.settings.rate in failing:
            raise DivergedError("The loss is not a number.")
        return run(self, *words, **more)

    monkeypatch.setattr(Trainer, "run", diverges)
    failing = {1e-2}
    text = make_chosen(tmp_path / "one", rows=["lambda"])
    assert read_choices(tmp_path / "one" / "rates")["lambda"].losses[1e-2] == math.inf
    assert "| diverged |" in text
    failing = set(OFFERED)
    with pytest.raises(SynthprobeError, match=r"lambda diverges at each of the rates"):
        make_chosen(tmp_path / "all", rows=["lambda"])


@given(st.dictionaries(st.floats(1e-9, 100.0), st.floats(0, 10) | st.just(math.inf), min_size=1))
def test_the_rate_that_is_taken_has_the_least_loss(losses: dict[float, float]) -> None:
    choice = RateChoice(epochs=1, split="validation", losses=losses)
    assert losses[choice.rate] == min(losses.values())
    assert all(choice.rate <= rate for rate in losses if losses[rate] == losses[choice.rate])
    assert json.loads(rates._written(choice))["losses"].keys() == {str(r) for r in losses}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rates", "1e-3"], "rates are 0.001: give 2 or more, each once."),
        (["--rates", "1e-3", "1e-3"], "rates are 0.001, 0.001: give 2 or more, each once."),
        (["--rates", "1e-3", "1e-2", "--rate-epochs", "0"], "rate_epochs is 0"),
        (["--rates", "1e-3", "1e-2", "--settings", "rate=0.1"], "leave one of the two out"),
        (["--rates", "1e-3", "1e3"], "rate is 1000"),
    ],
)
def test_rates_that_leave_no_choice_are_refused(tmp_path, capsys, words, said: str) -> None:
    # The number of the table may come last.
    command = ["table", *words, "3", "--out", str(tmp_path / "out"), "--rows", "lambda"]
    assert main(command) == 2
    assert said in capsys.readouterr().err


def test_two_rates_are_enough() -> None:
    check_rates([1e-3, 1e-2], 1)
