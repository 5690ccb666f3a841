"""Scores side by side: the permutation test against a plain enumeration, and who is compared."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, SynthprobeError, make_file  # noqa: E402
from synthprobe_models import score  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.scoring.compare import (  # noqa: E402
    RESAMPLES,
    compare_scores,
    paired_permutation,
)
from synthprobe_models.scoring.report import read_score, score_facts  # noqa: E402

CONFIG = RdeConfig(height=24, width=20, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)


def plain_p(differences: np.ndarray) -> float:
    """All signs, one by one; two-sided is twice the smaller tail, at most 1."""
    observed = np.mean(differences)
    means = [
        np.mean([s * d for s, d in zip(signs, differences, strict=True)])
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    above = np.mean([mean >= observed - 1e-12 for mean in means])
    below = np.mean([mean <= observed + 1e-12 for mean in means])
    return min(1.0, 2 * min(above, below))


@pytest.mark.parametrize("seed", range(4))
def test_few_samples_are_compared_exactly(seed) -> None:
    differences = np.random.default_rng(seed).normal(0.4, 1, 9)
    p, exact = paired_permutation(differences)
    assert exact
    assert p == pytest.approx(plain_p(differences))


def test_many_samples_are_compared_by_draws_that_are_always_the_same() -> None:
    random = np.random.default_rng(5)
    differences = random.normal(0.12, 1, 300)
    p, exact = paired_permutation(differences)
    assert not exact
    assert (p, exact) == paired_permutation(differences)
    signs = random.choice([-1, 1], (20_000, 300))
    tail = np.mean(signs @ differences / 300 >= differences.mean())
    assert p == pytest.approx(2 * tail, abs=0.02)
    assert paired_permutation(differences + 5)[0] == pytest.approx(2 / (RESAMPLES + 1))


def test_samples_that_belong_together_change_sides_together() -> None:
    """A pair of twins is one chance, not two."""
    random = np.random.default_rng(1)
    one, two = random.random(9), random.random(9)
    sizes = random.integers(1, 9, 9).astype(float)

    def as_json(values, **more):
        twice = [value for value in values for _ in range(2)]
        facts = {"name": "a", "data": {"content_digest": ""}, "samples": 18, "align": "none"}
        return facts | {"values": {"far_order": twice}} | more

    more = {"together": 2, "weights": {"far_order": [w for w in sizes for _ in range(2)]}}
    (found,) = compare_scores([as_json(one, **more), as_json(two, **more)])
    assert (found.samples, found.exact) == (18, True)
    assert found.p == pytest.approx(plain_p(sizes * (one - two)))
    assert found.difference == pytest.approx(
        np.average(one, weights=sizes) - np.average(two, weights=sizes)
    )
    (plain,) = compare_scores([as_json(one), as_json(two)])
    assert not plain.exact


def test_no_difference_is_no_evidence() -> None:
    assert paired_permutation(np.zeros(5)) == (1.0, True)
    assert paired_permutation(np.empty(0)) == (1.0, True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare")
    make_file("rde", path / "rde.h5", config=CONFIG, train=1, test=6, workers=1, cards=False)
    make_file("rde", path / "b.h5", config=CONFIG, train=1, test=6, seed=3, workers=1, cards=False)
    return path


def red(x):
    return x[:, 0]


def green(x):
    return x[:, 1]


def facts(what, on, **options):
    return json.loads(json.dumps(score_facts(score(what, on=on, worst=0, **options))))


def test_each_two_scores_are_compared_sample_by_sample(folder) -> None:
    scores = [facts(what, folder / "rde.h5") for what in (red, green, red)]
    found = compare_scores(scores)
    assert len(found) == 3 * len(scores[0]["metrics"])
    rmse = next(one for one in found if one.metric == "rmse")
    values = [np.array(one["values"]["rmse"]) for one in scores[:2]]
    assert rmse.difference == pytest.approx(np.mean(values[0] - values[1]))
    assert rmse.p == pytest.approx(plain_p(values[0] - values[1]))
    assert (rmse.first, rmse.second) == ("red", "green")
    same = [one for one in found if (one.first, one.second) == ("red", "red")]
    assert {one.p for one in same} == {1.0}
    for other in (facts(red, folder / "b.h5"), facts(red, folder / "rde.h5", limit=5)):
        with pytest.raises(SynthprobeError, match="have other samples"):
            compare_scores([scores[0], other])
    with pytest.raises(SynthprobeError, match="have other alignments"):
        compare_scores([scores[0], facts(red, folder / "rde.h5", align="none")])
    with pytest.raises(SynthprobeError, match="at least two"):
        compare_scores(scores[:1])


def test_the_command_compares_what_it_wrote(folder, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def red(x): return x[:, 0]\ndef green(x): return x[:, 1]\n")
    on = str(folder / "rde.h5")
    for name in ("red", "green"):
        words = ["score", f"mine.py:{name}", "--on", on, "--out", name, "--worst", "1"]
        assert main(words) == 0
        assert main(words) == 2  # what is there is kept
        assert "--force replaces it" in capsys.readouterr().err
    words = ["score", "--compare", "red/score.json", "green"]
    assert main([*words, "--out", "both"]) == 0
    out = capsys.readouterr().out
    assert "| red | green | RMSE |" in out
    assert {path.name for path in (tmp_path / "both").iterdir()} == {
        "compare.md",
        "compare.html",
        "compare.json",
    }
    assert main([*words, "--out", "both"]) == 2
    assert main([*words, "--json"]) == 0
    capsys.readouterr()
    (tmp_path / "bad.json").write_text('{"synthprobe_score": 1, "name": "x"}')
    for path, said in (("bad.json", "is not a score"), ("none.json", "could not be read")):
        assert main(["score", "--compare", "red", path]) == 2
        assert said in capsys.readouterr().err
    page = (tmp_path / "red" / "score.md").read_text(encoding="utf-8")
    found = read_score(tmp_path / "red")
    assert f"| red | {found['metrics']['pairs_in_order']['value']:.4f} |" in page
    assert "## The worst samples" in page
    assert "pairs in the wrong order" in page
    html = (tmp_path / "red" / "score.html").read_text(encoding="utf-8")
    assert html.count("data:image/png;base64,") == 2
    assert "<script" not in html
    for picture in ("strip.png", f"worst/test-{found['worst'][0]['row']}.png"):
        assert (tmp_path / "red" / picture).is_file()
        assert f"]({picture})" in page


def test_a_folder_that_was_not_named_is_a_new_one(folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def red(x): return x[:, 0]\n")
    words = ["score", "mine.py:red", "--on", str(folder / "rde.h5"), "--worst", "0"]
    for _ in range(3):
        assert main(words) == 0
    assert main([*words, "--force"]) == 0
    names = {path.name for path in (tmp_path / "scores").iterdir()}
    assert names == {"red-on-rde", "red-on-rde-2", "red-on-rde-3"}


def test_names_of_others_are_shown_as_they_are(folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def red(x): return x[:, 0]\n")
    name = "<b>|`x`|</b>\n# not a heading"
    words = ["score", "mine.py:red", "--on", str(folder / "rde.h5"), "--name", name]
    assert main([*words, "--worst", "0"]) == 0
    (out,) = (tmp_path / "scores").iterdir()
    markdown, html = ((out / f"score.{end}").read_text("utf-8") for end in ("md", "html"))
    assert "<b>" not in html
    shown, _, command = markdown.partition("## How it was made")  # the command, fenced, as it was
    assert "\n# not" not in shown
    assert command
    assert "\\<b\\>\\|\\`x\\`\\|" in markdown
