"""Predictions of a network of our own training, also on other settings than those it knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from synthprobe_models.networks.counting import count_parameters
from synthprobe_models.scoring.predictor import Predictor
from synthprobe_models.scoring.samples import Scored
from synthprobe_models.training.errors import clear_errors
from synthprobe_models.training.exported import load_trained, weights_file
from synthprobe_models.training.progress import say
from synthprobe_models.training.provenance import edited_since
from synthprobe_models.training.restore import (
    check_inputs,
    check_known,
    other_scale,
    restored,
    tied_to_positions,
)


class CheckpointPredictor(Predictor):
    """Predictions of the network of a checkpoint.

    Parameters
    ----------
    path
        The checkpoint, the folder of its run, or what was exported from it.
    device
        Where to compute.
    """

    def __init__(self, path: Path, *, device: str = "cpu") -> None:
        self.path = weights_file(path)
        self.saved = load_trained(self.path, device)
        check_known(self.saved)
        super().__init__(self.saved.settings.name, "run")
        if (edited := edited_since(self.name, self.saved.made_by)) is not None:
            say(edited)
        self.network = restored(self.saved).to(device).eval()
        self.device = device
        self._scored: Scored | None = None

    def begin(self, scored: Scored) -> None:
        """Check that the network can be given these samples."""
        check_inputs(self.saved, scored.samples, scored.path)
        self._scored = scored

    def other_scale(self, scored: Scored) -> str | None:
        """Why the ranks that it was trained to give are others, if they are."""
        return other_scale(self.saved, scored.samples)

    def predict(self, inputs: Tensor, rows: Sequence[int]) -> Tensor:
        """What the network gives."""
        assert self._scored is not None
        with clear_errors(), tied_to_positions(self.saved, self._scored.samples, self._scored.path):
            found: Tensor = self.network(inputs.to(self.device))
            if found.shape[2:] != inputs.shape[2:]:
                raise RuntimeError("positions are lost")
            return found.float()

    def facts(self) -> dict[str, Any]:
        """What it was trained with."""
        return {
            "structure": self.saved.settings.name,
            "parameters": count_parameters(self.network),
            "settings": self.saved.settings.to_dict(),
            "epochs": self.saved.epoch,
            "trained_on": self.saved.data.to_dict(),
        }
