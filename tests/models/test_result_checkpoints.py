"""The trained weights in results/checkpoints: small, loaded by anybody, and as good as they say."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from synthprobe_data import DATASETS, make_file  # noqa: E402
from synthprobe_models import load_exported  # noqa: E402
from synthprobe_models.metrics import METRICS  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.probes import ability_of  # noqa: E402
from synthprobe_models.training.run import evaluate_checkpoint  # noqa: E402
from tools.make_checkpoints import HERE, MOST_BYTES, ROWS  # noqa: E402

FOLDERS = sorted(path for path in HERE.iterdir() if path.is_dir())


def test_all_are_there_and_together_they_are_small() -> None:
    assert {path.name for path in FOLDERS} == set(ROWS)
    for path in FOLDERS:
        files = {file.name for file in path.iterdir()}
        assert files == {"README.md", "config.json", "model.safetensors"}
    assert sum(file.stat().st_size for file in HERE.rglob("*") if file.is_file()) < MOST_BYTES


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_fresh_samples_give_the_figures_that_are_recorded(folder: Path, tmp_path: Path) -> None:
    facts = json.loads((folder / "config.json").read_text("utf-8"))
    result, data = facts["result"], facts["data"]
    dataset = DATASETS[data["dataset"]]
    # The same test samples, drawn again: they do not depend on how many are in training.
    splits = {"train": 2, "test": result["test_samples"]} if dataset.drawn else None
    config = dataset.config.from_dict(data["config"])
    file = tmp_path / "fresh.h5"
    make_file(dataset.name, file, config=config, splits=splits, workers=1, cards=False)
    saved, scores = evaluate_checkpoint(folder, file)
    assert (saved.settings.name, saved.settings.probe) == ROWS[folder.name]
    assert scores.samples == result["test_samples"]
    assert scores.metrics == pytest.approx(result["test"], abs=1e-4)
    measure = ability_of(saved.settings.probe).measure
    assert METRICS[measure].higher_is_better
    assert scores.metrics[measure] > 0.98
    assert count_parameters(load_exported(folder)) == result["parameters"]


def test_the_commands_of_the_page_score_what_its_table_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from synthprobe_data.cli import gen
    from synthprobe_models.cli.main import main

    (text,) = re.findall(r"^```sh\n(.*?)^```", (HERE / "README.md").read_text("utf-8"), re.M | re.S)
    make, score = (shlex.split(line) for line in text.splitlines())
    monkeypatch.chdir(tmp_path)
    assert gen.main(make[1:]) == 0
    capsys.readouterr()
    assert score[2] == "results/checkpoints/centered-square-inception"
    assert main([score[1], str(HERE / "centered-square-inception"), *score[3:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["iou"] > 0.999
