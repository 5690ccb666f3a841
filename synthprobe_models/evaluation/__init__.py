"""Metrics of a trained network, pictures of predictions, and why it fails."""
