"""Checkpoints come from strangers, too."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.data.source import DataFacts  # noqa: E402
from synthprobe_models.training.checkpoint import Checkpoint, load_checkpoint  # noqa: E402
from tests.models.small_runs import CONFIG, small_settings  # noqa: E402


def example() -> Checkpoint:
    facts = DataFacts(
        dataset="rde", config=CONFIG, content="0" * 64, input_shape=(3, 16, 16), outputs=1
    )
    return Checkpoint(
        settings=small_settings(options={"heads": 2}),
        data=facts,
        epoch=3,
        step=7,
        loss_sum=0.5,
        seconds=1.25,
        model={"weight": torch.randn(2, 3)},
        optimizer={"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"lr": 0.1}]},
        schedule={"last_epoch": 4},
        random={"cpu": torch.get_rng_state()},
    )


def test_what_is_saved_is_what_is_loaded(tmp_path) -> None:
    saved = example()
    saved.save(tmp_path / "c.pt")
    loaded = load_checkpoint(tmp_path / "c.pt")
    assert loaded.settings == saved.settings
    assert loaded.data == saved.data
    assert (loaded.epoch, loaded.step, loaded.loss_sum, loaded.seconds) == (3, 7, 0.5, 1.25)
    assert torch.equal(loaded.model["weight"], saved.model["weight"])
    assert loaded.optimizer["param_groups"] == saved.optimizer["param_groups"]
    assert torch.equal(loaded.random["cpu"], saved.random["cpu"])
    assert [path.name for path in tmp_path.iterdir()] == ["c.pt"]


def test_an_older_checkpoint_stays_when_the_new_one_cannot_be_written(
    tmp_path, monkeypatch
) -> None:
    saved = example()
    saved.save(tmp_path / "c.pt")
    before = (tmp_path / "c.pt").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(SynthprobeError, match=r"c\.pt could not be written: No space left"):
        saved.save(tmp_path / "c.pt")
    assert (tmp_path / "c.pt").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["c.pt"]


FULL = """
import resource, sys
from pathlib import Path
from synthprobe_data import SynthprobeError
from tests.models.training.test_checkpoint import example
path = Path(sys.argv[1])
example().save(path)
before = path.read_bytes()
for limit in range(0, len(before), 97):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        example().save(path)
    except SynthprobeError as error:
        assert str(error) == f"{path} could not be written: File too large.", error
    else:
        raise AssertionError(limit)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
print("all refused")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs limits of processes")
def test_a_full_disk_gets_a_sentence_wherever_it_is_met(tmp_path) -> None:
    # PyTorch raises an error of its own there, or ends the process.
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "c.pt")],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "all refused\n"), done.stderr


class Evil:
    def __reduce__(self):
        return (print, ("code of a stranger ran",))


def test_code_in_a_checkpoint_is_not_run(tmp_path, capsys) -> None:
    torch.save({"model": Evil()}, tmp_path / "evil.pt")
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Evil()))
    for name in ("evil.pt", "evil.pkl"):
        with pytest.raises(SynthprobeError, match="is not a checkpoint of synthprobe"):
            load_checkpoint(tmp_path / name)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "content",
    [
        {},
        [1, 2],
        {"synthprobe_checkpoint": 1},
        {"state_dict": {"weight": torch.zeros(2)}},
        torch.zeros(3),
    ],
)
def test_foreign_files_are_refused(tmp_path, content) -> None:
    torch.save(content, tmp_path / "other.pt")
    with pytest.raises(SynthprobeError, match="is not a checkpoint of synthprobe"):
        load_checkpoint(tmp_path / "other.pt")


def test_another_version_is_named(tmp_path) -> None:
    example().save(tmp_path / "c.pt")
    content = torch.load(tmp_path / "c.pt", weights_only=True)
    torch.save({**content, "synthprobe_checkpoint": 2}, tmp_path / "c.pt")
    with pytest.raises(SynthprobeError, match="another version of synthprobe"):
        load_checkpoint(tmp_path / "c.pt")


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(SynthprobeError, match=r"there is no file .*none\.pt"):
        load_checkpoint(tmp_path / "none.pt")


def test_damaged_checkpoints_end_in_one_sentence_or_load(tmp_path) -> None:
    example().save(tmp_path / "c.pt")
    whole = (tmp_path / "c.pt").read_bytes()
    draw = random.Random(0)
    for _ in range(150):
        damaged = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.randrange(4)):
            if damaged:
                damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        (tmp_path / "d.pt").write_bytes(damaged)
        try:
            loaded = load_checkpoint(tmp_path / "d.pt")
        except SynthprobeError:
            continue
        assert isinstance(loaded, Checkpoint)
