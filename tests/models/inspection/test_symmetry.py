"""The checks, on structures whose answers are known by construction."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import settings as hypothesis_settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.inspection.symmetry import (  # noqa: E402
    ROUNDING,
    double_precision,
    is_deterministic,
    permutation_error,
    receptive_field,
    stir,
    translation_errors,
)

CHANNELS = 3
SHAPES = [(16,), (13, 12)]


class Function(nn.Module):
    """A plain function as a module."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class LearnedPositions(nn.Module):
    """Adds to every position what it has learned of it, which is nothing at first."""

    def __init__(self, shape) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(CHANNELS, *shape))

    def forward(self, x):
        return x + self.positions


def axes(x) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


def global_mean(x):
    return x + x.mean(axes(x), keepdim=True).tanh()


def adds_its_place(x):
    return x + torch.linspace(0, 1, x.shape[-1], dtype=x.dtype)


def block_mean(x):
    """Every position gives the mean of its block of three."""
    blocks = x.unflatten(-1, (-1, 3)).mean(-1, keepdim=True)
    return blocks.expand(*blocks.shape[:-1], 3).flatten(-2)


def shifted(by: int):
    return Function(lambda x: x.roll(by, -1))


def convolution(width: int, mode: str = "zeros") -> nn.Module:
    with double_precision():
        return nn.Conv2d(CHANNELS, CHANNELS, width, padding=width // 2, padding_mode=mode)


POINTWISE = [Function(lambda x: x), Function(torch.tanh), Function(lambda x: x.cumsum(1) + 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("module", POINTWISE)
def test_what_is_pointwise_sees_one_position_and_has_both_symmetries(module, shape) -> None:
    field = receptive_field(module, CHANNELS, shape)
    here = tuple(n // 2 for n in shape)
    assert field.at == here
    assert field.sensitivity.nonzero().tolist() == [list(here)]
    assert field.share == field.ever == pytest.approx(1 / torch.Size(shape).numel())
    errors = translation_errors(module, CHANNELS, shape)
    assert max(errors.inside, errors.contrast, errors.edge, errors.cyclic) < ROUNDING
    assert errors.step == 1
    assert permutation_error(module, CHANNELS, shape) < ROUNDING


@pytest.mark.parametrize("shape", SHAPES)
def test_a_global_mean_sees_everything_and_has_both_symmetries(shape) -> None:
    module = Function(global_mean)
    for at in (None, (0,) * len(shape)):
        field = receptive_field(module, CHANNELS, shape, at=at)
        assert field.share == field.ever == 1
    errors = translation_errors(module, CHANNELS, shape)
    assert max(errors.inside, errors.contrast, errors.edge, errors.cyclic) < ROUNDING
    assert permutation_error(module, CHANNELS, shape) < ROUNDING


@pytest.mark.parametrize("shape", SHAPES)
def test_what_adds_its_place_is_neither_covariant_nor_equivariant(shape) -> None:
    module = Function(adds_its_place)
    errors = translation_errors(module, CHANNELS, shape)
    assert min(errors.inside, errors.edge, errors.cyclic) > 0.01
    assert errors.step is None
    assert errors.contrast < ROUNDING  # the place is added, and so cancels
    assert permutation_error(module, CHANNELS, shape) > 0.01


def test_a_place_that_meets_the_content_is_told_apart_from_one_that_is_added() -> None:
    for place in (adds_its_place, lambda x: adds_its_place(0 * x) * x):
        module = Function(lambda x, place=place: place(x).square())
        errors = translation_errors(module, CHANNELS, (16, 15))
        assert min(errors.inside, errors.contrast) > 0.01


@pytest.mark.parametrize("shape", [(16,), (12, 14)])
def test_a_sum_over_displacements_sees_the_edge_and_is_covariant_but_for_it(shape) -> None:
    """The positional term of the Lambda layer: softmax weights, times a kernel of displacement."""
    places = torch.cartesian_prod(*(torch.arange(n, dtype=torch.double) for n in shape))
    places = places.view(-1, len(shape))
    kernel = (places[:, None] - places).cos().sum(-1)
    module = Function(lambda x: (x.flatten(2).softmax(-1) @ kernel).view_as(x))
    errors = translation_errors(module, CHANNELS, shape)
    assert errors.contrast < ROUNDING
    assert errors.inside > 0.01


def test_what_cannot_tell_arrangements_apart_has_no_error_of_contrasts() -> None:
    module = Function(lambda x: (x.mean(axes(x), keepdim=True) + 1).expand_as(x))
    assert translation_errors(module, CHANNELS, (12, 13)).contrast < ROUNDING


def test_learned_positions_show_although_they_start_at_zero() -> None:
    with double_precision():
        module = LearnedPositions((12, 12))
    assert translation_errors(module, CHANNELS, (12, 12)).inside == 0
    assert translation_errors(stir(module), CHANNELS, (12, 12)).inside > 0.01


@given(by=st.integers(-3, 3), shape=st.sampled_from([(16,), (12, 17)]))
@hypothesis_settings(max_examples=8)
def test_a_shift_is_covariant_and_not_equivariant(by: int, shape) -> None:
    module = shifted(by)
    field = receptive_field(module, CHANNELS, shape, inputs=2)
    there = (*(n // 2 for n in shape[:-1]), shape[-1] // 2 - by)
    assert field.sensitivity.nonzero().tolist() == [list(there)]
    errors = translation_errors(module, CHANNELS, shape)
    assert max(errors.inside, errors.contrast, errors.edge, errors.cyclic) < ROUNDING
    assert (permutation_error(module, CHANNELS, shape) < ROUNDING) == (by == 0)


@given(width=st.sampled_from([1, 3, 5, 7]), height=st.integers(12, 20))
@hypothesis_settings(max_examples=6)
def test_a_convolution_sees_its_window_and_is_covariant(width: int, height: int) -> None:
    shape = (height, 13)
    module = convolution(width)
    seen = receptive_field(module, CHANNELS, shape, inputs=2).sensitivity.nonzero()
    assert len(seen) == width**2
    assert int((seen - torch.tensor([height // 2, 6])).abs().max()) == width // 2
    corner = receptive_field(module, CHANNELS, shape, at=(0, 0), inputs=2)
    assert corner.share == pytest.approx((width // 2 + 1) ** 2 / (height * 13))
    errors = translation_errors(module, CHANNELS, shape)
    assert errors.inside < ROUNDING
    assert (errors.cyclic < ROUNDING) == (width == 1)
    assert (permutation_error(module, CHANNELS, shape) < ROUNDING) == (width == 1)


def test_the_edge_of_two_convolutions_is_told_apart_from_the_inside() -> None:
    module = nn.Sequential(convolution(3), Function(torch.tanh), convolution(3))
    errors = translation_errors(module, CHANNELS, (16, 16))
    assert errors.inside < ROUNDING < 0.01 < errors.edge


def test_a_convolution_around_the_edge_is_covariant_with_cyclic_moves() -> None:
    errors = translation_errors(convolution(5, "circular"), CHANNELS, (14, 13))
    assert errors.cyclic < ROUNDING


def test_blocks_can_be_moved_by_their_size_only() -> None:
    errors = translation_errors(Function(block_mean), CHANNELS, (24,))
    assert errors.inside > 0.01
    assert errors.step == 3


def test_what_chooses_where_to_look_sees_less_than_it_can_see() -> None:
    field = receptive_field(Function(lambda x: 0 * x + x.amax(-1, True)), 1, (16,), inputs=8)
    assert field.share == pytest.approx(1 / 16)
    assert 1 / 16 < field.ever <= 8 / 16


def test_a_constant_sees_nothing_and_is_wrong_only_if_it_varies_over_positions() -> None:
    constant, ramp = Function(lambda x: 0 * x + 1), Function(lambda x: adds_its_place(0 * x))
    assert receptive_field(constant, CHANNELS, (9,)).share == 0
    assert receptive_field(Function(torch.ones_like), CHANNELS, (9,)).share == 0
    assert translation_errors(constant, CHANNELS, (9,)).inside == 0
    assert translation_errors(ramp, CHANNELS, (9,)).inside == float("inf")


def test_noise_of_its_own_is_found_and_kept_out_of_the_errors() -> None:
    noisy = Function(lambda x: x * torch.randn(1, x.shape[1], 1, dtype=x.dtype))
    assert not is_deterministic(noisy, CHANNELS, (16,))
    assert is_deterministic(Function(torch.tanh), CHANNELS, (16,))
    assert translation_errors(noisy, CHANNELS, (16,)).cyclic < ROUNDING
    assert permutation_error(noisy, CHANNELS, (16,)) < ROUNDING


def test_checks_leave_the_random_numbers_and_the_precision_of_others_alone() -> None:
    before = torch.random.get_rng_state()
    stir(LearnedPositions((12,)))
    with pytest.raises(SynthprobeError), double_precision():
        translation_errors(Function(torch.tanh), CHANNELS, (3,))
    translation_errors(Function(torch.tanh), CHANNELS, (12,))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_default_dtype() == torch.float32


def test_too_small_a_canvas_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="16 x 7 positions are too few"):
        translation_errors(POINTWISE[0], CHANNELS, (16, 7))
