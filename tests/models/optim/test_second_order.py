"""Newton's step against the inverted Hessian, on functions whose Hessian is known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.optim import make_optimizer  # noqa: E402
from synthprobe_models.training.run import train_run  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402
from tests.models.small_runs import small_file, small_settings  # noqa: E402


def quadratic(seed: int, size: int):
    """A positive definite Hessian, a slope at 0 and the start."""
    generator = torch.Generator().manual_seed(seed)
    root = torch.randn(size, size, dtype=torch.double, generator=generator)
    rest = torch.randn(2, size, dtype=torch.double, generator=generator)
    return root @ root.T + torch.eye(size), rest[0], rest[1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@settings(max_examples=20)
def test_a_quadratic_function_is_at_its_lowest_after_one_step(seed, size) -> None:
    hessian, slope, start = quadratic(seed, size)
    x = torch.nn.Parameter(start.clone())
    options = {"damping": 0.0, "rounds": 10 * size}
    optimizer = make_optimizer("newton", [x], 1.0, **options)
    optimizer.step(lambda: x @ hessian @ x / 2 + slope @ x)
    torch.testing.assert_close(x.data, torch.linalg.solve(hessian, -slope), rtol=1e-4, atol=1e-6)


def test_the_step_is_the_inverse_of_torchs_hessian_times_the_gradient() -> None:
    """Of a network whose loss is not quadratic, near a minimum."""
    torch.manual_seed(0)
    inputs = torch.randn(40, 3, dtype=torch.double)
    first = torch.nn.Parameter(torch.randn(4, 3, dtype=torch.double))
    last = torch.nn.Parameter(torch.randn(4, dtype=torch.double))

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (torch.tanh(inputs @ a.T) @ b - truth).square().mean()

    truth = (torch.tanh(inputs @ first.data.T) @ last.data) + 0.001 * torch.randn(40)
    size = first.numel() + last.numel()
    flat = torch.autograd.functional.hessian(
        lambda v: loss(v[:12].view(4, 3), v[12:]), torch.cat([first.data.flatten(), last.data])
    )
    gradient = torch.cat(
        [g.flatten() for g in torch.autograd.grad(loss(first, last), [first, last])]
    )
    expected = -torch.linalg.solve(flat + 0.1 * torch.eye(size), gradient)
    before = torch.cat([first.data.flatten(), last.data])
    optimizer = make_optimizer("newton", [first, last], 1.0, damping=0.1, rounds=200)
    optimizer.step(lambda: loss(first, last))
    moved = torch.cat([first.data.flatten(), last.data]) - before
    torch.testing.assert_close(moved, expected, rtol=1e-3, atol=1e-7)


def test_a_step_that_makes_the_loss_greater_is_halved_until_it_does_not() -> None:
    """Newton's step for sqrt(1 + x²) from x is -x (1 + x²): from 2 on it overshoots to -8."""
    ends = []
    for halvings in (0, 10):
        x = torch.nn.Parameter(torch.tensor([2.0], dtype=torch.double))
        optimizer = make_optimizer("newton", [x], 1.0, damping=0.0, halvings=halvings)
        optimizer.step(lambda x=x: torch.sqrt(1 + x.square()).sum())
        ends.append(x.item())
    assert ends == pytest.approx([-8.0, 2 - 10 / 4])


def test_where_the_loss_curves_down_it_goes_along_the_gradient_no_farther_than_allowed() -> None:
    x = torch.nn.Parameter(torch.tensor([3.0, 4.0], dtype=torch.double))
    optimizer = make_optimizer("newton", [x], 1.0, longest=0.5)
    optimizer.step(lambda: -x.square().sum() / 2)
    torch.testing.assert_close(x.data, torch.tensor([3.3, 4.4], dtype=torch.double))


def test_lbfgs_is_torchs() -> None:
    hessian, slope, start = quadratic(3, 5)
    ends = []
    for name in ("ours", "torch"):
        x = torch.nn.Parameter(start.clone())

        def loss(x: torch.Tensor = x) -> torch.Tensor:
            return x @ hessian @ x / 2 + slope @ x

        if name == "ours":
            make_optimizer("lbfgs", [x], 0.5, max_iter=3).step(loss)
        else:
            theirs = torch.optim.LBFGS([x], 0.5, max_iter=3)

            def closure(x: torch.Tensor = x, loss=loss, theirs=theirs) -> torch.Tensor:
                theirs.zero_grad()
                value = loss()
                value.backward()
                return value

            theirs.step(closure)
        ends.append(x.detach())
    assert torch.equal(*ends)


@pytest.mark.parametrize("name", ["newton", "lbfgs"])
def test_weight_decay_is_in_the_loss(name) -> None:
    x = torch.nn.Parameter(torch.ones(2, dtype=torch.double))
    options = {"damping": 0.0} if name == "newton" else {}
    optimizer = make_optimizer(name, [x], 1.0, weight_decay=1.0, **options)
    optimizer.step(lambda: ((x - 1) ** 2).sum() / 2)
    torch.testing.assert_close(x.data, torch.full((2,), 0.5, dtype=torch.double))


@pytest.mark.parametrize("name", ["newton", "lbfgs"])
def test_without_a_function_for_the_loss_there_is_no_step(name) -> None:
    optimizer = make_optimizer(name, [torch.nn.Parameter(torch.ones(2))], 1.0)
    with pytest.raises(SynthprobeError, match="takes a step with a function for the loss"):
        optimizer.step()


@pytest.mark.parametrize(
    ("name", "options"), [("newton", {}), ("lbfgs", {"line_search_fn": "strong_wolfe"})]
)
def test_they_train_a_network_on_a_probe(name, options, tmp_path) -> None:
    """With all samples in one batch, so that what is lowered is the loss itself."""
    source = open_source(small_file(tmp_path / "rde.h5"))
    chosen = {"batch": 10, "schedule": "constant", "rate": 1.0, "epochs": 8, "weight_decay": 0.0}
    settings = small_settings(optimizer=name, optimizer_options=options, **chosen)
    quiet = Machine(progress=False)
    train_run(settings, source, tmp_path / "run", machine=quiet, picture_every=0)
    losses = [float(row["loss"]) for row in RunFolder(tmp_path / "run").read_log()]
    assert losses[-1] < 0.5 * losses[0]
    assert losses == sorted(losses, reverse=True)
