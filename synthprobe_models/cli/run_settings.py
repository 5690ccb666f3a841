"""The settings of a run that are given as names, or as options of something, and what they mean."""

from __future__ import annotations

from typing import Final

NAMED: Final = {
    "optimizer": "paper, ranger21, ranger21-norm-loss, sgd, momentum, nesterov, adagrad, rmsprop, "
    "adam, adamw, notes-momentum, notes-nesterov, notes-adam, notes-adamw, newton or lbfgs",
    "schedule": "ranger21, constant, cosine, polynomial or multi-step",
    "loss": "scale-invariant, silog, silog-of-batch, mse, rank-cross-entropy: two ranks "
    "(twins), or two-task: rank and colour of rde (deeplab-*, ...)",
    "frame": "what the structure is put into: single-scale, the same with 2, 3 or 4 layers "
    "(single-scale-2, ...), or unet (twins)",
    "precision": "float32 or bfloat16",
}
"""The settings that are names, each with its meaning."""
OPTIONS: Final = {
    "options": "options of the structure, such as heads=4",
    "optimizer_options": "options of the optimiser; of paper and ranger21: clip, clip_norm, "
    "centralisation, normalisation, positive_negative, belief, softplus, lookahead, "
    "lookahead_blend, norm_loss, betas, epsilon, such as lookahead=0 belief=false",
    "schedule_options": "options of the schedule; of ranger21: warm_up_share, warm_down_share, "
    "floor, beta2; of cosine: warm_up_share, floor; of polynomial: power; of multi-step: "
    "milestones as shares of the run, factor",
    "loss_options": "options of the loss; of two-task: weight, the part of the depth, and "
    "of_batch; of silog and silog-of-batch: weight of the squared mean",
    "augmentation": "flip: probability; mixup: alpha (centered-square); cutmix: alpha and erasing: "
    "probability (rde, colours alone)",
}
"""The settings that are options of something, each with its meaning."""
