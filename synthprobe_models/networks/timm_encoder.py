"""An encoder of timm with a plain head, for tasks with an answer at each position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.dense import add_up, resized


class TimmEncoder(nn.Module):
    """The features of an encoder at all of its scales, added up and read by a 1x1 convolution.

    A 1x1 convolution takes the features of each scale to the same channels. From the coarsest on,
    they are brought to the size of the next one, bilinearly, and added to it; the sum of the
    finest is brought to the size of the picture. The encoder begins with random weights.

    Parameters
    ----------
    name
        Of a network of timm that gives features.
    inputs, outputs
        Channels before and after.
    shape
        Height and width of the pictures, for encoders that are built for them.
    width
        Channels that the scales have in common.
    options
        Of the encoder.
    """

    def __init__(
        self,
        name: str,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        width: int = 64,
        **options: Any,
    ) -> None:
        super().__init__()
        import timm

        chosen = {"pretrained": False, "features_only": True, "in_chans": inputs, **options}
        try:
            self.encoder = timm.create_model(name, **chosen, img_size=tuple(shape))
        except TypeError:  # convolutions take pictures of any size
            self.encoder = timm.create_model(name, **chosen)
        channels = self.encoder.feature_info.channels()
        self.scales = nn.ModuleList(Pointwise(count, width) for count in channels)
        self.head = Pointwise(width, outputs)
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        features = self.encoder(x)
        if any(found.ndim != 4 for found in features):
            raise SynthprobeError(f"timm:{self.name} gives features that are no pictures.")
        return self.head(resized(add_up(features, self.scales), x.shape[2:]))
