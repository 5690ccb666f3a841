"""Every optimiser, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from torch import optim
from torch.optim import Optimizer

from synthprobe_data import SynthprobeError
from synthprobe_models.optim.notes import NotesAdam, NotesMomentum
from synthprobe_models.optim.paper import ProbeOptimizer
from synthprobe_models.optim.second_order import Lbfgs, Newton

MOMENTUM: Final = 0.9
NORM_LOSS: Final = 1e-4
"""Ranger21's own factor."""

OPTIMIZERS: Final[Mapping[str, Callable[..., Optimizer]]] = {
    "paper": ProbeOptimizer,
    "ranger21": partial(ProbeOptimizer, weight_decay=0.0, belief=False, normalisation="deviation"),
    "ranger21-norm-loss": partial(
        ProbeOptimizer,
        weight_decay=0.0,
        belief=False,
        normalisation="deviation",
        norm_loss=NORM_LOSS,
    ),
    "sgd": optim.SGD,
    "momentum": partial(optim.SGD, momentum=MOMENTUM),
    "nesterov": partial(optim.SGD, momentum=MOMENTUM, nesterov=True),
    "adagrad": optim.Adagrad,
    "rmsprop": optim.RMSprop,
    "adam": optim.Adam,
    "adamw": optim.AdamW,
    "notes-momentum": NotesMomentum,
    "notes-nesterov": partial(NotesMomentum, nesterov=True),
    "notes-adam": NotesAdam,
    "notes-adamw": partial(NotesAdam, decoupled=True),
    "newton": Newton,
    "lbfgs": Lbfgs,
}
"""By name. ``paper`` trained on RDE and Color Code. ``ranger21`` is what the paper says of the one
for Centered Square: Ranger21 without weight decay, whose gradients are divided by the deviation of
their entries. ``ranger21-norm-loss`` also has Ranger21's norm loss, which draws units to norm 1.
Those named ``notes-`` differ from torch's (`notes.py`); ``newton`` and ``lbfgs`` are second-order
methods. The others are torch's."""


def make_optimizer(name: str, parameters: Iterable[Any], lr: float, **options: Any) -> Optimizer:
    """Make an optimiser.

    Parameters
    ----------
    name
        In `OPTIMIZERS`.
    parameters
        What it is to change.
    lr
        Learning rate.
    options
        Those of the optimiser. Note that ``weight_decay`` is decoupled from the gradient for
        ``paper``, ``ranger21``, ``adamw`` and ``notes-adamw``, but added to it by the others.
    """
    if name not in OPTIMIZERS:
        raise SynthprobeError(
            f"there is no optimiser {name!r}: take one of {', '.join(OPTIMIZERS)}."
        )
    try:
        return OPTIMIZERS[name](parameters, lr=lr, **options)
    except (TypeError, ValueError) as error:  # torch's words for an option that is wrong
        raise SynthprobeError(f"the optimiser {name} cannot be made: {error}") from error
