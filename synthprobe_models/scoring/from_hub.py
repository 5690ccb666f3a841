"""Depth networks of the Hugging Face Hub as they are, by the pipeline of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from PIL import Image
from torch import Tensor

from synthprobe_data import SynthprobeError
from synthprobe_models.plugins import describe_error
from synthprobe_models.scoring.predictor import Predictor
from synthprobe_models.torchvision_import import import_torchvision

METRES: Final = ("zoedepth", "glpn", "depth_pro")
"""Kinds of networks that give metres, which grow away from the viewer."""


class HubPredictor(Predictor):
    """Predictions of the pipeline ``depth-estimation``, which prepares pictures by itself.

    No code of the Hub is run: only networks that transformers has itself can be scored.

    Parameters
    ----------
    name
        On the Hub, from where it is downloaded; or a folder, from which it is read.
    device
        Where to compute.
    farther
        Whether predictions grow away from the viewer; by default what the network is known for.
    """

    def __init__(self, name: str, *, device: str = "cpu", farther: bool | None = None) -> None:
        if not name:
            raise SynthprobeError("hf: needs the name of a network, or a folder with one.")
        try:
            import_torchvision()
            from transformers import AutoImageProcessor, AutoModelForDepthEstimation, pipeline
        except ImportError as error:
            raise SynthprobeError(
                "hf: needs transformers: pip install 'synthprobe[hf]'."
            ) from error
        folder = Path(name).is_dir()
        if folder and not (Path(name) / "config.json").is_file():
            raise SynthprobeError(f"{name} is a folder without a network: it has no config.json.")
        if not folder and (Path(name).is_absolute() or name.startswith((".", "~"))):
            raise SynthprobeError(f"hf:{name} could not be loaded: there is no such folder.")
        # Only a name on the Hub may lead there: a folder is read as it stands.
        options: dict[str, Any] = {"local_files_only": folder, "trust_remote_code": False}
        try:
            self.pipe = pipeline(
                "depth-estimation",
                model=AutoModelForDepthEstimation.from_pretrained(name, **options),
                image_processor=AutoImageProcessor.from_pretrained(name, **options),
                device=device,
            )
        except Exception as error:
            raise SynthprobeError(
                f"hf:{name} could not be loaded: {describe_error(error)}."
            ) from error
        config = self.pipe.model.config
        if farther is None:
            metric = getattr(config, "depth_estimation_type", "relative") == "metric"
            farther = metric or config.model_type in METRES
        self.farther = farther
        super().__init__(Path(name).name if folder else name, "hf")

    def predict(self, inputs: Tensor, rows: Sequence[int]) -> Tensor:
        """What the network gives, in the size of the pictures."""
        if inputs.ndim != 4 or inputs.shape[1] not in (1, 3):
            raise SynthprobeError(f"hf:{self.name} takes pictures, and these samples are none.")
        pixels = (inputs * 255).round().clamp(0, 255).to(torch.uint8)
        pictures: list[str | Image.Image] = [
            Image.fromarray(picture.expand(3, -1, -1).permute(1, 2, 0).cpu().numpy())
            for picture in pixels
        ]
        try:
            # The pipeline also makes a picture of each map, which a map of one value has none of.
            with np.errstate(divide="ignore", invalid="ignore"):
                found = self.pipe(pictures)
        except Exception as error:
            raise SynthprobeError(
                f"hf:{self.name} failed on row {rows[0]}: {describe_error(error)}."
            ) from error
        size = list(inputs.shape[2:])
        maps = torch.stack([self._map(one["predicted_depth"], size) for one in found])
        return -maps if self.farther else maps

    @staticmethod
    def _map(depth: Tensor, size: list[int]) -> Tensor:
        depth = depth.detach().float().reshape(1, 1, *depth.shape[-2:])
        if list(depth.shape[2:]) != size:
            depth = F.interpolate(depth, size, mode="bicubic", align_corners=False)
        return depth[0]

    def facts(self) -> dict[str, Any]:
        """Which network it is."""
        model = self.pipe.model
        return {
            "architecture": type(model).__name__,
            "parameters": sum(weights.numel() for weights in model.parameters()),
            "farther": self.farther,
        }
