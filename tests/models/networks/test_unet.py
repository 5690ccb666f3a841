"""The U-Net of the paper."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402


def test_the_baseline_has_as_many_parameters_as_published() -> None:
    assert count_parameters(UNet()) == 871_729


@pytest.mark.parametrize("width", [1, 5, 48])
def test_parameters_of_the_baseline_follow_the_formula(width: int) -> None:
    assert count_parameters(UNet(width=width)) == 344 * width**2 + 1649 * width + 1


@pytest.mark.parametrize("shape", [(32, 32), (33, 47), (64, 32)])
@pytest.mark.parametrize("make", [None, lambda channels, shape: torch.nn.Identity()])
def test_output_has_the_size_of_the_input(shape, make) -> None:
    network = UNet(make, shape=shape, width=4)
    assert network(torch.randn(2, 3, *shape)).shape == (2, 1, *shape)


def test_a_picture_too_small_to_be_halved_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="16 x 16 pixels cannot be halved 5 times"):
        UNet(shape=(16, 16))
