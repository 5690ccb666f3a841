"""Scoring as users do it: files, functions, modules, runs; the same door for all."""

from __future__ import annotations

import dataclasses
import json
import sys

import h5py
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import (  # noqa: E402
    CenteredSquareConfig,
    RdeConfig,
    SynthprobeError,
    make_file,
    open_dataset,
)
from synthprobe_models import score  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.scoring.board import record_of  # noqa: E402
from synthprobe_models.scoring.compare import compare_scores, comparison_page  # noqa: E402
from synthprobe_models.scoring.page import write_score  # noqa: E402
from synthprobe_models.scoring.preparation import NORMALISATIONS  # noqa: E402
from synthprobe_models.scoring.report import read_score  # noqa: E402
from synthprobe_models.training.run import train_run  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402
from tests.models.small_runs import small_settings  # noqa: E402

CONFIG = RdeConfig(height=24, width=20, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)
SAMPLES = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("score")
    make_file("rde", path / "rde.h5", config=CONFIG, train=8, test=SAMPLES, workers=1, cards=False)
    square = CenteredSquareConfig(height=8, width=8, square=3)
    make_file("centered-square", path / "cs.h5", config=square, cards=False)
    return path


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch) -> None:
    """Pages are written where the command is given."""
    monkeypatch.chdir(tmp_path)


def ranks(folder) -> np.ndarray:
    with open_dataset(folder / "rde.h5") as data:
        return data["test"]["rank"].astype(np.float32)


def done(capsys, *words: object) -> dict:
    assert main(["score", *map(str, words), "--json", "--force", "--worst", "1"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_template_that_is_filled_with_the_truth_is_perfect(folder, tmp_path, capsys) -> None:
    path = tmp_path / "p.h5"
    words = ["score", "--template", str(path), "--on", str(folder / "rde.h5")]
    assert main(words) == 0
    assert "6 x 24 x 20 float32" in capsys.readouterr().out
    assert main(words) == 2  # it is not replaced
    capsys.readouterr()
    assert main(["score", str(path), "--on", str(folder / "rde.h5")]) == 2
    assert f"row 0 of {path} has nan" in capsys.readouterr().err
    with h5py.File(path, "a") as file:
        file["prediction"][:3] = ranks(folder)[:3]
    assert main(["score", str(path), "--on", str(folder / "rde.h5")]) == 2
    assert f"row 3 of {path} has nan" in capsys.readouterr().err
    with h5py.File(path, "a") as file:
        file["prediction"][:] = ranks(folder)
    found = done(capsys, path, "--on", folder / "rde.h5")
    assert found["metrics"]["pairs_in_order"]["value"] == 1
    assert found["metrics"]["whdr"]["value"] == 0
    assert found["metrics"]["rmse"]["value"] == pytest.approx(0, abs=1e-6)
    assert found["align"] == "scale-shift"
    raw = done(capsys, path, "--on", folder / "rde.h5", "--align", "none")
    assert raw["metrics"]["rmse"]["value"] > 0.5
    raw = done(capsys, path, "--on", folder / "rde.h5", "--align", "none", "--units", "column")
    assert raw["metrics"]["rmse"]["value"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["p.npy", "p.npz"])
def test_templates_of_numpy_are_to_be_filled_too(folder, tmp_path, capsys, name) -> None:
    path, on = tmp_path / name, folder / "rde.h5"
    assert main(["score", "--template", str(path), "--on", str(on)]) == 0
    array = np.load(path)
    array = array if name.endswith("y") else array["prediction"]
    assert (array.shape, array.dtype) == ((6, 24, 20), np.float32)
    assert np.isnan(array).all()
    capsys.readouterr()
    assert main(["score", str(path), "--on", str(on)]) == 2
    assert f"row 0 of {path} has nan" in capsys.readouterr().err


def test_predictions_for_other_samples_are_found_out(folder, tmp_path, capsys) -> None:
    path = tmp_path / "p.h5"
    assert main(["score", "--template", str(path), "--on", str(folder / "rde.h5")]) == 0
    other = tmp_path / "other.h5"
    make_file("rde", other, config=CONFIG, train=1, test=SAMPLES, seed=9, cards=False)
    capsys.readouterr()
    assert main(["score", str(path), "--on", str(other)]) == 2
    assert "was made for other samples" in capsys.readouterr().err


def brightness(pictures: torch.Tensor) -> torch.Tensor:
    """Brighter is nearer, says somebody."""
    return pictures.mean(1)


def test_a_function_is_given_pictures_from_0_to_1_and_needs_no_registration(folder) -> None:
    seen = []

    def watched(pictures):
        seen.append(pictures)
        return brightness(pictures)

    found = score(watched, on=folder / "rde.h5", batch=4)
    assert found.name == "watched"
    assert found.samples == SAMPLES
    assert seen[0].shape == (4, 3, 24, 20)
    assert seen[0].dtype == torch.float32
    with open_dataset(folder / "rde.h5") as data:
        image = data["test"]["image"][:4]
    np.testing.assert_allclose(seen[0].permute(0, 2, 3, 1).numpy() * 255, image, atol=1e-4)
    assert 0 <= found.metrics["pairs_in_order"] <= 1


def test_what_is_scored_does_not_depend_on_batches_nor_on_the_door(folder, tmp_path) -> None:
    on = folder / "rde.h5"
    whole = score(brightness, on=on, batch=6)
    assert score(brightness, on=on, batch=1).measured == whole.measured
    with open_dataset(on) as data:
        image = torch.from_numpy(data["test"]["image"]).permute(0, 3, 1, 2).float().div(255)
    np.save(tmp_path / "p.npy", brightness(image).double().numpy())
    from_file = score(tmp_path / "p.npy", on=on)
    for name, value in whole.metrics.items():
        assert from_file.metrics[name] == pytest.approx(value, rel=1e-9)


def test_modules_are_evaluated_as_they_are(folder) -> None:
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.9)

        def forward(self, x):
            assert not self.training
            assert not torch.is_grad_enabled()
            return self.drop(x)[:, :1]

    net = Net()
    found = score(net, on=folder / "rde.h5")
    assert (found.name, found.kind) == ("Net", "module")


def test_normalising_and_resizing_are_options(folder) -> None:
    seen = []

    def watched(pictures):
        seen.append(pictures)
        return pictures[:, 0]

    on = folder / "rde.h5"
    plain = score(lambda x: x[:, 0], on=on)
    found = score(watched, on=on, normalise="imagenet")
    assert found.metrics == pytest.approx(plain.metrics, rel=1e-5)  # red, on another scale
    mean, spread = (torch.tensor(v)[:, None, None] for v in NORMALISATIONS["imagenet"])
    restored = seen[0] * spread + mean
    assert 0 <= restored.min() <= restored.max() <= 1 + 1e-6
    resized = score(watched, on=on, multiple=16)
    assert seen[-1].shape[2:] == (32, 32)
    assert resized.metrics["whdr"] == pytest.approx(plain.metrics["whdr"], abs=0.2)
    turned = score(lambda x: -x[:, 0], on=on, farther=True)
    assert turned.metrics == pytest.approx(plain.metrics)


def test_code_of_a_file_or_a_package_is_named_with_a_colon(
    folder, tmp_path, capsys, monkeypatch
) -> None:
    (tmp_path / "mine.py").write_text(
        "import helper\n"
        "class Red:\n"
        "    def __call__(self, x):\n"
        "        return helper.red(x)\n"
        "def numpy_red(x):\n"
        "    return x.numpy()[:, 0]\n"
        "def wrong(x):\n"
        "    return 1 / 0\n"
        "def text(x):\n"
        "    return 'near'\n"
        "def small(x):\n"
        "    return x[:, 0, ::2]\n"
        "def exits(x):\n"
        "    raise SystemExit(0)\n"
        "def writes(x):\n"
        "    from late import red\n"
        "    found = red(x).clone()\n"
        "    x.zero_()\n"
        "    return found\n"
        "def nan(x):\n"
        "    return x[:, 0] / 0 * 0\n"
        "number = 3\n"
    )
    for name in ("helper", "late"):
        (tmp_path / f"{name}.py").write_text("def red(x):\n    return x[:, 0]\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    on = folder / "rde.h5"
    found = done(capsys, f"{tmp_path / 'mine.py'}:Red", "--on", on)
    assert found["name"] == "Red"
    again = done(capsys, f"{tmp_path / 'mine.py'}:numpy_red", "--on", on)
    assert again["metrics"] == found["metrics"]
    late = score(f"{tmp_path / 'mine.py'}:writes", on=on)
    red = {name: of["value"] for name, of in found["metrics"].items()}
    assert late.metrics == red
    assert late.shown[0].inputs.any()  # what it wrote into was a copy
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "part.py").write_text("from helper import red\n")
    assert score("net.part:red", on=on).metrics == red  # of the current folder
    package = done(capsys, "torch.nn:Identity", "--on", folder / "cs.h5", "--samples", 5)
    assert package["metrics"]["iou"]["value"] == pytest.approx(1 / 9)
    for name, said in {
        "exits": "exits failed on row 0: it ended the program.",
        "wrong": "wrong failed on row 0: ZeroDivisionError (division by zero) in line 8",
        "text": "text gives str for row 0",
        "small": "small gives the shape (6, 12, 20) for 6 samples from row 0: it must be (6, 24,",
        "nan": "nan gives what is no finite number for row 0",
        "number": "is not a function",
        "missing": "there is no missing in",
    }.items():
        assert main(["score", f"{tmp_path / 'mine.py'}:{name}", "--on", str(on)]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
    for what, said in {
        "no_such_package.module:f": "there is no package 'no_such_package'",
        "torch.nn:Linear": "could not be made without arguments",
        "missing.py:f": "there is no file missing.py",
        "missing": "there is no file missing",
        "mine.py": "name a function or a class in mine.py, such as mine.py:predict.",
    }.items():
        assert main(["score", what, "--on", str(on)]) == 2
        assert said in capsys.readouterr().err
    for name in ("helper", "late", "mine", "net", "net.part"):
        sys.modules.pop(name, None)


def test_a_run_is_scored_as_it_is_evaluated(folder, tmp_path, capsys) -> None:
    source = open_source(folder / "rde.h5")
    train_run(small_settings(), source, tmp_path / "run", machine=Machine(progress=False))
    found = done(capsys, tmp_path / "run", "--on", folder / "rde.h5", "--align", "none")
    assert main(["eval", str(tmp_path / "run"), "--on", str(folder / "rde.h5"), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    for name in ("ord", "delta", "rmse"):
        assert found["metrics"][name]["value"] == pytest.approx(expected["metrics"][name], rel=1e-5)
    assert found["order"]["pairs"] == expected["order"]["pairs"]
    assert found["facts"]["structure"] == "unet"
    # On other sizes and other numbers of rectangles, too.
    more = dataclasses.replace(CONFIG, n_rectangles=6, height=32, width=40)
    make_file("rde", tmp_path / "more.h5", config=more, train=1, test=3, cards=False)
    found = done(capsys, tmp_path / "run" / "checkpoint.pt", "--on", tmp_path / "more.h5")
    assert set(found["metrics"]) >= {"pairs_in_order", "rmse"}
    assert "the network was trained with 4" in found["notes"][0]
    found = done(capsys, tmp_path / "run", "--on", tmp_path / "more.h5", "--align", "none")
    assert set(found["left_out"]) == {"ord", "delta", "rmse"}


def test_the_worst_come_first(folder) -> None:
    found = score(brightness, on=folder / "rde.h5", worst=6)
    order = [found.measured.figures["pairs_in_order"].values[row] for row in found.worst]
    told = [value for value in order if value is not None]
    assert told == sorted(told)
    assert sorted(found.worst) == list(range(SAMPLES))
    by_row = {shown.row: shown for shown in found.shown}
    assert set(by_row) == set(range(SAMPLES))
    assert by_row[0].prediction.shape == (1, 24, 20)


def test_other_probes_are_scored_by_their_own_metrics(folder) -> None:
    found = score(lambda x: x, on=folder / "cs.h5", limit=10)
    assert found.metrics == {"iou": pytest.approx(1 / 9)}
    assert found.align == "none"
    assert any("Only the first 10 of" in note for note in found.notes)
    with pytest.raises(SynthprobeError, match="no order to align by"):
        score(lambda x: x, on=folder / "cs.h5", align="scale-shift")


def test_twins_are_scored_pair_by_pair(folder, tmp_path, capsys) -> None:
    on = tmp_path / "twins.h5"
    make_file("twins", on, train=2, validation=2, test=4, workers=1, cards=False)
    found = score(brightness, on=on, batch=3, worst=1)
    assert set(found.metrics.values()) == {0.5}  # blind to what lies elsewhere
    for figure in found.measured.figures.values():
        assert len(figure.values) == len(figure.weights) == 4
        assert (figure.low, figure.high) == (0.5, 0.5)
    paths = write_score(found, tmp_path / "page")
    assert "over pairs" in paths.markdown.read_text("utf-8")
    twice = [read_score(paths.json)] * 2
    assert compare_scores(twice)[0].p == 1
    assert "each pair of samples' difference" in comparison_page(twice, []).to_markdown(tmp_path)
    assert (
        record_of(read_score(paths.json), who="me", licence="MIT")["metrics"]["near_order"][
            "interval"
        ]
        == "95% over pairs of samples"
    )
    with pytest.raises(SynthprobeError, match="3 samples to score: those of twins come by 2"):
        score(brightness, on=on, limit=3)


def test_options_that_make_no_sense_get_one_sentence(folder, tmp_path, capsys) -> None:
    on = str(folder / "rde.h5")
    np.save(tmp_path / "p.npy", ranks(folder))
    file = str(tmp_path / "p.npy")
    for words, said in (
        ([], "score needs --on"),
        (["--on", on], "name what to score"),
        ([file, "--on", on, "--align", "median"], "there is no alignment 'median'"),
        ([file, "--on", on, "--align", "order", "--robust"], "robust is for --align scale-shift"),
        ([file, "--on", on, "--units", "metres"], "units is 'metres'"),
        ([file, "--on", on, "--multiple", "8"], "are for functions and modules"),
        ([file, "--on", on, "--samples", "0"], "0 samples to score"),
        ([file, "--on", on, "--limit", "0"], "0 samples to score"),
        ([file, "--on", on, "--batch", "0"], "batch is 0"),
        ([file, "--on", on, "--split", "none"], "has no split 'none'"),
        ([file, "--on", on, "--threads", "0"], "threads is 0"),
        (["torch.nn:Identity", "--on", on, "--normalise", "mine"], "normalise is 'mine'"),
        (["torch.nn:Identity", "--on", on, "--units", "column"], "--units is for"),
        ([file, "--template", "x.h5", "--on", on], "scores nothing"),
        (["--template", str(tmp_path / "x.csv"), "--on", on], "must end in .h5, .npy or .npz"),
        (["hf:", "--on", on], "hf: needs"),
    ):
        assert main(["score", *words]) == 2, words
        error = capsys.readouterr().err
        assert said in error, words
        assert error.count("\n") == 1, error
