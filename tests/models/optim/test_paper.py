"""The paper's optimiser, part by part, against formulas written out in plain loops."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.optim import (  # noqa: E402
    OPTIMIZERS,
    ProbeOptimizer,
    make_optimizer,
    make_schedule,
)
from synthprobe_models.optim.gradients import (  # noqa: E402
    centralise,
    clip_by_units,
    divide_by_deviation,
    divide_by_norm,
)

OFF: dict[str, Any] = {
    "weight_decay": 0.0,
    "clip": 0.0,
    "centralisation": False,
    "normalisation": "none",
    "positive_negative": None,
    "belief": False,
    "softplus": 0.0,
    "lookahead": 0,
}
PARTS: dict[str, dict[str, Any]] = {
    "weight decay": {"weight_decay": 0.1},
    "clipping": {"clip": 0.01},
    "centralisation": {"centralisation": True},
    "norm": {"normalisation": "norm"},
    "deviation": {"normalisation": "deviation"},
    "positive-negative momentum": {"positive_negative": 1.0},
    "weaker negative momentum": {"positive_negative": 0.3},
    "belief": {"belief": True},
    "softplus": {"softplus": 50.0},
    "LookAhead": {"lookahead": 5},
    "LookAhead, other blend": {"lookahead": 3, "lookahead_blend": 0.8},
}
SHAPES = [(3, 4), (2, 3, 2, 2), (4, 1, 3), (5,), (1,), ()]
STEPS = 12
LR = 0.03


def drawn(shape: tuple[int, ...], seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """A start, with one unit of zeros, and gradients of very different sizes, one for each step."""
    random = np.random.default_rng(seed)
    start = np.asarray(random.normal(size=shape))
    if len(shape) > 1:
        start[0] = 0
    scales = 10.0 ** random.uniform(-4, -0.5, STEPS)
    return start, [np.asarray(scale * random.normal(size=shape)) for scale in scales]


def units(array: np.ndarray) -> list[np.ndarray]:
    """Views of the units: rows of the first axis, or the whole if there is no second one."""
    return [array[i, ...] for i in range(len(array))] if array.ndim > 1 else [array]


def plain_gradient(g: np.ndarray, weights: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    g = g.copy()
    if options["clip"]:
        for unit, weight in zip(units(g), units(weights), strict=True):
            norm = math.sqrt(sum(x * x for x in unit.flat))
            allowed = options["clip"] * max(math.sqrt(sum(w * w for w in weight.flat)), 1e-3)
            if norm > allowed:
                unit[...] *= allowed / norm
    if options["centralisation"] and g.ndim > 1:
        for unit in units(g):
            unit[...] -= sum(unit.flat) / unit.size
    if options["normalisation"] == "norm":
        g /= math.sqrt(sum(x * x for x in g.flat))
    if options["normalisation"] == "deviation" and g.size > 2:
        mean = sum(g.flat) / g.size
        g /= math.sqrt(sum((x - mean) ** 2 for x in g.flat) / (g.size - 1))
    return g


def plain_run(start: np.ndarray, gradients: list[np.ndarray], **options: Any) -> np.ndarray:
    """The weights after all steps, entry by entry, from the history of all gradients."""
    options = {**OFF, "lookahead_blend": 0.5, **options}
    weights, slow, seen = start.copy(), start.copy(), []
    square = np.zeros_like(start)
    averages = [np.zeros_like(start)]  # of every step so far, from step 0
    for t, raw in enumerate(gradients, start=1):
        seen.append(plain_gradient(raw, weights, options))
        b0 = options["positive_negative"]
        new, average = weights.copy(), np.zeros_like(start)
        for i in np.ndindex(start.shape):
            g = seen[-1][i]
            if b0 is None:  # Adam's average as its sum
                m = sum(0.1 * 0.9 ** (t - s) * seen[s - 1][i] for s in range(1, t + 1))
                along = m
            else:  # the sum over every other step; β1² for two steps is β1 for each
                m = sum(0.19 * 0.9 ** (t - s) * seen[s - 1][i] for s in range(t, 0, -2))
                along = ((1 + b0) * m - b0 * averages[-1][i]) / math.sqrt((1 + b0) ** 2 + b0**2)
            average[i] = m
            if options["belief"]:
                square[i] = 0.999 * square[i] + 0.001 * (g - m) ** 2 + 1e-16
            else:
                square[i] = 0.999 * square[i] + 0.001 * g**2
            root = math.sqrt(square[i] / (1 - 0.999**t))
            if options["softplus"]:
                divisor = math.log(1 + math.exp(options["softplus"] * root)) / options["softplus"]
            else:
                divisor = root + 1e-8
            decayed = weights[i] - LR * options["weight_decay"] * weights[i]
            new[i] = decayed - LR * along / (1 - 0.9**t) / divisor
        averages.append(average)
        weights = new
        if options["lookahead"] and t % options["lookahead"] == 0:
            slow = np.asarray(slow + options["lookahead_blend"] * (weights - slow))
            weights = slow.copy()
    return weights


def run(optimizer: torch.optim.Optimizer, parameter: Any, gradients: list[np.ndarray]) -> Any:
    for gradient in gradients:
        parameter.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
    return parameter.detach().numpy()


def parameter_of(start: np.ndarray) -> Any:
    return torch.nn.Parameter(torch.from_numpy(start.copy()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("part", PARTS)
def test_each_part_alone_is_its_formula(part, shape) -> None:
    start, gradients = drawn(shape, 1)
    parameter = parameter_of(start)
    optimizer = ProbeOptimizer([parameter], LR, **{**OFF, **PARTS[part]})
    expected = plain_run(start, gradients, **PARTS[part])
    np.testing.assert_allclose(run(optimizer, parameter, gradients), expected, rtol=1e-9)
    if not (shape in [(1,), (5,), ()] and part in ("centralisation", "deviation")):
        assert not np.allclose(expected, plain_run(start, gradients), rtol=1e-6), "no effect"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["paper", "ranger21"])
def test_all_parts_together_are_the_formulas_together(name, shape) -> None:
    start, gradients = drawn(shape, 2)
    parameter = parameter_of(start)
    options = {
        "clip": 0.01,
        "centralisation": True,
        "positive_negative": 1.0,
        "softplus": 50.0,
        "lookahead": 5,
    }
    own = {
        "paper": {"normalisation": "norm", "belief": True, "weight_decay": 5e-4},
        "ranger21": {"normalisation": "deviation", "belief": False, "weight_decay": 0.0},
    }[name]
    expected = plain_run(start, gradients, **options, **own)
    optimizer = make_optimizer(name, [parameter], LR)
    np.testing.assert_allclose(run(optimizer, parameter, gradients), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_without_its_parts_it_is_the_adamw_of_torch(shape, weight_decay) -> None:
    start, gradients = drawn(shape, 3)
    ours, theirs = parameter_of(start), parameter_of(start)
    options = {**OFF, "weight_decay": weight_decay}
    a = run(ProbeOptimizer([ours], LR, **options), ours, gradients)
    b = run(torch.optim.AdamW([theirs], LR, weight_decay=weight_decay), theirs, gradients)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    if weight_decay == 0:
        adam = parameter_of(start)
        c = run(torch.optim.Adam([adam], LR), adam, gradients)
        np.testing.assert_allclose(a, c, rtol=1e-12)


def network() -> torch.nn.Module:
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))


def train(net: Any, optimizer: Any, schedule: Any, first: int, last: int) -> list[torch.Tensor]:
    """Steps `first` to `last`, each with a batch of its own; the weights afterwards."""
    for step in range(first, last):
        random = torch.Generator().manual_seed(step)
        x = torch.randn(16, 3, generator=random)
        optimizer.zero_grad()

        def loss(x: torch.Tensor = x) -> torch.Tensor:
            return (net(x) - x[:, :2] * x[:, 1:]).square().mean()

        if getattr(optimizer, "needs_loss", False):
            optimizer.step(loss)
        else:
            loss().backward()
            optimizer.step()
        schedule.step()
    return [p.detach().clone() for p in net.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("stop", [0, 1, 6])
def test_a_run_that_was_saved_and_loaded_goes_on_bit_for_bit(name, stop) -> None:
    def made() -> tuple[Any, Any, Any]:
        net = network()
        optimizer = make_optimizer(name, net.parameters(), 0.01)
        return net, optimizer, make_schedule("ranger21", optimizer, steps=13)

    undisturbed = train(*made(), 0, 13)
    parts = made()
    train(*parts, 0, stop)
    file = io.BytesIO()
    torch.save([part.state_dict() for part in parts], file)
    file.seek(0)
    again = made()
    for part, state in zip(again, torch.load(file, weights_only=True), strict=True):
        part.load_state_dict(state)
    resumed = train(*again, stop, 13)
    assert all(torch.equal(a, b) for a, b in zip(undisturbed, resumed, strict=True))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimiser_makes_a_loss_smaller(name) -> None:
    net, x = network(), torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
    rate = 1.0 if name == "newton" else 0.03
    optimizer = make_optimizer(name, net.parameters(), rate)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (net(x) - x[:, :2]).square().mean()
        if not getattr(optimizer, "needs_loss", False):
            loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(60)]  # type: ignore[attr-defined]
    assert losses[-1] < 0.5 * losses[0]


@given(st.integers(0, 2**32 - 1), st.floats(-6, 6))
@settings(max_examples=20)
def test_a_normalised_run_does_not_see_the_scale_of_the_loss(seed, exponent) -> None:
    start, gradients = drawn((3, 4), seed)
    runs = []
    for scale in (1.0, 10.0**exponent):
        parameter = parameter_of(start)
        optimizer = ProbeOptimizer([parameter], LR, clip=0)
        runs.append(run(optimizer, parameter, [scale * g for g in gradients[:6]]))
    np.testing.assert_allclose(*runs, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from(SHAPES))
@settings(max_examples=50)
def test_prepared_gradients_have_what_their_names_say(seed, shape) -> None:
    weights, (gradient, *_) = drawn(shape, seed)
    g, w = torch.from_numpy(gradient), torch.from_numpy(weights)
    clipped = clip_by_units(g, w, most=0.01, least_norm=1e-3).numpy()
    for unit, weight, before in zip(units(clipped), units(weights), units(gradient), strict=True):
        bound = 0.01 * max(np.linalg.norm(weight), 1e-3)
        assert np.linalg.norm(unit) <= bound * (1 + 1e-12)
        if np.linalg.norm(before) < bound:
            np.testing.assert_array_equal(unit, before)
    assert torch.linalg.vector_norm(divide_by_norm(g)).item() == pytest.approx(1)
    if len(shape) > 1:
        assert all(abs(u.mean()) < 1e-12 for u in units(centralise(g).numpy()))
    if g.numel() > 2:
        assert divide_by_deviation(g).std().item() == pytest.approx(1)


@given(st.integers(0, 2**32 - 1), st.sampled_from(SHAPES))
@settings(max_examples=20)
def test_the_norm_loss_is_the_gradient_of_its_penalty(seed, shape) -> None:
    weights = np.random.default_rng(seed).normal(size=shape)
    parameter = parameter_of(weights)
    penalty = sum((1 - torch.linalg.vector_norm(unit)) ** 2 for unit in units(parameter))
    penalty.backward()
    expected = weights - LR * 0.3 * parameter.grad.numpy()
    drawn_in = ProbeOptimizer([parameter], LR, **OFF, norm_loss=0.3)
    found = run(drawn_in, parameter, [np.zeros(shape)])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_units_go_to_norm_1_by_the_norm_loss_alone() -> None:
    parameter = parameter_of(np.array([[3.0, 4.0], [0.03, 0.04], [0.0, 0.0]]))
    optimizer = ProbeOptimizer([parameter], 0.1, **OFF, norm_loss=0.5)
    norms = np.linalg.norm(run(optimizer, parameter, [np.zeros((3, 2))] * 200), axis=1)
    np.testing.assert_allclose(norms, [1, 1, 0], atol=1e-6)


@pytest.mark.parametrize("name", ["paper", "ranger21"])
def test_a_gradient_of_0_changes_nothing_but_by_weight_decay(name) -> None:
    parameter = parameter_of(np.ones((2, 3)))
    optimizer = make_optimizer(name, [parameter], LR, weight_decay=0.0)
    assert (run(optimizer, parameter, [np.zeros((2, 3))] * 7) == 1).all()


def test_a_parameter_without_gradient_is_left_alone() -> None:
    still, moved = parameter_of(np.ones(3)), parameter_of(np.ones(3))
    optimizer = ProbeOptimizer([still, moved], LR)
    run(optimizer, moved, [np.ones(3)])
    assert (still == 1).all()
    assert (moved < 1).all()
    assert still not in optimizer.state


def test_groups_have_options_of_their_own() -> None:
    first, second = parameter_of(np.ones(3)), parameter_of(np.ones(3))
    optimizer = ProbeOptimizer([{"params": [first], "weight_decay": 0.0}, {"params": [second]}], LR)
    first.grad = second.grad = torch.zeros(3, dtype=torch.double)
    optimizer.step()
    assert (first == 1).all()
    assert torch.allclose(second, torch.full_like(second, 1 - LR * 5e-4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1.0}, "lr is -1.0: it must not be negative"),
        ({"lr": math.nan}, "lr is nan"),
        ({"weight_decay": -0.1}, "weight_decay is -0.1"),
        ({"betas": (0.9, 1.0)}, r"betas is \(0.9, 1.0\): it must be two numbers in \[0, 1\)"),
        ({"normalisation": "max"}, "normalisation is 'max': it must be one of none, norm, dev"),
        ({"positive_negative": -1.0}, "positive_negative is -1.0"),
        ({"lookahead": 2.5}, "lookahead is 2.5: it must be a whole number"),
        ({"norm_loss": -1.0}, "norm_loss is -1.0: it must not be negative"),
        ({"lookahead_blend": 1.5}, "lookahead_blend is 1.5: it must be from 0 to 1"),
    ],
)
def test_wrong_options_are_said(options, message) -> None:
    with pytest.raises(SynthprobeError, match=message):
        ProbeOptimizer([parameter_of(np.ones(2))], **{"lr": LR, **options})
