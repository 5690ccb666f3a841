"""What processes that train together share: the gradients, and what is saved of each."""

from __future__ import annotations

import copy
import gc
import importlib
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from synthprobe_data import SynthprobeError
from synthprobe_models.data.feed import BatchShare
from synthprobe_models.files import FolderError

_BACKENDS: Final = ("gloo", "NCCL")
"""What carries the messages; its errors name it."""


@contextmanager
def process_group(device: str) -> Iterator[BatchShare]:
    """Join the processes that ``torchrun`` started, and leave nothing of the group behind.

    The threads of a group end with the last reference to it. One that is still there when Python
    ends may need Python once more, to free a tensor, which aborts the process.

    Parameters
    ----------
    device
        Where they compute.
    """
    # This module has the group of its first import as default arguments, and holds it for ever:
    # it must not be `DistributedDataParallel` that imports it, when there is one.
    importlib.import_module("torch.distributed.nn.functional")
    try:
        torch.distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    except (RuntimeError, ValueError) as error:
        said = str(error).split("\n")[0]
        raise SynthprobeError(f"the processes could not find one another: {said}") from error
    try:
        yield BatchShare(torch.distributed.get_rank(), torch.distributed.get_world_size())
    except BaseException as error:
        _forget_locals(error)
        if isinstance(error, RuntimeError) and any(name in str(error) for name in _BACKENDS):
            raise SynthprobeError("another process of this run has ended before it.") from error
        raise
    finally:
        gc.collect()  # `DistributedDataParallel` refers to itself
        torch.distributed.destroy_process_group()


def _forget_locals(error: BaseException | None) -> None:
    """Let an error no longer hold what the functions that it came through had, such as networks."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def joined(model: nn.Module, input_shape: Sequence[int], device: torch.device) -> nn.Module:
    """The network, which takes the mean of the gradients of all processes.

    Parameters
    ----------
    model
        The network; it stays as it is.
    input_shape
        Channels and positions that it is given.
    device
        Where it is.
    """
    # A network may have parameters that are not used, such as those of another task. To look for
    # them in every step takes time, and PyTorch complains if there are none: so a twin is tried.
    twin = copy.deepcopy(model)
    with torch.random.fork_rng():
        twin(torch.zeros(2, *input_shape, device=device)).sum().backward()
    idle = any(p.requires_grad and p.grad is None for p in twin.parameters())
    return DistributedDataParallel(model, find_unused_parameters=idle)


def gathered_state(device: torch.device, share: BatchShare) -> dict[str, Tensor]:
    """The states of all processes, by `_key`, on process 0; all of them must call this."""
    mine = {_key("cpu", share.rank): torch.get_rng_state()}
    if device.type == "cuda":
        mine[_key("cuda", share.rank)] = torch.cuda.get_rng_state(device)
    if share.world == 1:
        return mine
    of_all: list[dict[str, Tensor] | None] = [None] * share.world
    torch.distributed.all_gather_object(of_all, mine)
    return {key: state for states in of_all if states for key, state in states.items()}


def set_state(states: Mapping[str, Tensor], device: torch.device, share: BatchShare) -> None:
    """Go on with this process' states, where a checkpoint has them.

    A process more than the checkpoint was written by goes on with its own seed.
    """
    cpu, cuda = (states.get(_key(kind, share.rank)) for kind in ("cpu", "cuda"))
    try:
        if cpu is not None:
            torch.set_rng_state(cpu.cpu())
        if cuda is not None and device.type == "cuda":
            torch.cuda.set_rng_state(cuda.cpu(), device)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise FolderError("the random states of the checkpoint are damaged.") from error


def _key(kind: str, rank: int) -> str:
    """``cpu`` or ``cuda`` of process 0, as of a run on one process; ``cpu-1`` of process 1."""
    return f"{kind}-{rank}" if rank else kind
