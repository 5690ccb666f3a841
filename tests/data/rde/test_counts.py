"""Card and `info` say how many rectangles the scenes have, whatever was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest

from synthprobe_data.cli.gen import main
from synthprobe_data.cli.shards import main as shards

OPTIONS = ("--height", "32", "--width", "32", "--train", "40", "--test", "10")


@pytest.mark.parametrize("more", [(), ("--shards", "3")])
def test_card_and_info_state_the_count_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    out = tmp_path / "few.h5"
    assert main(["rde", "--out", str(out), *OPTIONS, *more]) == 0
    numbers: list[int] = []
    flat = 0
    for path in sorted(out.glob("*.h5")) if more else [out]:
        with h5py.File(path) as file:
            numbers += file["n_rectangles"][:].tolist()
            flat += sum(len(set(row) - {0}) < 2 for row in file["rectangle_rank"][:].tolist())
    mean = sum(numbers) / 50
    assert mean < 5
    assert 0 < flat < 50
    sentence = f"{mean:.2f} of 10 rectangles on average ({min(numbers)} to {max(numbers)}), "
    sentence += f"{2 * flat:.1f}% flat"
    card = out / "README.md" if more else tmp_path / "few.md"
    assert f"The scenes have {sentence}" in card.read_text("utf-8")
    capsys.readouterr()
    assert shards(["info", str(out)]) == 0
    assert f"  scenes    {sentence}" in capsys.readouterr().out
    assert shards(["info", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rectangles"] == {
        "asked": 10,
        "mean": mean,
        "least": min(numbers),
        "most": max(numbers),
        "flat": flat / 50,
    }


def test_other_datasets_have_no_rectangles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.h5"
    assert main(["color-code", "--out", str(out), "--train", "4", "--test", "2"]) == 0
    assert shards(["info", str(out)]) == 0
    assert "  scenes " not in capsys.readouterr().out
