"""How a foreign network is given pictures, and how its predictions are brought back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from synthprobe_data import SynthprobeError

NORMALISATIONS: Final[Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "none": ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    "half": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}
"""By name, the mean that is taken off red, green and blue, and what they are then divided by:
pictures from 0 to 1, from -1 to 1, or as networks for ImageNet are given them."""
_MOST: Final = 4096


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How pictures are given to a network: float32, (n, 3, H, W), from 0 to 1, and then so."""

    normalise: str = "none"
    """One of `NORMALISATIONS`."""
    multiple: int = 1
    """Height and width are brought up to multiples of this, bilinearly, and the prediction is
    brought back to the size of the picture in the same way."""
    farther: bool = False
    """Whether predictions grow away from the viewer, as metres do: they are then negated."""

    def __post_init__(self) -> None:
        if self.normalise not in NORMALISATIONS:
            raise SynthprobeError(
                f"normalise is {self.normalise!r}: take one of {', '.join(NORMALISATIONS)}."
            )
        if isinstance(self.multiple, bool) or not 1 <= self.multiple <= _MOST:
            raise SynthprobeError(
                f"multiple is {self.multiple}: it must be a whole number from 1 to {_MOST}."
            )

    def apply(self, function: Callable[[Tensor], Any], inputs: Tensor) -> Any:
        """What a function gives for some inputs, which it is given in this way."""
        prepared = inputs
        if self.normalise != "none":
            if inputs.ndim != 4 or inputs.shape[1] != 3:
                raise SynthprobeError("only pictures of three colours are normalised.")
            mean, spread = (
                torch.tensor(v, device=inputs.device)[:, None, None]
                for v in NORMALISATIONS[self.normalise]
            )
            prepared = (inputs - mean) / spread
        if self.multiple == 1:
            return self._turned(function(prepared))
        if inputs.ndim != 4:
            raise SynthprobeError("only pictures are resized.")
        size = [-(-side // self.multiple) * self.multiple for side in inputs.shape[2:]]
        found = function(_resized(prepared, size))
        return self._turned(_resized(_as_maps(found), list(inputs.shape[2:])))

    def facts(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    def _turned(self, prediction: Any) -> Any:
        return -prediction if self.farther else prediction


def _resized(pictures: Tensor, size: list[int]) -> Tensor:
    if list(pictures.shape[2:]) == size:
        return pictures
    return F.interpolate(pictures, size, mode="bilinear", align_corners=False)


def _as_maps(found: Any) -> Tensor:
    """What a network gave, as (n, 1, H, W)."""
    try:
        maps = torch.as_tensor(found).float()
    except (TypeError, ValueError, RuntimeError) as error:
        raise SynthprobeError(
            f"the function gives {type(found).__name__}: it must give a tensor or an array."
        ) from error
    if maps.ndim == 3:
        maps = maps.unsqueeze(1)
    if maps.ndim != 4:
        raise SynthprobeError(
            f"the function gives the shape {tuple(maps.shape)}: it must be (n, H, W) to be resized."
        )
    return maps
