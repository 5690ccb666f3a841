"""Training runs: settings, the trainer, checkpoints and run folders."""
