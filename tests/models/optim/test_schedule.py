"""The learning rate over a run."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.optim import (  # noqa: E402
    SCHEDULES,
    make_optimizer,
    make_schedule,
    schedule,
)
from synthprobe_models.optim.schedule import FLOOR  # noqa: E402

PAPER_RUNS = {
    "rde": (50 * 1563, 2000),  # 2 / (1 - 0.999)
    "centered-square": (100 * 16, 352),  # 22%
    "color-code": (50 * 79, 869),
}


@pytest.mark.parametrize(("steps", "warm_up"), PAPER_RUNS.values(), ids=PAPER_RUNS)
def test_the_papers_runs_warm_up_and_warm_down_as_published(steps, warm_up) -> None:
    factor = schedule("ranger21", steps)
    assert factor(0) == pytest.approx(1 / warm_up)
    assert factor(warm_up // 2 - 1) == pytest.approx(0.5, abs=1 / warm_up)
    assert factor(warm_up - 2) < 1
    assert factor(warm_up - 1) == 1
    flat = steps - round(14 / 50 * steps)
    assert factor(flat - 1) == 1
    assert factor(flat) < 1
    middle = factor(flat + (steps - flat) // 2 - 1)
    assert middle == pytest.approx((1 + FLOOR) / 2, abs=2 / (steps - flat))
    assert factor(steps - 1) == pytest.approx(FLOOR)


@given(st.integers(1, 2_000), st.sampled_from([0.9, 0.99, 0.999]), st.floats(0, 1))
@settings(max_examples=30)
def test_up_flat_and_down_by_equal_steps(steps, beta2, floor) -> None:
    factor = schedule("ranger21", steps, beta2=beta2, floor=floor)
    factors = [factor(step) for step in range(steps)]
    assert all(0 <= f <= 1 for f in factors)
    top = [step for step, f in enumerate(factors) if f == 1]
    assert top, "the full learning rate is reached"
    assert top == list(range(top[0], top[-1] + 1)) or floor == 1
    for part in (factors[: top[0] + 1], factors[top[-1] :]):
        changes = [b - a for a, b in pairwise(part)]
        assert changes == pytest.approx([changes[0]] * len(changes)) if changes else True
    assert top[0] + 1 <= max(1, min(2 / (1 - beta2) + 1e-6, 0.22 * steps))
    assert factor(steps + 5) == factors[-1]


def test_schedules_set_the_learning_rate_and_can_be_pickled() -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    for name in SCHEDULES:
        optimizer = make_optimizer("sgd", [parameter], 0.5)
        scheduler = make_schedule(name, optimizer, steps=50)
        factor = pickle.loads(pickle.dumps(schedule(name, 50)))
        rates = []
        for _ in range(50):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        assert rates == [0.5 * factor(step) for step in range(50)]
        assert (set(rates) == {0.5}) == (name == "constant")


def test_the_warm_up_follows_the_optimiser() -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = make_optimizer("adamw", [parameter], 1.0, betas=(0.9, 0.9))
    make_schedule("ranger21", optimizer, steps=1000)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(1 / 20)  # 2 / (1 - 0.9) steps


def test_unknown_schedules_and_wrong_steps_are_said() -> None:
    with pytest.raises(SynthprobeError, match="no schedule 'linear': take one of ranger21, const"):
        schedule("linear", 10)
    with pytest.raises(SynthprobeError, match="steps is 0: it must be a whole number from 1"):
        schedule("ranger21", 0)


def test_the_shares_of_a_run_that_are_warm_up_and_warm_down_can_be_chosen() -> None:
    factor = schedule("ranger21", 100, warm_up_share=0.5, warm_down_share=0.1)
    assert [factor(k) for k in (24, 49, 89)] == [0.5, 1, 1]
    assert factor(90) < 1
    assert [schedule("ranger21", 10, warm_up_share=0, warm_down_share=0)(k) for k in (0, 9)] == [
        1
    ] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warm_up_share": 1.5}, r"warm_up_share is 1\.5: it must be a number from 0 to 1"),
        ({"floor": "low"}, "floor is 'low': it must be a number"),
        ({"warm_up_share": 0.8}, "are more than 1 together"),
        ({"warmup": 1}, "the schedule ranger21 has no option 'warmup': take of beta2, floor"),
    ],
)
def test_wrong_options_of_a_schedule_get_one_sentence(options, message) -> None:
    with pytest.raises(SynthprobeError, match=message):
        schedule("ranger21", 100, **options)


@pytest.mark.parametrize("steps", [1, 7, 120])
def test_cosine_polynomial_and_multi_step_are_torchs(steps) -> None:
    """Factor by factor, against the schedulers of torch, which go from step to step."""
    lr = torch.optim.lr_scheduler
    theirs = {
        ("cosine", ()): lambda o: lr.CosineAnnealingLR(o, steps),
        ("cosine", (("floor", 0.1),)): lambda o: lr.CosineAnnealingLR(o, steps, eta_min=0.1),
        ("polynomial", ()): lambda o: lr.PolynomialLR(o, steps, power=0.9),
        ("polynomial", (("power", 1.0),)): lambda o: lr.PolynomialLR(o, steps, power=1.0),
        ("multi-step", ()): lambda o: lr.MultiStepLR(
            o, [round(8 / 12 * steps), round(11 / 12 * steps)]
        ),
    }
    for (name, options), make in theirs.items():
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 1.0)
        scheduler = make(optimizer)
        factor = schedule(name, steps, **dict(options))
        for step in range(steps):
            assert factor(step) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9), name
            optimizer.step()
            scheduler.step()


def test_a_warm_up_keeps_the_first_steps_down() -> None:
    for name in ("cosine", "polynomial", "multi-step"):
        plain, warm = schedule(name, 300), schedule(name, 300, warm_up_share=5 / 300)
        assert [warm(step) / plain(step) for step in range(7)] == pytest.approx(
            [0.2, 0.4, 0.6, 0.8, 1, 1, 1]
        )


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cosine", {"floor": 2}, "floor is 2: it must be a number from 0 to 1"),
        ("polynomial", {"power": 0}, "power is 0: it must be a number above 0"),
        ("multi-step", {"milestones": 3}, "milestones is 3: it must be shares of the run"),
        ("multi-step", {"milestones": [8, 11]}, "a milestone is 8: it must be"),
        ("multi-step", {"gamma": 0.1}, "has no option 'gamma': take of warm_up_share, milest"),
        ("cosine", {"warm_up_share": -1}, "warm_up_share is -1"),
    ],
)
def test_wrong_options_of_each_schedule_are_said(name, options, message) -> None:
    with pytest.raises(SynthprobeError, match=message):
        schedule(name, 10, **options)
