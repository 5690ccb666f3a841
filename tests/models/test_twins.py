"""A network that does not see far enough is right in exactly half of the pixels of twins."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from synthprobe_data import TwinsConfig
from synthprobe_data.twins.generate import generate_block


def local_network(layers: int) -> nn.Sequential:
    """Convolutions of 3 x 3 that see ``layers`` pixels to each side; two classes, rank 1 and 2."""
    torch.manual_seed(layers)
    steps: list[nn.Module] = [nn.Conv2d(3, 8, 3, padding=1)]
    for _ in range(layers - 1):
        steps += [nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)]
    return nn.Sequential(*steps, nn.ReLU(), nn.Conv2d(8, 2, 1))


def batch(start: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    block = generate_block(TwinsConfig(), 0, "train", start, count)
    pictures = torch.from_numpy(block["image"]).permute(0, 3, 1, 2) / 255
    rank = torch.from_numpy(block["rank"].astype(np.int64))
    return pictures, rank, torch.from_numpy(block["distance"].astype(np.int64))


@pytest.mark.parametrize("layers", [1, 3, 6])
def test_a_trained_network_is_right_in_exactly_half_of_what_it_cannot_see(layers: int) -> None:
    network = local_network(layers)
    optimiser = torch.optim.AdamW(network.parameters(), 1e-2)
    for step in range(25):
        pictures, rank, _ = batch(16 * step, 16)
        loss = nn.functional.cross_entropy(network(pictures), rank - 1, ignore_index=-1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    pictures, rank, distance = batch(10_000, 64)
    with torch.no_grad():
        answer = network(pictures).argmax(dim=1) + 1
    right = answer == rank
    beyond = distance > layers
    assert int(beyond.sum()) > 1_000
    assert 2 * int((right & beyond).sum()) == int(beyond.sum())


def test_a_network_that_sees_all_may_tell_the_twins_apart_anywhere() -> None:
    """So the half is a fact about what a network sees, not about how its answers are counted."""
    pictures, _, distance = batch(0, 2)
    network = nn.Sequential(local_network(2), nn.Conv2d(2, 2, (17, 129), padding=(8, 64)))
    with torch.no_grad():
        one, other = network(pictures)
    assert (one != other).any(dim=0)[distance[0] > 20].all()
