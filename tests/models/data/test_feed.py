"""The order in which a run sees its samples."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.data.feed import BatchShare, Feed, RunStep  # noqa: E402
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset  # noqa: E402
from tests.models.small_runs import CONFIG, small_file  # noqa: E402


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_file(tmp_path_factory.mktemp("feed") / "rde.h5")


def images(feed: Feed, at: RunStep) -> list[bytes]:
    """The images of the rest of an epoch, one by one."""
    return [
        image.numpy().tobytes() for batch, _ in feed.epoch(at) for image in batch.get("image", [])
    ]


def make(file, **others) -> Feed:
    chosen = {"samples": None, "batch": 4, "seed": 0, **others}
    return Feed(ShardDataset(file, "train"), **chosen)


def test_an_epoch_has_every_sample_once(file) -> None:
    feed = make(file)
    everything = {bytes(s["image"].numpy().tobytes()) for s in iter(ShardDataset(file, "train"))}
    seen = images(feed, RunStep())
    assert len(seen) == feed.samples == 10
    assert set(seen) == everything
    assert feed.steps == 3


def test_order_differs_by_epoch_and_by_seed_and_by_nothing_else(file) -> None:
    feed = make(file)
    assert images(feed, RunStep(0)) == images(make(file), RunStep(0))
    assert images(feed, RunStep(0)) == images(make(file, workers=2), RunStep(0))
    assert images(feed, RunStep(0)) != images(feed, RunStep(1))
    assert images(feed, RunStep(0)) != images(make(file, seed=1), RunStep(0))


@settings(max_examples=10, deadline=None)
@given(step=st.integers(0, 3), epoch=st.integers(0, 3))
def test_the_rest_of_an_epoch_does_not_depend_on_where_it_was_left(file, step, epoch) -> None:
    feed = make(file)
    assert images(feed, RunStep(epoch, step)) == images(feed, RunStep(epoch))[4 * step :]


@pytest.mark.parametrize("world", [2, 3, 7])
def test_processes_share_out_each_batch(file, world: int) -> None:
    whole = [batch for batch, _ in make(file).epoch(RunStep())]
    for step, batch in enumerate(whole):
        shares = [
            list(make(file, share=BatchShare(rank, world)).epoch(RunStep()))[step]
            for rank in range(world)
        ]
        assert {size for _, size in shares} == {len(batch["image"])}
        parts = [image.tolist() for share, _ in shares for image in share.get("image", [])]
        assert sorted(parts) == sorted(image.tolist() for image in batch["image"])


def test_a_stream_goes_on_from_epoch_to_epoch() -> None:
    stream = StreamDataset("rde", config=CONFIG)
    feed = Feed(stream, samples=6, batch=4, seed=0)
    first, second = images(feed, RunStep(0)), images(feed, RunStep(1))
    fresh = [s["image"].numpy().tobytes() for s in StreamDataset("rde", config=CONFIG, length=12)]
    assert first + second == fresh


def test_more_samples_than_there_are_and_an_endless_epoch_are_refused(file) -> None:
    with pytest.raises(SynthprobeError, match="samples is 11: the training split has 10"):
        make(file, samples=11)
    with pytest.raises(SynthprobeError, match="say how many samples an epoch has"):
        Feed(StreamDataset("rde", config=CONFIG), samples=None, batch=4, seed=0)
