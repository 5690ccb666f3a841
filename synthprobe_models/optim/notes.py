"""Momentum, Nesterov, Adam and AdamW as the course notes write them, where PyTorch differs.

SGD, AdaGrad and RMSProp are PyTorch's to the last term, so they are not here. Of these four:

- momentum and Nesterov: v = μ v - lr g, so that a velocity keeps the learning rate of its own time;
  PyTorch's velocity is without lr, which scales all of it. With one rate all the way they are
  equal.
- Adam and AdamW: the step is lr g / sqrt(s + ε); PyTorch's is lr g / (sqrt(s) + ε). With gradients
  that are large beside sqrt(ε) = 1e-4 they are nearly equal; with small ones these steps are
  smaller.
- AdamW: the decay of a step is λ θ; PyTorch's is lr λ θ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final

import torch
from torch import Tensor
from torch.optim import Optimizer

MU: Final = 0.9
"""Of the velocity."""


class _Stepwise(Optimizer, ABC):  # type: ignore[misc, unused-ignore]
    """An optimiser that moves each parameter by itself."""

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step.

        Parameters
        ----------
        closure
            Computes the loss and its gradients anew, and returns the loss.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, self.state[parameter], group)
        return loss

    @abstractmethod
    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter."""


class NotesMomentum(_Stepwise):
    """v = μ v - lr g, then θ = θ + v.

    Parameters
    ----------
    params
        Parameters, or groups of them.
    lr
        Learning rate.
    mu
        The momentum coefficient.
    nesterov
        Whether g is the gradient at θ + μ v. The parameters then hold this point, at which the loss
        is computed anyway; θ is what `positions` gives.
    weight_decay
        Added to the gradient: L2 regularisation.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        *,
        mu: float = MU,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:
        _check(lr=lr, weight_decay=weight_decay)
        _check_decay(mu=mu)
        super().__init__(
            params, {"lr": lr, "mu": mu, "nesterov": nesterov, "weight_decay": weight_decay}
        )

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        gradient = gradient + group["weight_decay"] * parameter
        before = state["velocity"] if state else torch.zeros_like(parameter)
        mu, velocity = group["mu"], group["mu"] * before - group["lr"] * gradient
        state["velocity"] = velocity
        # From θ + μ v to the same point of the next step.
        parameter.add_((1 + mu) * velocity - mu * before if group["nesterov"] else velocity)

    def positions(self) -> list[Tensor]:
        """θ of all parameters, in their order."""
        return [
            parameter.detach() - group["mu"] * self.state[parameter]["velocity"]
            if group["nesterov"] and self.state[parameter]
            else parameter.detach().clone()
            for group in self.param_groups
            for parameter in group["params"]
        ]


class NotesAdam(_Stepwise):
    """g = β1 g + (1 - β1) ∇, s = β2 s + (1 - β2) ∇², both debiased; θ = θ - lr g / sqrt(s + ε).

    Parameters
    ----------
    params
        Parameters, or groups of them.
    lr
        Learning rate.
    betas
        β1 and β2.
    epsilon
        Under the root.
    weight_decay
        λ: added to the gradient as L2 regularisation or, with ``decoupled``, λ θ is taken off in
        each step, whatever the learning rate.
    decoupled
        Whether this is the AdamW of the notes.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled: bool = False,
    ) -> None:
        _check(lr=lr, epsilon=epsilon, weight_decay=weight_decay)
        _check_decay(beta1=betas[0], beta2=betas[1])
        options = {"lr": lr, "betas": tuple(betas), "epsilon": epsilon, "decoupled": decoupled}
        super().__init__(params, {**options, "weight_decay": weight_decay})

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        if not state:
            state["step"] = 0
            state["average"] = torch.zeros_like(parameter)
            state["square"] = torch.zeros_like(parameter)
        if not group["decoupled"]:
            gradient = gradient + group["weight_decay"] * parameter
        state["step"] += 1
        (beta1, beta2), done = group["betas"], state["step"]
        average, square = state["average"], state["square"]
        average.mul_(beta1).add_(gradient, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        debiased = average / (1 - beta1**done)
        root = (square / (1 - beta2**done) + group["epsilon"]).sqrt()
        if group["decoupled"]:
            parameter.mul_(1 - group["weight_decay"])
        parameter.addcdiv_(debiased, root, value=-group["lr"])


def _check(**options: float) -> None:
    for name, value in options.items():
        if not value >= 0:
            raise ValueError(f"{name} is {value!r}: it must not be negative")


def _check_decay(**options: float) -> None:
    for name, value in options.items():
        if not 0 <= value < 1:
            raise ValueError(f"{name} is {value!r}: it must be in [0, 1)")
