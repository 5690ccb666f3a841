"""Parameters of the structures that attend: the published counts, and formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.registry import find_structure  # noqa: E402

PUBLISHED = {
    "transformer": 2_373_379,
    "mlp-mixer": 1_979_011,
    "nystromformer": 2_176_003,
    "linformer": 2_208_771,
    "reformer": 2_176_003,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_color_code_networks_have_as_many_parameters_as_published(name: str) -> None:
    assert count_parameters(PROBES["color-code"].make(name)) == PUBLISHED[name]


@pytest.mark.parametrize("name", ["encoder-pre-norm", "encoder-post-norm"])
def test_three_encoder_blocks_have_as_many_parameters_as_published(name: str) -> None:
    assert 3 * count_parameters(find_structure(name).make(256, (7,), heads=4)) == 2_369_280


@pytest.mark.parametrize("width", [8, 48])
def test_parameters_follow_the_formulas(width: int) -> None:
    def count(name: str, **options: int) -> int:
        return count_parameters(find_structure(name).make(width, (9, 8), **options))

    w = width
    window = 4 * w**2 + 4 * w
    assert count("window-attention") == window
    assert count("iwsa") == count("window-attention-lem") == window + 9 * w + w
    k = w // 4 * 5
    reduce, widen = (w * 4 + w), (w * k + k) + 2 * k
    projections = (w * k + k) + (k**2 + k) + (k * w + w) + (w**2 + w)
    assert count("ssa", heads=2, reduction=2) == reduce + widen + projections
    hidden = max(1, w // 16)
    assert count("squeeze-and-excitation") == 2 * w * hidden + w + hidden


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_network_can_be_counted_without_memory_for_its_weights(name: str) -> None:
    with torch.device("meta"):
        assert count_parameters(PROBES["color-code"].make(name)) == PUBLISHED[name]
