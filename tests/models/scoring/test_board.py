"""The board: every record is checked, and only what can be compared is ranked together."""

from __future__ import annotations

import copy
import csv
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_data import RdeConfig, SynthprobeError, make_file  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.scoring.board import (  # noqa: E402
    PAGE,
    SCHEMA,
    group_of,
    read_board,
    render_board,
    submit,
    wrong_in,
)

ROOT = Path(__file__).parents[3]
BOARD = ROOT / "results" / "board"
RECORD = {
    "synthprobe_board": 1,
    "name": "mine",
    "who": "me",
    "licence": "MIT",
    "kind": "file",
    "data": {
        "dataset": "rde",
        "version": "1.0.0",
        "config": {"height": 128},
        "seed": 0,
        "split": "test",
        "content_digest": "a" * 64,
    },
    "samples": 10,
    "align": "scale-shift",
    "trained_on": "elsewhere",
    "epochs": None,
    "settings": {},
    "seeds": [],
    "metrics": {
        "rmse": {
            "title": "RMSE",
            "value": 0.2,
            "low": None,
            "high": None,
            "interval": "95% over samples",
            "higher_is_better": False,
        }
    },
    "synthprobe": "0.1.0",
    "command": None,
}


def changed(*path: str, to: object) -> dict:
    record = copy.deepcopy(RECORD)
    inner = record
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = to
    return record


def test_every_record_of_our_board_is_right_and_its_page_is_theirs() -> None:
    records = read_board(BOARD)
    assert len(records) >= 40
    assert (BOARD / PAGE).read_text(encoding="utf-8") == render_board(records)


def test_our_tables_are_on_the_board() -> None:
    titles = [record["name"] for record in read_board(BOARD)]
    for path in sorted((ROOT / "results").glob("table-*/table.csv")):
        _, number, preset, *_ = path.parent.name.split("-")
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                assert f"{row['row']}, table {number}, {preset}" in titles


def test_figures_on_the_board_are_the_means_of_the_tables() -> None:
    with open(ROOT / "results" / "table-1-mini" / "table.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["row"] == "Lambda + PE"]
    (record,) = (one for one in read_board(BOARD) if one["name"] == "Lambda + PE, table 1, mini")
    mean = sum(float(row["rmse"]) for row in rows) / len(rows) / 100
    assert record["metrics"]["rmse"]["value"] == pytest.approx(mean)
    assert record["seeds"] == [int(row["seed"]) for row in rows]


@pytest.mark.parametrize("name", SCHEMA)
def test_a_field_that_is_missing_or_of_another_type_is_named(name) -> None:
    assert wrong_in(RECORD) is None
    record = changed(name, to=object())
    assert name in str(wrong_in(record))
    if SCHEMA[name].required:
        del record[name]
        assert f"has no {name}" in str(wrong_in(record))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("synthprobe_board",), 2, "schema 2"),
        (("who",), " ", "empty"),
        (("extra",), 1, "unknown 'extra'"),
        (("data", "content_digest"), "abc", "SHA-256"),
        (("data", "split"), 3, "without split"),
        (("samples",), 0, "no samples"),
        (("samples",), True, "wrong samples"),
        (("align",), "median", "none of"),
        (("trained_on",), "rde", "neither"),
        (("seeds",), ["a"], "seeds"),
        (("metrics",), {}, "no metrics"),
        (("metrics", "rmse"), {"value": 1}, "without"),
        (("metrics", "rmse", "value"), float("nan"), "wrong value"),
        (("metrics", "rmse", "higher_is_better"), 1, "wrong higher_is_better"),
    ],
)
def test_what_is_wrong_is_said(path, value, said) -> None:
    assert said in str(wrong_in(changed(*path, to=value)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.sampled_from([*SCHEMA]), JSON)
def test_no_record_makes_the_check_fail_otherwise(name, value) -> None:
    wrong_in(value)
    record = changed(name, to=value)
    if wrong_in(record) is None:
        assert render_board([record])


def test_only_records_of_one_group_are_ranked_together() -> None:
    better = changed("metrics", "rmse", "value", to=0.1)
    better["name"] = "better"
    apart = [
        changed("samples", to=11),
        changed("align", to="none"),
        changed("data", "content_digest", to="b" * 64),
        changed("data", "split", to="train"),
        changed("trained_on", to="c" * 64),
        changed("epochs", to=3),
    ]
    assert len({group_of(record) for record in [RECORD, better, *apart]}) == 1 + len(apart)
    page = render_board([RECORD, better])
    assert page.index("| 1 | better |") < page.index("| 2 | mine |")
    same = render_board([RECORD, {**RECORD, "name": "as good"}])
    assert same.count("| 1 |") == 2
    for record in apart:
        assert render_board([better, record]).count("\n## ") == 2


def test_a_score_is_submitted_by_the_command(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = RdeConfig(height=16, width=16, n_rectangles=2, n_vis=2, n_gap=2, n_par=2)
    make_file("rde", tmp_path / "rde.h5", config=config, train=1, test=4, cards=False)
    (tmp_path / "mine.py").write_text("def red(x): return x[:, 0]\n")
    words = ["score", "mine.py:red", "--on", "rde.h5", "--worst", "0", "--force", "--submit"]
    assert main(words) == 2
    assert "--submit needs --who and --licence" in capsys.readouterr().err
    who = ["--who", "A. Name", "--licence", "MIT"]
    assert main([*words, *who]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert not (tmp_path / "scores").exists()
    (tmp_path / "results" / "board").mkdir(parents=True)
    assert main([*words, *who]) == 0
    (record,) = read_board(tmp_path / "results" / "board")
    score = json.loads((tmp_path / "scores" / "red-on-rde" / "score.json").read_text())
    assert record["data"] == score["data"]
    for name, of in score["metrics"].items():
        if of["value"] is not None:
            assert record["metrics"][name]["value"] == of["value"]
    assert main(["score", "--board", "results/board"]) == 0
    assert "1 records in 1 comparability groups" in capsys.readouterr().out
    assert main(["score", "--board", "results/board", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == read_board(Path("results/board"))
    assert "| 1 | red |" in (tmp_path / "results" / "board" / PAGE).read_text(encoding="utf-8")
    (tmp_path / "results" / "board" / "bad.json").write_text("{}")
    assert main(["score", "--board", "results/board"]) == 2
    assert "bad.json has no synthprobe_board" in capsys.readouterr().err
    with pytest.raises(SynthprobeError, match="has no metrics"):
        submit(changed("metrics", to={}), tmp_path)
