"""Plain transcriptions that the structures that attend are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from synthprobe_models import layers  # noqa: E402, F401 - puts the structures into the registry

# Built with these, 8 channels on few positions already bring all of a structure's parts into play.
SMALL = {
    "transformer": {"heads": 2},
    "mlp-mixer": {"expansion": 2},
    "nystromformer": {"heads": 2, "landmarks": 3},
    "linformer": {"heads": 2, "projected": 3},
    "reformer": {"heads": 2, "bucket": 2, "rounds": 3},
    "encoder-pre-norm": {"heads": 2},
    "encoder-post-norm": {"heads": 2},
    "decoder": {"heads": 2},
    "squeeze-and-excitation": {"ratio": 4},
    "window-attention": {"heads": 2, "window": 2},
    "iwsa": {"heads": 2, "window": 2},
    "window-attention-lem": {"heads": 2, "window": 2},
    "ssa": {"heads": 2, "reduction": 2},
}
ONLY_2D = ("window-attention", "iwsa", "window-attention-lem", "ssa")


def randomised(module: nn.Module) -> nn.Module:
    """The module in double precision and for evaluation, every parameter drawn anew."""
    torch.manual_seed(0)
    module = module.double().eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module


def double(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.double)


def project(linear: nn.Linear, x: Tensor, parts: int = 1) -> list[Tensor]:
    """A linear layer at each position of (C, *positions): its outputs in parts, (N, C) each."""
    tokens = torch.stack([linear.weight @ one + linear.bias for one in x.flatten(1).unbind(1)])
    return list(tokens.chunk(parts, dim=1))


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Softmax attention of (N, C), (M, C), (M, D), one query after the other."""
    rows = []
    for one in q:
        weights = [torch.exp(one @ key / math.sqrt(len(one))) for key in k]
        rows.append(sum(w * value for w, value in zip(weights, v, strict=True)) / sum(weights))
    return torch.stack(rows)


def each_head(mix: Callable[..., Tensor], heads: int, *parts: Tensor) -> Tensor:
    """Apply ``mix(head, *parts of the head)`` to consecutive channels of (N, C), and join."""
    split = [part.chunk(heads, dim=1) for part in parts]
    return torch.cat([mix(h, *(part[h] for part in split)) for h in range(heads)], dim=1)


def full_attention(heads: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return each_head(lambda head, *qkv: attention(*qkv), heads, q, k, v)


def operations(module: nn.Module, *shape: int) -> int:
    """Floating-point operations of a forward pass, attention included.

    On the CPU the counter knows nothing of torch's fused attention, so it goes by matrix products.
    """
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), counter, torch.no_grad():
        module(torch.zeros(shape))
    return counter.get_total_flops()
