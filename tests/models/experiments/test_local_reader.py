"""The local reader: it reads what is near, and guesses the rest."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig  # noqa: E402
from synthprobe_models.data.torch_datasets import StreamDataset  # noqa: E402
from synthprobe_models.experiments.local_reader import (  # noqa: E402
    LocalReader,
    field_of,
    ranks_in_sight,
)
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402

CONFIG = RdeConfig(
    height=12, width=64, n_rectangles=2, n_vis=3, n_gap=3, n_par=3, min_size=0.3, require_order=True
)


def batch(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    samples = StreamDataset("rde", config=CONFIG).at(range(count))
    image, target = (torch.stack([s[name] for s in samples]) for name in ("image", "target"))
    return image, target


def test_what_sees_everything_is_right_and_what_sees_little_guesses() -> None:
    image, target = batch(12)
    errors = []
    for field in (64, 12, 0):
        reader = LocalReader(CONFIG, field)
        reader.learn(image, target)
        found = reader(image)
        errors.append(float((found - target).abs().mean()))
        assert torch.equal(found[target == target.min()], target[target == target.min()])
    assert errors[0] == 0
    assert 0 < errors[1] < errors[2]
    assert reader.guess in (1, 2)


def test_the_rank_counts_the_chain_that_is_in_sight() -> None:
    label = np.array([[0, 1, 2, 3]])
    everywhere = np.ones((1, 4), bool)
    left = np.array([[True, True, True, False]])
    assert ranks_in_sight(label, [((3, 2), everywhere), ((2, 1), everywhere)]).tolist() == [
        [-1, 1, 2, 3]
    ]
    assert ranks_in_sight(label, [((3, 2), everywhere), ((2, 1), left)]).tolist() == [[-1, 1, 2, 2]]
    assert ranks_in_sight(label, [((2, 1), left), ((2, 0), everywhere)]).tolist() == [[-1, 1, 2, 0]]


def test_a_field_is_what_the_blocks_can_reach() -> None:
    torch.manual_seed(0)
    # Two blocks of 7 x 7 at the one scale see 6 pixels to each side.
    assert field_of(UNet(shape=(8, 32), width=3, down_samplings=0), (8, 32)) == 6
    fields = [
        field_of(UNet(shape=(48, 48), width=3, down_samplings=halved), (48, 48))
        for halved in (1, 3)
    ]
    assert fields[0] < 30
    assert fields[1] == 47  # all of a picture of the preset midi


def test_hidden_channels_that_are_added_change_nothing_but_the_bottlenecks() -> None:
    torch.manual_seed(3)
    plain = UNet(shape=(8, 8), width=4, down_samplings=1)
    torch.manual_seed(3)
    same = UNet(shape=(8, 8), width=4, down_samplings=1, added_hidden=0)
    assert all(
        torch.equal(a, b) for a, b in zip(plain.parameters(), same.parameters(), strict=True)
    )
    more = UNet(shape=(8, 8), width=4, down_samplings=1, added_hidden=5)
    assert count_parameters(more) - count_parameters(plain) == 3 * 5 * (2 * 4 + 1)
