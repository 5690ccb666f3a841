"""The settings of a run that are given as names, or as options of something, and what they mean."""

from __future__ import annotations

from typing import Final

NAMED: Final = {
    "optimizer": "paper, ranger21, sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw",
    "schedule": "ranger21 or constant",
    "loss": "scale-invariant, silog, mse, rank-cross-entropy: two ranks (twins), or two-task: rank "
    "and colour of rde (deeplab-*, ...)",
    "frame": "what the structure is put into: single-scale or unet (twins)",
    "precision": "float32 or bfloat16",
}
"""The settings that are names, each with its meaning."""
OPTIONS: Final = {
    "options": "options of the structure, such as heads=4",
    "optimizer_options": "options of the optimiser; of paper and ranger21: clip, clip_norm, "
    "centralisation, normalisation, positive_negative, belief, softplus, lookahead, "
    "lookahead_blend, betas, epsilon, such as lookahead=0 belief=false",
    "schedule_options": "options of the schedule; of ranger21: warm_up_share, warm_down_share, "
    "floor, beta2",
}
"""The settings that are options of something, each with its meaning."""
