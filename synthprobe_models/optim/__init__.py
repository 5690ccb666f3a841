"""Optimisers and schedules of the learning rate, by name.

`paper.py` has the paper's composition, `gradients.py` what it does to a gradient first,
`schedule.py` the learning rate over a run, and `named.py` the names.
"""

from __future__ import annotations

from synthprobe_models.optim.named import OPTIMIZERS, make_optimizer
from synthprobe_models.optim.paper import ProbeOptimizer
from synthprobe_models.optim.schedule import SCHEDULES, make_schedule, schedule

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "ProbeOptimizer",
    "make_optimizer",
    "make_schedule",
    "schedule",
]
