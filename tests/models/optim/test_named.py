"""Optimisers by name."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.optim import OPTIMIZERS, make_optimizer  # noqa: E402

TORCH = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1),
    "momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "nesterov": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, 0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 0.1),
    "adam": lambda p: torch.optim.Adam(p, 0.1),
    "adamw": lambda p: torch.optim.AdamW(p, 0.1),
}


def test_the_names_are_the_papers_those_of_torch_and_those_of_the_notes() -> None:
    papers = ("paper", "ranger21", "ranger21-norm-loss")
    notes = ("notes-momentum", "notes-nesterov", "notes-adam", "notes-adamw", "newton", "lbfgs")
    assert tuple(OPTIMIZERS) == (*papers, *TORCH, *notes)


@pytest.mark.parametrize("name", TORCH)
def test_names_of_torch_mean_its_optimisers(name) -> None:
    ends = []
    for make in (lambda p: make_optimizer(name, p, 0.1), TORCH[name]):
        parameter = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
        optimizer = make([parameter])
        for _ in range(4):
            parameter.grad = parameter.detach() ** 3 + 1
            optimizer.step()
        ends.append(parameter.detach())
    assert torch.equal(*ends)


def test_options_go_to_the_optimiser() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    group = make_optimizer("ranger21", [parameter], 0.1, weight_decay=0.2).param_groups[0]
    assert (group["lr"], group["weight_decay"], group["belief"]) == (0.1, 0.2, False)


def test_what_cannot_be_made_is_said() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(SynthprobeError, match="no optimiser 'lion': take one of paper, ranger21, "):
        make_optimizer("lion", [parameter], 0.1)
    with pytest.raises(SynthprobeError, match=r"the optimiser sgd cannot be made: .*'belief'"):
        make_optimizer("sgd", [parameter], 0.1, belief=True)
    with pytest.raises(SynthprobeError, match="the optimiser adam cannot be made: Invalid learn"):
        make_optimizer("adam", [parameter], -0.1)
    with pytest.raises(SynthprobeError, match=r"lr is -0\.1"):
        make_optimizer("paper", [parameter], -0.1)
