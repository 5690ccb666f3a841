"""Pictures of predictions: for each sample the input, the ground truth and what a network gave."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from synthprobe_models.files import make_folder, replaced

_PANEL: Final = 128
"""Panels are about so many pixels wide."""
_GAP: Final = 6
_STRIP: Final = 6
"""Pixels for one bit of a code."""


def write_predictions(path: Path, inputs: Tensor, target: Tensor, prediction: Tensor) -> None:
    """Write a PNG: one column for each sample; input, truth, prediction and error from the top.

    Parameters
    ----------
    path
        The file.
    inputs, target, prediction
        (n, channels, *positions), as the network is given them and gives them.
    """
    error = (prediction - target).abs()
    rows = [_panels(values) for values in (inputs, target, prediction, error)]
    width = rows[0][0].shape[1]
    heights = [panels[0].shape[0] for panels in rows]
    size = (sum(heights) + _GAP * (len(rows) - 1), len(inputs) * (width + _GAP) - _GAP, 3)
    sheet = np.full(size, 255, np.uint8)
    top = 0
    for height, panels in zip(heights, rows, strict=True):
        for j, panel in enumerate(panels):
            left = j * (width + _GAP)
            sheet[top : top + height, left : left + width] = panel
        top += height + _GAP
    make_folder(path.parent)
    with replaced(path) as part:
        Image.fromarray(sheet).save(part, "PNG")


def _panels(values: Tensor) -> list[NDArray[np.uint8]]:
    """One RGB picture for each sample."""
    values = values.detach().cpu().float()
    if values.ndim == 3:  # colours and bits are from -1 to 1
        picture = _strips((values + 1) / 2)
    else:
        picture = values.expand(-1, 3, -1, -1)
    picture = picture.clamp(0, 1)
    pixels = (picture * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy()
    times = max(1, round(_PANEL / pixels.shape[2]))
    return [panel.repeat(times, 0).repeat(times, 1) for panel in pixels]


def _strips(values: Tensor) -> Tensor:
    """Positions along one axis: a strip of colour if there are colours, and one for each bit."""
    bits = values[:, 3:] if values.shape[1] > 3 else values
    grey = bits.unsqueeze(1).expand(-1, 3, -1, -1)
    strips = grey.repeat_interleave(_STRIP, dim=2)
    if values.shape[1] > 3:
        color = values[:, :3].unsqueeze(2).expand(-1, -1, 2 * _STRIP, -1)
        strips = torch.cat([color, strips], dim=2)
    return strips
