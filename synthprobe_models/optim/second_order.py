"""Second-order methods: Newton's, with the step solved for and not inverted, and L-BFGS.

Both compute the loss several times in a step, so they are given a function for it. All of these
see the same batch, and random parts of a network, such as dropout, are drawn anew each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import torch
from torch import Tensor
from torch.optim import LBFGS, Optimizer

from synthprobe_data import SynthprobeError

SOLVER_STEPS: Final = 20
HALVINGS: Final = 10
DAMPING: Final = 0.1
_LEAST_RESIDUAL: Final = 1e-10
"""Of the squared norm of the gradient: from there on the step counts as solved for."""

Evaluate = Callable[[], Tensor]
"""Computes the loss, without its gradients."""


class Newton(Optimizer):  # type: ignore[misc, unused-ignore]
    """θ = θ - lr (H + δ I)^-1 ∇, with H the Hessian of the loss of the batch.

    The notes invert H, which takes memory of the square of the parameters. The same step is found
    by conjugate gradients here, which need only products H v, each one pass back through the
    gradient. In exact arithmetic they end after as many rounds as there are parameters; `rounds`
    ends them earlier. Where the loss is curved downwards they end at once with what they have, in
    the first round with the gradient itself.

    Parameters
    ----------
    params
        Parameters; one group.
    lr
        The part of the step that is taken; the step of the notes has 1.
    damping
        δ: keeps the step short where the loss is nearly flat.
    rounds
        Of conjugate gradients, at most.
    longest
        The greatest norm of a step; longer ones are shortened to it. None for any.
    halvings
        How often the step is halved, at most, until it makes the loss of the batch smaller; if it
        never does, none is taken. The bare formula of the notes, with 0, takes it whatever becomes
        of the loss; far from a minimum it diverges on small networks, too.
    weight_decay
        Added to the loss as L2 regularisation.
    """

    needs_loss = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        *,
        damping: float = DAMPING,
        rounds: int = SOLVER_STEPS,
        longest: float | None = None,
        halvings: int = HALVINGS,
        weight_decay: float = 0.0,
    ) -> None:
        if not lr >= 0 or not damping >= 0 or not weight_decay >= 0:
            raise ValueError("lr, damping and weight_decay must not be negative")
        for name, value, least in (("rounds", rounds, 1), ("halvings", halvings, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}: it must be a whole number from {least}")
        if longest is not None and not longest > 0:
            raise ValueError(f"longest is {longest!r}: it must be more than 0")
        options = {"lr": lr, "damping": damping, "rounds": rounds, "longest": longest}
        super().__init__(params, {**options, "halvings": halvings, "weight_decay": weight_decay})
        if len(self.param_groups) != 1:
            raise ValueError("a Hessian is that of all parameters: give one group")

    def step(self, evaluate: Evaluate | None = None) -> Tensor:  # type: ignore[override, unused-ignore]
        """Take one step.

        Parameters
        ----------
        evaluate
            Computes the loss, without its gradients.
        """
        (group,) = self.param_groups
        weights = [p for p in group["params"] if p.requires_grad]
        with torch.enable_grad():
            evaluate = _asked(evaluate)
            loss = evaluate() + _decay(weights, group["weight_decay"])
            slopes = torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True)
            used = [(w, s) for w, s in zip(weights, slopes, strict=True) if s is not None]
            weights, gradient = [w for w, _ in used], [s for _, s in used]
            direction = _solve(gradient, weights, group["damping"], group["rounds"])
        length = torch.sqrt(_dot(direction, direction))
        rate = group["lr"]
        if group["longest"] is not None and length > group["longest"]:
            rate = rate * group["longest"] / float(length)
        with torch.no_grad():
            start = [weight.clone() for weight in weights]
            for number in range(group["halvings"] + 1):
                for weight, at, part in zip(weights, start, direction, strict=True):
                    weight.copy_(at + rate / 2**number * part)
                if not group["halvings"]:
                    return loss.detach()
                if evaluate() + _decay(weights, group["weight_decay"]) < loss:
                    return loss.detach()
            for weight, at in zip(weights, start, strict=True):
                weight.copy_(at)
        return loss.detach()


class Lbfgs(LBFGS):
    """PyTorch's L-BFGS, given the loss as `Newton` is, with L2 regularisation.

    Parameters
    ----------
    params, lr, options
        As for `torch.optim.LBFGS`.
    weight_decay
        Added to the loss as L2 regularisation.
    """

    needs_loss = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1.0, *, weight_decay: float = 0.0, **options: Any
    ) -> None:
        if not weight_decay >= 0:
            raise ValueError(f"weight_decay is {weight_decay!r}: it must not be negative")
        self._decay = weight_decay
        super().__init__(params, lr=lr, **options)

    def step(self, evaluate: Evaluate | None = None) -> Any:  # type: ignore[override, unused-ignore]
        """Take one step, of up to ``max_iter`` rounds.

        Parameters
        ----------
        evaluate
            Computes the loss, without its gradients.
        """
        weights = self.param_groups[0]["params"]

        def closure() -> Tensor:
            self.zero_grad()
            loss = _asked(evaluate)() + _decay(weights, self._decay)
            loss.backward()
            return loss

        return super().step(closure)  # type: ignore[no-untyped-call, unused-ignore]


def _asked(evaluate: Evaluate | None) -> Evaluate:
    if evaluate is None:
        raise SynthprobeError("a second-order method takes a step with a function for the loss.")
    return evaluate


def _decay(weights: Sequence[Tensor], factor: float) -> Tensor | float:
    return factor / 2 * _dot(weights, weights) if factor else 0.0


def _solve(
    gradient: Sequence[Tensor], weights: Sequence[Tensor], damping: float, rounds: int
) -> list[Tensor]:
    """The d of (H + damping I) d = -gradient, by conjugate gradients."""
    direction = [torch.zeros_like(w) for w in weights]
    residual = [-g.detach() for g in gradient]
    search = [r.clone() for r in residual]
    square = start = _dot(residual, residual)
    for taken in range(rounds):
        if square <= _LEAST_RESIDUAL * start:
            break
        curved = _hessian_times(gradient, weights, search)
        curved = [h + damping * s for h, s in zip(curved, search, strict=True)]
        curvature = _dot(search, curved)
        if curvature <= 0:
            return search if taken == 0 else direction
        rate = square / curvature
        direction = [d + rate * s for d, s in zip(direction, search, strict=True)]
        residual = [r - rate * h for r, h in zip(residual, curved, strict=True)]
        before, square = square, _dot(residual, residual)
        search = [r + square / before * s for r, s in zip(residual, search, strict=True)]
    return direction


def _hessian_times(
    gradient: Sequence[Tensor], weights: Sequence[Tensor], vector: Sequence[Tensor]
) -> list[Tensor]:
    """H v, as the gradient of ∇ · v."""
    along = [g for g in gradient if g.requires_grad]
    if not along:  # of a loss without curvature
        return [torch.zeros_like(w) for w in weights]
    parts = [v for g, v in zip(gradient, vector, strict=True) if g.requires_grad]
    found = torch.autograd.grad(
        along, list(weights), grad_outputs=parts, retain_graph=True, allow_unused=True
    )
    return [torch.zeros_like(w) if h is None else h for w, h in zip(weights, found, strict=True)]


def _dot(first: Sequence[Tensor], second: Sequence[Tensor]) -> Tensor:
    return torch.stack([(a * b).sum() for a, b in zip(first, second, strict=True)]).sum()
