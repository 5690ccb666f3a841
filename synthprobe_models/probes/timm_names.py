"""Encoders and layers of timm, under ``timm:NAME``, put into the registry when asked for."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Final

from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models.networks.timm_encoder import TimmEncoder
from synthprobe_models.probes import PROBES
from synthprobe_models.registry import NETWORKS, STRUCTURES, network, structure
from synthprobe_models.torchvision_import import import_torchvision

PREFIX: Final = "timm:"
LAYERS: Final = (
    "se",
    "ese",
    "eca",
    "ecam",
    "ceca",
    "gc",
    "gca",
    "cbam",
    "lcbam",
    "coord",
    "scoord",
    "ela",
    "strip",
    "sk",
    "splat",
    "lambda",
    "bottleneck",
    "halo",
    "nl",
)
"""The layers of timm that map pictures to pictures of the same size, by the names it gives them."""
_SOURCE: Final = "timm (Wightman 2019)"


def register_timm(name: str) -> None:
    """Put what ``timm:NAME`` names into the registry, unless it is there.

    A layer of `LAYERS` becomes a structure, any other name a network: that encoder with a plain
    head, for all probes on pictures.
    """
    if name in STRUCTURES or name in NETWORKS:
        return
    if find_spec("timm") is None:
        raise SynthprobeError("timm: needs timm: pip install 'synthprobe[timm]'.")
    import_torchvision()
    import timm

    own = name.removeprefix(PREFIX)
    if own in LAYERS:
        structure(name, title=f"{own} of timm", source=_SOURCE, dimensions=(2,))(
            partial(_make_layer, own)
        )
        return
    if own.partition(".")[0] not in timm.list_models():
        close = ", ".join(timm.list_models(f"*{own}*")[:5])
        raise SynthprobeError(
            f"timm has no network {own!r}{f': did you mean {close}?' if close else '.'} Layers are "
            f"{', '.join(LAYERS)}."
        )
    on_pictures = [probe.name for probe in PROBES.values() if len(probe.shape) == 2]
    network(name, probes=on_pictures, title=f"{own} of timm", source=_SOURCE)(
        partial(TimmEncoder, own)
    )


def _make_layer(own: str, channels: int, shape: Sequence[int], **options: Any) -> nn.Module:
    from timm.layers import create_attn, get_attn

    # Layers with learned positions are built for a size.
    if "feat_size" in inspect.signature(get_attn(own)).parameters:
        options = {"feat_size": tuple(shape), **options}
    try:
        layer: nn.Module = create_attn(own, channels, **options)
    except (AssertionError, ValueError, ZeroDivisionError) as error:
        raise SynthprobeError(
            f"timm:{own} cannot be built for {channels} channels and {tuple(shape)} positions."
        ) from error
    return layer
