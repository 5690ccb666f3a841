"""What a module costs: parameters and operations, by part, and how they grow with the positions.

FLOPs are those of matrix products, convolutions and attention, two for each multiplication and
addition. All else, such as a softmax or a sum, is not counted. Nothing is computed for it where
a module can be built and run without values (PyTorch's ``meta`` device).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from synthprobe_data import SynthprobeError
from synthprobe_models.networks.counting import count_parameters

BuildModule = Callable[[], nn.Module]
_CONTAINERS: Final = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
_TOTAL: Final = "Global"
_SIDES: Final = {"meta": 128, "cpu": 16}
"""The positions along an axis of a picture from which growth is measured."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a module, and what it has and does."""

    name: str
    parameters: int
    flops: int


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What a structure costs for N, 2N and 4N positions."""

    positions: tuple[int, ...]
    parameters: tuple[int, ...]
    flops: tuple[int, ...]

    @property
    def exponent(self) -> float | None:
        """FLOPs grow like N to this power, from N to 4N; ``None`` where there are none."""
        if not self.flops[0]:
            return None
        return math.log(self.flops[-1] / self.flops[0], self.positions[-1] / self.positions[0])


def count_parts(
    build: BuildModule, inputs: Sequence[int], *, expand: tuple[type[nn.Module], ...] = ()
) -> tuple[list[Part], Part]:
    """Parameters and FLOPs of the parts of a module for one input, and of all of it.

    Parameters
    ----------
    build
        Makes the module.
    inputs
        Shape of the input.
    expand
        Modules of these classes are followed by their own parts.
    """
    module, flops = _count_flops(build, inputs)
    parameters = {name: p.numel() for name, p in module.named_parameters() if p.requires_grad}
    parts = [
        Part(
            name=name,
            parameters=sum(n for key, n in parameters.items() if f"{key}.".startswith(f"{name}.")),
            flops=flops.get(f"{type(module).__name__}.{name}", 0),
        )
        for name in _names(module, expand)
    ]
    total = Part(name="all", parameters=sum(parameters.values()), flops=flops.get(_TOTAL, 0))
    return parts, total


def measure_growth(make: Callable[[Sequence[int]], nn.Module], channels: int, axes: int) -> Growth:
    """How parameters and FLOPs of a structure grow with the positions.

    Parameters
    ----------
    make
        Makes the structure for some positions.
    channels
        Of its input.
    axes
        1 for positions in a row, 2 for those of a picture.
    """
    try:
        return _growth("meta", make, channels, axes)
    except SynthprobeError:
        raise
    except Exception:  # a structure that cannot do without values
        return _growth("cpu", make, channels, axes)


def _growth(
    device: str, make: Callable[[Sequence[int]], nn.Module], channels: int, axes: int
) -> Growth:
    side = _SIDES[device]
    positions = (side**2, 2 * side**2, 4 * side**2)
    shapes = [(side, side), (2 * side, side), (2 * side, 2 * side)]
    counts = [
        _count_on(device, partial(make, shape), (1, channels, *shape))
        for shape in (shapes if axes == 2 else [(n,) for n in positions])
    ]
    return Growth(
        positions=positions,
        parameters=tuple(count_parameters(module) for module, _ in counts),
        flops=tuple(flops.get(_TOTAL, 0) for _, flops in counts),
    )


def _names(module: nn.Module, expand: tuple[type[nn.Module], ...]) -> Iterator[str]:
    for name, child in module.named_children():
        container = isinstance(child, _CONTAINERS)
        if not container:
            yield name
        if container or isinstance(child, expand):
            yield from (f"{name}.{inner}" for inner in _names(child, expand))


def _count_flops(build: BuildModule, inputs: Sequence[int]) -> tuple[nn.Module, dict[str, int]]:
    try:
        return _count_on("meta", build, inputs)
    except SynthprobeError:
        raise
    except Exception:  # a structure that cannot do without values
        return _count_on("cpu", build, inputs)


def _count_on(
    device: str, build: BuildModule, inputs: Sequence[int]
) -> tuple[nn.Module, dict[str, int]]:
    with torch.device(device):
        module = build().eval()
        x = torch.zeros(*inputs)
    counter = FlopCounterMode(display=False, custom_mapping=_CPU_ATTENTION)
    with counter, torch.no_grad(), torch.device(device):
        module(x)
    counts = counter.get_flop_counts()
    return module, {name: sum(by_operation.values()) for name, by_operation in counts.items()}


def _attention_flops(
    query: Sequence[int], key: Sequence[int], value: Sequence[int], *_: Any, **__: Any
) -> int:
    """FLOPs of attention on the CPU, which torch does not count: two matrix products."""
    queries = math.prod(query[:-1])
    return 2 * queries * key[-2] * (query[-1] + value[-1])


_CPU_ATTENTION: Final = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention_flops
}
