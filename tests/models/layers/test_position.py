"""Position encodings: their entries, their heads, and that P^T P knows displacements only."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.position import (  # noqa: E402
    FAMILIES,
    Coordinates,
    PositionEncoding,
    coordinates,
    encode_positions,
)
from tests.models.layers import naive  # noqa: E402

SHAPES = st.one_of(st.tuples(st.integers(1, 9)), st.tuples(st.integers(1, 6), st.integers(1, 6)))


@given(
    shape=SHAPES,
    groups=st.integers(1, 5),
    family=st.sampled_from(FAMILIES),
    turned=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_entries_are_those_of_the_formula(shape, groups, family, turned) -> None:
    channels = 2 * len(shape) * groups
    p = encode_positions(shape, channels, family, turned=turned)
    assert torch.allclose(p, naive.encoding(family, channels, shape, turned), rtol=0, atol=1e-14)


@given(
    shape=SHAPES,
    channels=st.integers(1, 40),
    heads=st.integers(1, 4),
    family=st.sampled_from(FAMILIES),
    isotropic=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_in_every_head_a_pair_of_positions_is_known_by_its_displacement(
    shape, channels, heads, family, isotropic
) -> None:
    encoding = PositionEncoding(channels, shape, family=family, heads=heads, isotropic=isotropic)
    first, second = encoding.pair(torch.zeros(1, 1, *shape, dtype=torch.double))
    assert first.shape == second.shape == (heads, encoding.channels // heads, first.shape[-1])
    pairs = first.mT @ second
    sign = 1 if isotropic else -1
    assert torch.allclose(pairs, sign * pairs.mT, atol=1e-12)
    places = torch.cartesian_prod(*(torch.arange(size) for size in shape)).view(-1, len(shape))
    known: dict[tuple[int, ...], torch.Tensor] = {}
    for m, place in enumerate(places.tolist()):
        for n, other in enumerate(places.tolist()):
            displacement = tuple(b - a for a, b in zip(place, other, strict=True))
            seen = known.setdefault(displacement, pairs[:, m, n])
            assert torch.allclose(seen, pairs[:, m, n], rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("channels", "shape", "heads", "whole"),
    [
        (1024, (5, 5), 8, 1024),
        (64, (5, 5), 4, 64),
        (40, (5, 5), 4, 48),
        (40, (7,), 4, 40),
        (43, (7,), 1, 44),
        (1, (3, 3), 1, 4),
    ],
)
def test_channels_are_rounded_up_to_whole_groups_in_every_head(
    channels, shape, heads, whole
) -> None:
    encoding = PositionEncoding(channels, shape, heads=heads)
    first, _ = encoding.pair(torch.zeros(1, 1, *shape))
    assert encoding.channels == whole
    assert first.shape[:2] == (heads, whole // heads)


def test_figures_follow_shape_and_precision_and_are_not_saved() -> None:
    encoding = PositionEncoding(8, (4, 4))
    small = encoding.pair(torch.zeros(1, 1, 4, 4))[0]
    assert encoding.pair(torch.zeros(5, 2, 4, 4))[0] is small
    encoding = encoding.double()
    exact = encoding.pair(torch.zeros(1, 1, 3, 5, dtype=torch.double))[0]
    assert exact.dtype == torch.double
    assert torch.allclose(exact[0], naive.encoding("fourier", 8, (3, 5)), rtol=0, atol=1e-15)
    # Not the rounded figures of before, cast to double precision.
    again = encoding.pair(torch.zeros(1, 1, 4, 4, dtype=torch.double))[0]
    assert torch.allclose(again[0], naive.encoding("fourier", 8, (4, 4)), rtol=0, atol=1e-15)
    assert not encoding.state_dict()
    assert not list(encoding.parameters())


def test_figures_made_in_inference_mode_do_for_training() -> None:
    encoding = PositionEncoding(8, (4,))
    weights = torch.ones(8, 8, requires_grad=True)
    with torch.inference_mode():
        encoding.pair(torch.zeros(1, 1, 4))
    (weights @ encoding.pair(torch.zeros(1, 1, 4))[0]).sum().backward()
    assert weights.grad is not None


def test_coordinates_go_from_minus_1_to_1_along_each_axis() -> None:
    places = coordinates((3, 5)).view(2, 3, 5)
    assert places[0, :, 2].tolist() == [-1, 0, 1]
    assert places[1, 2].tolist() == [-1, -0.5, 0, 0.5, 1]
    assert coordinates((1, 2)).tolist() == [[0, 0], [-1, 1]]
    x = torch.randn(2, 3, 4)
    both = Coordinates((4,)).append(x)
    assert torch.equal(both[:, :3], x)
    assert torch.allclose(both[:, 3], torch.linspace(-1, 1, 4).expand(2, 4))


def test_bad_values_are_said() -> None:
    with pytest.raises(SynthprobeError, match="no frequencies 'sine': take one of cosine, fourier"):
        PositionEncoding(4, (3,), family="sine")
    with pytest.raises(SynthprobeError, match="at least 1 channel, not 0"):
        PositionEncoding(0, (3,))
    with pytest.raises(SynthprobeError, match="along 1 axes were expected, not along 2"):
        PositionEncoding(4, (3,))(torch.zeros(1, 1, 2, 2))
