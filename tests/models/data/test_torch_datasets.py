"""Samples for PyTorch: those of the file or of the generator, each once, from any process."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    SynthprobeError,
    iter_samples,
    make_file,
    open_dataset,
    select,
)
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import RDE

torch = pytest.importorskip("torch", reason="torch comes with the extra models")

from torch.utils.data import DataLoader  # noqa: E402

from synthprobe_models.data.torch_datasets import (  # noqa: E402
    BLOCK,
    ShardDataset,
    StreamDataset,
    normalisation_of,
    to_network,
)

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
SPLITS = {"train": 41, "test": 9}
STARTS = ["fork", "spawn"]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same samples as a file and as a folder of shards."""
    folder = tmp_path_factory.mktemp("shards")
    generate_file(folder / "rde.h5", RDE, SMALL, splits=SPLITS, workers=1, cards=False)
    generate_folder(folder / "rde", RDE, SMALL, splits=SPLITS, shards=4, workers=1)
    return {"file": folder / "rde.h5", "folder": folder / "rde"}


def expected(sample: dict[str, Any]) -> dict[str, np.ndarray]:
    """What networks see of a sample, in plain NumPy."""
    image = np.moveaxis(sample["image"], 2, 0) / 255
    target = (sample["rank"][None] + 1.0) / (SMALL.n_rectangles + 1)
    return {"image": image.astype(np.float32), "target": target.astype(np.float32)}


def assert_same(found: dict[str, Any], right: dict[str, np.ndarray]) -> None:
    assert set(found) == set(right)
    for name, array in right.items():
        assert str(found[name].dtype) == f"torch.{array.dtype}"
        np.testing.assert_array_equal(found[name].numpy(), array)


def loaded(dataset: Any, workers: int, start: str = "fork", **options: Any) -> list[dict[str, Any]]:
    """The samples that a loader gives, one by one."""
    context = start if workers else None
    loader = DataLoader(dataset, num_workers=workers, multiprocessing_context=context, **options)
    return [
        {name: tensor[i] for name, tensor in batch.items()}
        for batch in loader
        for i in range(len(next(iter(batch.values()))))
    ]


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("split", SPLITS)
def test_samples_are_the_rows_of_the_split(paths: dict[str, Path], kind: str, split: str) -> None:
    dataset = ShardDataset(paths[kind], split)
    rows = list(open_dataset(paths["file"])[split])
    assert len(dataset) == len(rows) == SPLITS[split]
    for i, row in enumerate(rows):
        assert_same(dataset[i], expected(row))
    assert_same(dataset[-1], expected(rows[-1]))
    for found, i in zip(dataset.__getitems__([5, 0, 5]), [5, 0, 5], strict=True):
        assert_same(found, expected(rows[i]))


def test_images_and_targets_have_the_range_and_shape_that_networks_take(
    paths: dict[str, Path],
) -> None:
    sample = ShardDataset(paths["file"])[0]
    assert sample["image"].shape == (3, 40, 32)
    assert sample["target"].shape == (1, 40, 32)
    assert all(tensor.is_contiguous() for tensor in sample.values())
    assert 0 <= sample["image"].min() < sample["image"].max() <= 1
    assert sample["target"].min() == torch.tensor(1 / 5)
    assert sample["target"].max() <= 1


def test_selected_samples_are_read_too(paths: dict[str, Path], tmp_path: Path) -> None:
    select(paths["folder"], tmp_path / "few.h5", where="index % 4 == 2", split="train")
    with open_dataset(paths["folder"]) as data, open_dataset(tmp_path / "few.h5") as few:
        index = few["train"]["index"].tolist()
        assert index == list(range(2, 41, 4))
        samples = ShardDataset(tmp_path / "few.h5", "train")
        assert len(samples) == len(index)
        for position, original in enumerate(index):
            assert_same(samples[position], expected(data["train"][original]))


def test_an_index_out_of_range_ends_the_iteration(paths: dict[str, Path]) -> None:
    dataset = ShardDataset(paths["file"], "test")
    with pytest.raises(IndexError):
        dataset[9]
    assert len(list(dataset)) == 9


def test_named_columns_are_given_as_they_stand(paths: dict[str, Path]) -> None:
    rows = open_dataset(paths["file"])["train"]
    names = [*rows[0]]
    dataset = ShardDataset(paths["folder"], columns=names)
    for i in (0, 17, 40):
        assert_same(dataset[i], rows[i])


def test_a_transform_is_called_with_each_sample(paths: dict[str, Path]) -> None:
    def only_shape(sample: dict[str, Any]) -> dict[str, Any]:
        return {"shape": torch.tensor(sample["image"].shape)}

    dataset = ShardDataset(paths["file"], transform=only_shape)
    assert [s["shape"].tolist() for s in dataset.__getitems__([1, 2])] == [[3, 40, 32]] * 2


@pytest.mark.parametrize(("workers", "start"), [(0, "fork"), (2, "fork"), (2, "spawn")])
def test_a_loader_gives_each_sample_once(paths: dict[str, Path], workers: int, start: str) -> None:
    rows = open_dataset(paths["file"])["train"]
    dataset = ShardDataset(paths["folder"])
    for found, row in zip(loaded(dataset, workers, start, batch_size=4), rows, strict=True):
        assert_same(found, expected(row))
    raw = ShardDataset(paths["folder"], columns=["rectangles", "rank"])
    shuffled = loaded(raw, workers, start, batch_size=4, shuffle=True)
    assert len(shuffled) == len(rows)
    assert {s["rectangles"].numpy().tobytes() for s in shuffled} == {
        row["rectangles"].tobytes() for row in rows
    }


@pytest.mark.parametrize("start", STARTS)
def test_reading_in_the_parent_before_and_between_workers_is_safe(
    paths: dict[str, Path], start: str
) -> None:
    rows = open_dataset(paths["file"])["train"]
    dataset = ShardDataset(paths["file"])
    dataset[3]
    loader = DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context=start)
    for i, batch in enumerate(loader):
        assert_same(dataset[i], expected(rows[i]))  # the parent reads on while the workers do
        for k in range(len(batch["image"])):
            assert_same({n: t[k] for n, t in batch.items()}, expected(rows[4 * i + k]))
    assert i == 10
    assert_same(dataset[40], expected(rows[40]))


def handles(path: Path) -> list[int]:
    """The handles that this process has on a file."""
    path, found = path.resolve(), []
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:  # another thread has closed it since it was listed
            continue
        if target == str(path):
            found.append(int(fd))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks at handles in /proc")
def test_no_handle_crosses_a_fork(paths: dict[str, Path]) -> None:
    def move(sample: dict[str, Any]) -> dict[str, Any]:
        if torch.utils.data.get_worker_info() is not None:
            (handle,) = handles(paths["file"])
            os.lseek(handle, 1234, os.SEEK_SET)  # a shared handle would move in the parent, too
        return sample

    dataset = ShardDataset(paths["file"], transform=move)
    assert handles(paths["file"]) == []
    dataset[0]
    (handle,) = handles(paths["file"])
    assert len(loaded(dataset, 1, "fork")) == 41
    assert handles(paths["file"]) == [handle]
    assert os.lseek(handle, 0, os.SEEK_CUR) != 1234


def test_a_pickled_dataset_reads_the_same(paths: dict[str, Path]) -> None:
    dataset = ShardDataset(paths["folder"])
    before = dataset[30]
    copy = pickle.loads(pickle.dumps(dataset))
    assert len(copy) == len(dataset)
    assert_same(copy[30], {name: tensor.numpy() for name, tensor in before.items()})


def test_a_split_path_or_column_that_is_not_there_is_refused(
    paths: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(SynthprobeError, match="no split 'val'"):
        ShardDataset(paths["file"], "val")
    with pytest.raises(SynthprobeError, match="does not exist"):
        ShardDataset(tmp_path / "none.h5")
    with pytest.raises(SynthprobeError):
        ShardDataset(tmp_path)  # a folder without shards
    with pytest.raises(SynthprobeError, match="no column 'depth'"):
        ShardDataset(paths["file"], columns=["image", "depth"])
    for columns in ("image", []):
        with pytest.raises(SynthprobeError, match="columns is"):
            ShardDataset(paths["file"], columns=columns)


def test_a_batch_of_columns_may_be_converted_after_loading(paths: dict[str, Path]) -> None:
    columns = ShardDataset(paths["file"], columns=["image", "rank"])
    batch = to_network("rde", next(iter(DataLoader(columns, 5))), columns.normalisation)
    right = next(iter(DataLoader(ShardDataset(paths["file"]), 5)))
    assert all(torch.equal(batch[name], right[name]) for name in ("image", "target"))


def test_a_dataset_that_networks_do_not_know_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="'other' is not known"):
        to_network("other", {}, {})


def test_the_normalisation_is_that_of_the_files() -> None:
    assert normalisation_of("rde", SMALL) == {"rank": {"offset": 1, "divisor": 5}}


@pytest.mark.parametrize(("workers", "start"), [(0, "fork"), (2, "fork"), (2, "spawn")])
@pytest.mark.parametrize("batch", [BLOCK, 10])
def test_a_stream_gives_each_index_once(workers: int, start: str, batch: int) -> None:
    first, length = 5, 3 * BLOCK + 7
    stream = StreamDataset(seed=3, config=SMALL, start=first, length=length)
    samples = iter_samples(
        "rde", split="stream", seed=3, config=SMALL, start=first, stop=first + length
    )
    right = [expected(sample) for sample in samples]
    found = loaded(stream, workers, start, batch_size=batch)
    if batch != BLOCK:  # batches do not end where blocks do: each index once, in another order
        places = {r["image"].tobytes() + r["target"].tobytes(): i for i, r in enumerate(right)}
        assert len(places) == length
        found.sort(
            key=lambda s: places[s["image"].numpy().tobytes() + s["target"].numpy().tobytes()]
        )
    for sample, reference in zip(found, right, strict=True):
        assert_same(sample, reference)


def test_a_stream_has_no_end_and_starts_afresh_whenever_it_is_iterated() -> None:
    stream = StreamDataset(config=SMALL)
    first, again = iter(stream), iter(stream)
    for _ in range(BLOCK + 2):
        a, b = next(first), next(again)
        assert_same(a, {name: tensor.numpy() for name, tensor in b.items()})
    other = next(iter(StreamDataset(config=SMALL, seed=1)))
    assert not torch.equal(other["image"], next(iter(stream))["image"])


def test_a_stream_differs_from_the_splits_of_files(paths: dict[str, Path]) -> None:
    sample = next(iter(StreamDataset(config=SMALL)))
    assert not torch.equal(sample["image"], ShardDataset(paths["file"])[0]["image"])


def test_a_stream_of_no_samples_is_empty() -> None:
    assert list(StreamDataset(config=SMALL, length=0)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dataset": "other"}, "no dataset 'other'"),
        ({"split": 3}, "split is 3"),
        ({"seed": -1}, "seed is -1"),
        ({"config": {"height": 3}}, "config is a dict"),
        ({"start": -1}, "start is -1"),
        ({"start": 2**63 - 1}, "start is"),
        ({"length": 1.5}, "length is 1.5"),
        ({"start": 2, "length": 2**63 - 2}, "length is"),
    ],
)
def test_a_stream_of_something_wrong_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SynthprobeError, match=message):
        StreamDataset(**arguments)


SQUARE = CenteredSquareConfig(height=12, width=15, square=5)
CODE = ColorCodeConfig(positions=20, colors=4, bits=2)
OTHERS = {"centered-square": SQUARE, "color-code": CODE}


def expected_of(name: str, sample: dict[str, Any]) -> dict[str, np.ndarray]:
    """What networks see of a sample of another dataset, in plain NumPy."""
    if name == "centered-square":
        return {n: (sample[n][None] / 255).astype(np.float32) for n in ("image", "target")}
    target = np.where(sample["code"].T == 1, 1, -1).astype(np.float32)
    color = (sample["color"].T.astype(np.float32) - np.float32(127.5)) / np.float32(127.5)
    shown = np.where(sample["revealed"] == 1, target, np.float32(0))
    masked = sample["revealed"] == 0
    return {"input": np.concatenate([color, shown]), "target": target, "masked": masked}


@pytest.mark.parametrize("name", OTHERS)
def test_samples_of_other_datasets_are_what_networks_see(name: str, tmp_path: Path) -> None:
    make_file(name, tmp_path / "a.h5", train=9, test=5, config=OTHERS[name], cards=False)
    dataset = ShardDataset(tmp_path / "a.h5", "test")
    rows = list(open_dataset(tmp_path / "a.h5")["test"])
    assert len(dataset) == 5
    for i, row in enumerate(rows):
        assert_same(dataset[i], expected_of(name, row))
        assert all(tensor.is_contiguous() for tensor in dataset[i].values())
    stream = StreamDataset(name, "test", config=OTHERS[name], length=5)
    for found, row in zip(stream, rows, strict=True):
        assert_same(found, expected_of(name, row))


def test_colours_and_codes_have_the_range_and_shape_that_networks_take() -> None:
    sample = next(iter(StreamDataset("color-code")))
    assert sample["input"].shape == (6, 128)
    assert sample["target"].shape == (3, 128)
    assert sample["masked"].shape == (128,)
    masked = sample["masked"]
    assert (sample["input"][3:, masked] == 0).all()
    assert torch.equal(sample["input"][3:, ~masked], sample["target"][:, ~masked])
    assert set(sample["target"].unique().tolist()) == {-1, 1}
    assert -1 <= sample["input"][:3].min() < 0 < sample["input"][:3].max() <= 1


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_of_centered_square_ends(workers: int) -> None:
    stream = StreamDataset("centered-square", "test", config=SQUARE, start=3)
    found = loaded(stream, workers, batch_size=BLOCK)
    rows = iter_samples("centered-square", split="test", config=SQUARE, start=3)
    for sample, row in zip(found, rows, strict=True):
        assert_same(sample, expected_of("centered-square", row))
    assert len(found) == 8 * 11 - 4 * 5 - 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no split 'stream': it has train and test"),
        ({"split": "train", "start": 20}, "ends after 20 samples"),
        ({"split": "train", "start": 2, "length": 19}, "length is 19: .* from 0 to 18"),
    ],
)
def test_a_stream_beyond_the_end_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SynthprobeError, match=message):
        StreamDataset("centered-square", config=SQUARE, **arguments)
