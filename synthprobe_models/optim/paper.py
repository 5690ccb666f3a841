"""The optimiser of the paper: a composition on top of Ranger21, each part with a switch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from torch.optim import Optimizer

from synthprobe_data import SynthprobeError
from synthprobe_models.optim.gradients import (
    NORMALISATIONS,
    centralise,
    clip_by_units,
    norm_pull,
)

BETAS: Final = (0.9, 0.999)
WEIGHT_DECAY: Final = 5e-4
"""As published, for all networks."""
BELIEF_EPSILON: Final = 1e-16
"""Added to the second moment of AdaBelief in every step, as its authors advise."""


class ProbeOptimizer(Optimizer):  # type: ignore[misc, unused-ignore]
    """What the paper trained with: eight parts, in the order in which they act.

    1. adaptive gradient clipping, `clip` (Brock et al. 2021);
    2. gradient centralisation, `centralisation` (Yong et al. 2020);
    3. division of the gradient of each parameter by its norm, `normalisation`;
    4. positive-negative momentum, `positive_negative` (Xie et al. 2021): one average for odd and
       one for even steps, m_t = β1² m_{t-2} + (1 - β1²) g_t, and a step along
       ((1 + β0) m_t - β0 m_{t-1}) / sqrt((1 + β0)² + β0²);
    5. the second moment of AdaBelief, `belief` (Zhuang et al. 2020): of g_t - m_t, not of g_t;
    6. softplus calibration, `softplus` (Tong et al. 2022): what the step is divided by is
       log(1 + exp(β sqrt(v))) / β, which does not fall below log(2) / β;
    7. decoupled weight decay, `weight_decay` (Loshchilov and Hutter 2017);
    8. LookAhead, `lookahead` (Zhang et al. 2019): every 5 steps, half the way back.

    Beside 7, Ranger21 has a norm loss, `norm_loss` (Georgiou et al. 2021), which the paper does not
    name: λ (1 - |w|)² for each unit w, that is, 2 λ (1 - 1 / |w|) w in the gradient of the step,
    decoupled as the decay is. It is off unless asked for. (The public code of Ranger21 has it
    outside its loop over parameters, so that only the last one of all is drawn; here all are.)

    With 1 to 6 and 8 off it is `torch.optim.AdamW`, and without weight decay `torch.optim.Adam`.

    Where the paper leaves room: its "β2 = 1" is the β0 above, which the public code of
    positive-negative momentum calls so. The root in 4 is that of Xie et al.; Ranger21 and the
    public code take β2 of the second moment for β0 there, a difference of 0.05%. First moments are
    corrected for their start by 1 - β1^t, as in AdaPNM; its maximum over second moments is left
    out, as the paper does not name it. AdaBelief compares the gradient with the average that it
    has just entered. Every parameter decays, biases too.

    Parameters
    ----------
    params
        Parameters, or groups of them; a group may set any option of its own.
    lr
        Learning rate.
    betas
        Decay of the first and of the second moment.
    epsilon
        Added to the root of the second moment where `softplus` is off.
    weight_decay
        0 turns it off.
    clip, clip_norm
        The greatest norm of a unit's gradient, as a share of that of its weights, and the least
        norm of weights that counts; a `clip` of 0 turns it off.
    centralisation
        Whether the mean of each unit's gradient is taken off.
    normalisation
        By what a gradient is divided: ``"norm"``, ``"deviation"`` of its entries as in Ranger21, or
        ``"none"``.
    positive_negative
        The β0 above; None is the momentum of Adam.
    belief
        Whether the second moment is that of AdaBelief.
    softplus
        The β of the calibration; 0 turns it off.
    lookahead, lookahead_blend
        Steps between two merges, and the part of the way from the slow to the fast weights at which
        both go on; 0 steps turn it off.
    norm_loss
        λ of the norm loss; 0 turns it off.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 5e-3,
        *,
        betas: tuple[float, float] = BETAS,
        epsilon: float = 1e-8,
        weight_decay: float = WEIGHT_DECAY,
        clip: float = 0.01,
        clip_norm: float = 1e-3,
        centralisation: bool = True,
        normalisation: str = "norm",
        positive_negative: float | None = 1.0,
        belief: bool = True,
        softplus: float = 50.0,
        lookahead: int = 5,
        lookahead_blend: float = 0.5,
        norm_loss: float = 0.0,
    ) -> None:
        options = {
            "lr": lr,
            "betas": tuple(betas),
            "epsilon": epsilon,
            "weight_decay": weight_decay,
            "clip": clip,
            "clip_norm": clip_norm,
            "centralisation": centralisation,
            "normalisation": normalisation,
            "positive_negative": positive_negative,
            "belief": belief,
            "softplus": softplus,
            "lookahead": lookahead,
            "lookahead_blend": lookahead_blend,
            "norm_loss": norm_loss,
        }
        super().__init__(params, options)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own, which are checked."""
        _check({**self.defaults, **param_group})
        super().add_param_group(param_group)

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
                    self._update(parameter, parameter.grad, group)
        return loss

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            _start(state, parameter, group)
        state["step"] += 1
        gradient = _prepared(gradient, parameter, group)
        average, direction = _momentum(gradient, state, group)
        divisor = _divisor(gradient, average, state, group)
        decay: Tensor | float = group["weight_decay"]
        if group.get("norm_loss"):  # not in the checkpoints of earlier versions
            decay = decay + group["norm_loss"] * norm_pull(parameter)
        parameter.mul_(1 - group["lr"] * decay)
        rate = group["lr"] / (1 - group["betas"][0] ** state["step"])
        parameter.addcdiv_(direction, divisor, value=-rate)
        if group["lookahead"] and state["step"] % group["lookahead"] == 0:
            parameter.copy_(state["slow"].lerp_(parameter, group["lookahead_blend"]))


def _start(state: dict[str, Any], parameter: Tensor, group: dict[str, Any]) -> None:
    state["step"] = 0
    state["average"] = torch.zeros_like(parameter)
    state["square"] = torch.zeros_like(parameter)
    if group["positive_negative"] is not None:
        state["average_before"] = torch.zeros_like(parameter)
    if group["lookahead"]:
        state["slow"] = parameter.clone()


def _prepared(gradient: Tensor, parameter: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient as momentum sees it."""
    if group["clip"]:
        gradient = clip_by_units(
            gradient, parameter, most=group["clip"], least_norm=group["clip_norm"]
        )
    if group["centralisation"]:
        gradient = centralise(gradient)
    return NORMALISATIONS[group["normalisation"]](gradient)


def _momentum(
    gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """The average that the gradient has entered, and the direction of the step."""
    decay, weight = group["betas"][0], group["positive_negative"]
    if weight is None:
        average = state["average"].lerp_(gradient, 1 - decay)
        return average, average
    # Odd and even steps have an average each: the older of the two takes the gradient in.
    before, average = state["average"], state["average_before"]
    state["average"], state["average_before"] = average, before
    average.lerp_(gradient, 1 - decay**2)
    direction = (1 + weight) * average - weight * before
    return average, direction / math.hypot(1 + weight, weight)


def _divisor(
    gradient: Tensor, average: Tensor, state: dict[str, Any], group: dict[str, Any]
) -> Tensor:
    """What the step is divided by, entry by entry."""
    decay, square = group["betas"][1], state["square"]
    if group["belief"]:
        surprise = gradient - average
        square.mul_(decay).addcmul_(surprise, surprise, value=1 - decay).add_(BELIEF_EPSILON)
    else:
        square.mul_(decay).addcmul_(gradient, gradient, value=1 - decay)
    root = square.sqrt().div_(math.sqrt(1 - decay ** state["step"]))
    if group["softplus"]:
        return F.softplus(root, beta=group["softplus"])
    return root.add_(group["epsilon"])


def _check(options: dict[str, Any]) -> None:
    """Raise `SynthprobeError` for the first option that is wrong."""
    for name in ("lr", "epsilon", "weight_decay", "clip", "clip_norm", "softplus", "norm_loss"):
        if not 0 <= options[name] < math.inf:
            raise SynthprobeError(f"{name} is {options[name]!r}: it must not be negative.")
    if len(options["betas"]) != 2 or not all(0 <= beta < 1 for beta in options["betas"]):
        raise SynthprobeError(f"betas is {options['betas']!r}: it must be two numbers in [0, 1).")
    for name in ("centralisation", "belief"):
        if not isinstance(options[name], bool):
            raise SynthprobeError(f"{name} is {options[name]!r}: it must be true or false.")
    if options["normalisation"] not in NORMALISATIONS:
        raise SynthprobeError(
            f"normalisation is {options['normalisation']!r}: it must be one of "
            f"{', '.join(NORMALISATIONS)}."
        )
    weight = options["positive_negative"]
    if weight is not None and not 0 <= weight < math.inf:
        raise SynthprobeError(f"positive_negative is {weight!r}: it must not be negative, or None.")
    steps = options["lookahead"]
    if not isinstance(steps, int) or steps < 0:
        raise SynthprobeError(f"lookahead is {steps!r}: it must be a whole number from 0.")
    if not 0 <= options["lookahead_blend"] <= 1:
        raise SynthprobeError(
            f"lookahead_blend is {options['lookahead_blend']!r}: it must be from 0 to 1."
        )
