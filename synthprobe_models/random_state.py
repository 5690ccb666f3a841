"""The states of the random generators of a run, one of each process that trains."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from synthprobe_models.feed import Share


def gathered_state(device: torch.device, share: Share) -> dict[str, Tensor]:
    """The states of all processes, by `_key`, on process 0; all of them must call this."""
    mine = {_key("cpu", share.rank): torch.get_rng_state()}
    if device.type == "cuda":
        mine[_key("cuda", share.rank)] = torch.cuda.get_rng_state(device)
    if share.world == 1:
        return mine
    of_all: list[dict[str, Tensor] | None] = [None] * share.world
    torch.distributed.all_gather_object(of_all, mine)
    return {key: state for states in of_all if states for key, state in states.items()}


def set_state(states: Mapping[str, Tensor], device: torch.device, share: Share) -> None:
    """Go on with this process' states, where a checkpoint has them.

    A process more than the checkpoint was written by goes on with its own seed.
    """
    cpu, cuda = (states.get(_key(kind, share.rank)) for kind in ("cpu", "cuda"))
    if cpu is not None:
        torch.set_rng_state(cpu.cpu())
    if cuda is not None and device.type == "cuda":
        torch.cuda.set_rng_state(cuda.cpu(), device)


def _key(kind: str, rank: int) -> str:
    """``cpu`` or ``cuda`` of process 0, as of a run on one process; ``cpu-1`` of process 1."""
    return f"{kind}-{rank}" if rank else kind
