"""The modules of Inception-ResNet against their formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.inception_resnet import (  # noqa: E402
    InceptionResNetA,
    InceptionResNetB,
)
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from tests.models.naive import convolve, drawn, normalise, picture, run  # noqa: E402


def line(x: Tensor, part: torch.nn.Sequential) -> Tensor:
    """A 1x7 or 7x1 convolution as a 7x7 one with zeros around it, and its norm and ReLU."""
    weight = part[0].weight
    wide = F.pad(weight, (3, 3, 0, 0) if weight.shape[3] == 1 else (0, 0, 3, 3))
    square = torch.nn.Conv2d(weight.shape[1], weight.shape[0], 7, padding=3, bias=False).double()
    square.weight.data = wide.data
    return normalise(convolve(x, square), part[1]).clamp(min=0)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("kind", ["a", "b"])
def test_a_module_is_its_paths_joined_and_added(kind: str, training: bool) -> None:
    make = InceptionResNetA if kind == "a" else InceptionResNetB
    module = drawn(make(4, (6, 5), reduction=2)).train(training)
    x = picture(4, 6, 5)
    with torch.no_grad():
        found = []
        for path in module.paths:
            parts = [path] if not isinstance(path[0], torch.nn.Sequential) else list(path)
            y = run(x, parts[0]).clamp(min=0)
            for part in parts[1:]:
                y = run(y, part).clamp(min=0) if kind == "a" else line(y, part)
            found.append(y)
        joined = torch.einsum("bchw,oc->bohw", torch.cat(found, 1), module.join.weight[:, :, 0, 0])
        expected = (x + joined + module.join.bias.view(-1, 1, 1)).clamp(min=0)
        assert torch.allclose(module(x), expected, rtol=1e-10)


def test_counts_are_those_of_the_paths() -> None:
    """Of 256 channels with paths of 32, as 35 x 35 modules of Inception-ResNet-v1 have them."""
    a, b = InceptionResNetA(256, (8, 8)), InceptionResNetB(256, (8, 8))
    norm, small = 2 * 32, 32 * 32
    assert count_parameters(a) == (
        3 * (256 * 32 + norm) + 3 * (9 * small + norm) + 3 * 32 * 256 + 256
    )
    assert count_parameters(b) == (
        2 * (256 * 32 + norm) + 2 * (7 * small + norm) + 2 * 32 * 256 + 256
    )


@pytest.mark.parametrize("name", ["inception-resnet-a", "inception-resnet-b"])
def test_they_fit_the_probes_with_pictures(name: str) -> None:
    assert set(fitting(name)) == {"rde", "twins", "centered-square"}
    network = PROBES["centered-square"].make(name, shape=(9, 7), width=3)
    assert network(torch.randn(2, 1, 9, 7)).shape == (2, 1, 9, 7)
    with pytest.raises(SynthprobeError, match="reduction must be at least 1"):
        InceptionResNetA(4, (5, 5), reduction=0)
