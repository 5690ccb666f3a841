"""What a checkpoint may hold: a file from anybody must not take all memory, nor all time.

PyTorch reads weights without running code, but still makes whatever sizes the file names.
"""

from __future__ import annotations

import pickletools
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

_MOST_PARTS: Final = 10**6
_DEEPEST: Final = 64
_LARGE: Final = 4096
"""Options that are whole numbers, such as a count of layers, are seldom larger."""
_BEGINS: Final = b"PK\x03\x04"
_INDEX: Final = "/data.pkl"
_NAMED: Final = re.compile(
    r"collections OrderedDict|torch (Size|[a-z]\w*|\w+Storage)|torch\.storage UntypedStorage"
    r"|torch\._utils _rebuild_(tensor_v[23]|parameter)"
)
"""Of what PyTorch would make: what states of networks and optimisers consist of."""


def check_stored(path: Path) -> None:
    """Raise `ValueError` for a file that is not as `torch.save` writes a state.

    Parameters
    ----------
    path
        The file; nothing of it is loaded.
    """
    with open(path, "rb") as file:
        if file.read(len(_BEGINS)) != _BEGINS:  # an older form names sizes that nothing bounds
            raise ValueError("no archive")
    with zipfile.ZipFile(path) as stored:
        entries = stored.infolist()
        if sum(entry.file_size for entry in entries) > path.stat().st_size:
            raise ValueError("compressed")
        indices = [entry for entry in entries if entry.filename.endswith(_INDEX)]
        if len(indices) != 1:
            raise ValueError("no index, or several")
        index = stored.read(indices[0])
    for code, argument, _ in pickletools.genops(index):
        if code.name in ("STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX"):
            raise ValueError(code.name)
        if code.name == "GLOBAL" and not _NAMED.fullmatch(str(argument)):
            raise ValueError(str(argument))


def check_parts(content: object) -> None:
    """Raise `ValueError` for more parts than a state has, or tensors larger than what is stored.

    A few bytes can name one list a billion times, or one number as a tensor of a billion.

    Parameters
    ----------
    content
        What was loaded.
    """
    left, seen = [(content, 0)], 0
    while left:
        part, depth = left.pop()
        seen += 1
        if seen > _MOST_PARTS or depth > _DEEPEST:
            raise ValueError("too many parts")
        if isinstance(part, Tensor):
            _check_tensor(part)
        elif isinstance(part, Mapping):
            left.extend((item, depth + 1) for pair in part.items() for item in pair)
            left.extend((item, depth + 1) for item in getattr(part, "__dict__", {}).values())
        elif isinstance(part, list | tuple):
            left.extend((item, depth + 1) for item in part)


def _check_tensor(tensor: Tensor) -> None:
    if tensor.layout != torch.strided or tensor.device.type == "meta":
        raise ValueError("no plain tensor")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise ValueError("larger than stored")


def check_options(options: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a whole number that is larger than weights could be for.

    Parameters
    ----------
    options
        Those of the structure, as the checkpoint has them.
    model
        Its weights.
    """
    elements = sum(value.numel() for value in model.values() if isinstance(value, Tensor))
    left = list(options.values())
    while left:
        value = left.pop()
        if isinstance(value, int) and abs(value) > max(_LARGE, elements):
            raise ValueError(f"{value}")
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)


def check_shapes(network: nn.Module, model: Mapping[str, Any]) -> None:
    """Raise `ValueError` for weights that are not those of a network, by their shapes.

    Parameters
    ----------
    network
        The network; it may be on the device ``meta``, where it takes no memory.
    model
        The weights.
    """
    for name, value in network.state_dict().items():
        if not isinstance(value, Tensor):
            continue
        there = model.get(name)
        if not isinstance(there, Tensor) or (there.shape, there.dtype) != (
            value.shape,
            value.dtype,
        ):
            raise ValueError(name)
