"""Random numbers that are drawn beside training, and leave those of training alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

_SEED: Final = 0


@contextmanager
def apart(device: str | torch.device) -> Iterator[None]:
    """Whatever is drawn from torch's generators inside is the same each time, and is undone.

    Networks may draw in evaluation, too. A run then has the same figures whenever it is evaluated,
    and evaluating it changes nothing of the training that goes on.

    Parameters
    ----------
    device
        Where the network computes.
    """
    device = torch.device(device)
    others = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=others):
        torch.default_generator.manual_seed(_SEED)
        if others:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(_SEED)
        yield
