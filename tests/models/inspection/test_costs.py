"""Parameters and FLOPs, against formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812
from torch import nn  # noqa: E402

from synthprobe_models.inspection.costs import _count_on, count_parts, measure_growth  # noqa: E402


class Attention(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.project = nn.Linear(channels, channels)

    def forward(self, x):
        y = self.project(x.flatten(2).mT)[:, None]
        return F.scaled_dot_product_attention(y, y, y)[:, 0].mT.view_as(x)


class Mixer(nn.Module):
    def __init__(self, positions: int) -> None:
        super().__init__()
        self.mix = nn.Linear(positions, positions, bias=False)

    def forward(self, x):
        return self.mix(x.flatten(2)).view_as(x)


class LooksAtValues(Attention):
    """Cannot run without values."""

    def forward(self, x):
        return super().forward(x) if float(x.sum()) == 0 else x


class Shared(nn.Module):
    """Two layers that share their weights."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.layers = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4))
        self.layers[0].weight = self.first.weight

    def forward(self, x):
        return self.layers(self.first(x))


def test_parts_have_the_flops_of_their_formulas() -> None:
    parts, total = count_parts(
        lambda: nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.GELU(), nn.Conv2d(5, 2, 1)),
        (1, 3, 8, 6),
    )
    flops = [2 * 48 * 3 * 5 * 9, 0, 2 * 48 * 5 * 2]
    assert [(part.name, part.flops) for part in parts] == list(zip("012", flops, strict=True))
    assert [part.parameters for part in parts] == [3 * 5 * 9 + 5, 0, 5 * 2 + 2]
    assert (total.parameters, total.flops) == (3 * 45 + 5 + 12, sum(flops))


@pytest.mark.parametrize("kind", [Attention, LooksAtValues])
def test_attention_counts_the_same_with_and_without_values(kind) -> None:
    channels, positions = 4, 10
    parts, total = count_parts(lambda: kind(channels), (1, channels, positions))
    projection = 2 * positions * channels**2
    assert parts[0].flops == projection
    assert total.flops == projection + 4 * positions**2 * channels
    assert (
        _count_on("cpu", lambda: Attention(channels), (1, channels, positions))[1]
        == (_count_on("meta", lambda: Attention(channels), (1, channels, positions))[1])
    )


@pytest.mark.parametrize("axes", [1, 2])
def test_growth_tells_linear_from_quadratic_cost(axes: int) -> None:
    attention = measure_growth(lambda shape: Attention(8), 8, axes)
    assert attention.exponent == pytest.approx(2, abs=0.01)
    assert len(set(attention.parameters)) == 1
    conv = {1: nn.Conv1d, 2: nn.Conv2d}[axes]
    linear = measure_growth(lambda shape: conv(8, 8, 3, padding=1), 8, axes)
    assert linear.exponent == 1
    mixer = measure_growth(lambda shape: Mixer(torch.Size(shape).numel()), 8, axes)
    assert mixer.exponent == 2
    assert mixer.parameters == tuple(n**2 for n in mixer.positions)


def test_growth_of_what_needs_values_is_measured_on_fewer_positions() -> None:
    growth = measure_growth(lambda shape: LooksAtValues(2), 2, 1)
    assert growth.positions == (256, 512, 1024)
    assert growth.exponent == pytest.approx(2, abs=0.01)


def test_growth_of_what_multiplies_nothing_has_no_exponent() -> None:
    assert measure_growth(lambda shape: nn.Tanh(), 2, 2).exponent is None


def test_what_is_shared_is_counted_once() -> None:
    parts, total = count_parts(Shared, (1, 4))
    assert [part.name for part in parts] == ["first", "layers.0", "layers.1"]
    assert [part.parameters for part in parts] == [16, 0, 20]
    assert total.parameters == 36
