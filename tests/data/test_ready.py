"""The small files that come with the package: small, right, and what a fresh run makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from synthprobe_data import DATASETS, SynthprobeError, make_file, ready_dataset, ready_path
from synthprobe_data.cli.shards import main
from synthprobe_data.verification.verify import verify


@pytest.mark.parametrize("name", DATASETS)
def test_a_ready_file_passes_every_check(name: str) -> None:
    report = verify(ready_path(name), workers=1)
    assert report.ok, report.failures[:3]
    assert report.rows_checked == report.rows >= 300


@pytest.mark.parametrize("name", DATASETS)
def test_a_ready_file_has_the_samples_of_a_fresh_run(name: str, tmp_path: Path) -> None:
    with ready_dataset(name) as data:
        assert (data.dataset.name, data.seed) == (name, 0)
        assert data.config == DATASETS[name].config()
        none = dict.fromkeys(DATASETS[name].sizes(data.config), 0)
        sizes: dict[str, int] = {**none, **data.splits}
        fresh = make_file(name, tmp_path / "a.h5", splits=sizes, workers=1, cards=False)
        assert data.content_digest == fresh.content_digest
        assert set(data.splits) == {"train", "test"}


def test_all_of_centered_square_is_ready() -> None:
    with ready_dataset("centered-square") as data:
        assert data.splits == {"train": 484, "test": 1452}


def test_they_are_small() -> None:
    assert sum(ready_path(name).stat().st_size for name in DATASETS) < 2_000_000


def test_the_command_prints_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    for name in DATASETS:
        assert main(["ready", name]) == 0
        assert capsys.readouterr().out == f"{ready_path(name)}\n"


def test_another_name_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="no dataset 'other'"):
        ready_dataset("other")
