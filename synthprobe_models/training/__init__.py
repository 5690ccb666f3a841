"""Training runs: settings, the trainer, checkpoints, run folders and exported weights."""
