"""The notes' optimisers against their formulas, one number at a time, and against torch's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.optim import make_optimizer  # noqa: E402

STEPS = 25


def slope(x: float) -> float:
    """Of x⁴ / 4 - x, which is not quadratic."""
    return x**3 - 1


def rates(changing: bool) -> list[float]:
    return [0.02 / (1 + step) if changing else 0.02 for step in range(STEPS)]


def plain(name: str, x: float, lrs: list[float], epsilon: float = 1e-8) -> float:
    """The formulas of the notes, in plain numbers."""
    v = g = s = 0.0
    for t, lr in enumerate(lrs):
        if name == "notes-momentum":
            v = 0.9 * v - lr * slope(x)
            x = x + v
        elif name == "notes-nesterov":
            v = 0.9 * v - lr * slope(x + 0.9 * v)
            x = x + v
        elif name == "sgd":
            x = x - lr * slope(x)
        elif name == "adagrad":
            s = s + slope(x) ** 2
            x = x - lr / (math.sqrt(s) + 1e-10) * slope(x)
        elif name == "rmsprop":
            s = 0.99 * s + 0.01 * slope(x) ** 2
            x = x - lr / (math.sqrt(s) + 1e-8) * slope(x)
        else:
            g = 0.9 * g + 0.1 * slope(x)
            s = 0.999 * s + 0.001 * slope(x) ** 2
            first, second = g / (1 - 0.9 ** (t + 1)), s / (1 - 0.999 ** (t + 1))
            decay = 0.01 * x if name == "notes-adamw" else 0.0
            x = x - lr / math.sqrt(second + epsilon) * first - decay
    return x


def run(name: str, start: float, lrs: list[float], **options: object) -> float:
    parameter = torch.nn.Parameter(torch.tensor([start], dtype=torch.double))
    optimizer = make_optimizer(name, [parameter], lrs[0], **options)
    for lr in lrs:
        optimizer.param_groups[0]["lr"] = lr
        parameter.grad = parameter.detach() ** 3 - 1
        optimizer.step()
    where = optimizer.positions()[0] if hasattr(optimizer, "positions") else parameter.detach()
    return where.item()


@pytest.mark.parametrize("changing", [False, True])
@pytest.mark.parametrize(
    "name",
    ["notes-momentum", "notes-nesterov", "notes-adam", "notes-adamw", "sgd", "adagrad", "rmsprop"],
)
@given(st.floats(-2, 2))
@settings(max_examples=10)
def test_each_is_its_formula(name, changing, start) -> None:
    options = {"weight_decay": 0.01} if name == "notes-adamw" else {}
    found = run(name, start, rates(changing), **options)
    assert found == pytest.approx(plain(name, start, rates(changing)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "torchs"), [("notes-momentum", "momentum"), ("notes-nesterov", "nesterov")]
)
def test_with_one_rate_momentum_is_torchs_and_with_a_changing_one_it_is_not(name, torchs) -> None:
    for changing in (False, True):
        parameters = []
        for one in (name, torchs):
            parameter = torch.nn.Parameter(torch.tensor([1.7], dtype=torch.double))
            optimizer = make_optimizer(one, [parameter], 0.02)
            for lr in rates(changing):
                optimizer.param_groups[0]["lr"] = lr
                parameter.grad = parameter.detach() ** 3 - 1
                optimizer.step()
            parameters.append(parameter.item())
        difference = abs(parameters[0] - parameters[1])
        assert (difference > 1e-3) if changing else (difference < 1e-12)


@pytest.mark.parametrize(("scale", "share"), [(1.0, 1.0), (1e-4, 1 / math.sqrt(2)), (1e-6, 0.01)])
def test_adams_first_step_is_torchs_for_large_gradients_and_shorter_for_small_ones(
    scale, share
) -> None:
    """Torch's step is lr whatever the gradient, this one lr g / sqrt(g² + ε), with sqrt(ε) 1e-4."""
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.double))
    optimizer = make_optimizer("notes-adam", [parameter], 0.1)
    parameter.grad = torch.full((1,), scale, dtype=torch.double)
    optimizer.step()
    assert -parameter.item() / 0.1 == pytest.approx(share, rel=1e-4)


def test_adamw_decays_by_the_factor_itself_and_not_by_lr_times_it() -> None:
    parameter = torch.nn.Parameter(torch.ones(1, dtype=torch.double))
    optimizer = make_optimizer("notes-adamw", [parameter], 0.1, weight_decay=0.01)
    parameter.grad = torch.zeros(1, dtype=torch.double)
    optimizer.step()
    assert parameter.item() == pytest.approx(0.99)


def test_wrong_options_are_said() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(SynthprobeError, match=r"mu is 1\.0: it must be in \[0, 1\)"):
        make_optimizer("notes-momentum", [parameter], 0.1, mu=1.0)
    with pytest.raises(SynthprobeError, match=r"epsilon is -1\.0: it must not be negative"):
        make_optimizer("notes-adam", [parameter], 0.1, epsilon=-1.0)
