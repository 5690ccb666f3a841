"""The Nyströmformer's attention (Xiong et al. 2021): by way of a few landmarks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    attend,
    check_heads,
    check_sizes,
    merge_heads,
    split_heads,
    to_positions,
    to_tokens,
)
from synthprobe_models.registry import as_in_paper, structure


@structure(
    "nystromformer",
    title="Nyströmformer-32",
    source=as_in_paper("Xiong et al. 2021"),
    options=HEADS_BY_PROBE,
)
class Nystromformer(nn.Module):
    """Attention softmax(Q K^T) as softmax(Q k^T) softmax(q k^T)^+ softmax(q K^T).

    The landmarks q and k are the means of Q and K over segments of consecutive positions (row by
    row in two dimensions). There is no output projection, and no convolution beside.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any others can be taken, too.
    heads
        How many, of channels / heads channels each.
    landmarks
        How many; with fewer positions than that, each is a landmark of its own.
    iterations
        Steps towards the pseudo-inverse.
    """

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        heads: int = HEADS,
        landmarks: int = 32,
        iterations: int = 6,
    ) -> None:
        super().__init__()
        check_heads(channels, heads)
        check_sizes(landmarks=landmarks, iterations=iterations)
        self.heads = heads
        self.landmarks = landmarks
        self.iterations = iterations
        self.qkv = nn.Linear(channels, 3 * channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        q, k, v = split_heads(self.qkv(to_tokens(x)), self.heads, 3)
        q_mean, k_mean = segment_means(q, self.landmarks), segment_means(k, self.landmarks)
        scale = q.shape[-1] ** -0.5
        core = (scale * q_mean @ k_mean.transpose(-1, -2)).softmax(-1)
        gathered = attend(q_mean, k, v)
        inverted = pseudo_inverse(core, self.iterations) @ gathered
        mixed = attend(q, k_mean, inverted)
        return to_positions(merge_heads(mixed), x.shape[2:])


def segment_means(x: Tensor, segments: int) -> Tensor:
    """Means over consecutive positions of (..., N, channels).

    Where N is not a multiple of the segments, the first ones have one position more.
    """
    segments = min(segments, x.shape[-2])
    length, longer = divmod(x.shape[-2], segments)
    if longer == 0:
        return x.unflatten(-2, (segments, length)).mean(-2)
    first, rest = x.split((longer * (length + 1), (segments - longer) * length), -2)
    return torch.cat(
        [
            first.unflatten(-2, (longer, length + 1)).mean(-2),
            rest.unflatten(-2, (segments - longer, length)).mean(-2),
        ],
        dim=-2,
    )


def pseudo_inverse(matrix: Tensor, iterations: int) -> Tensor:
    """The Moore-Penrose inverse of (..., n, n), by a third-order iteration.

    It starts from the transpose over the product of the 1-norm and the infinity-norm, of each
    matrix for itself, so that no sample depends on the others of its batch.
    """
    identity = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    sizes = matrix.abs()
    norms = sizes.sum(-2).amax(-1) * sizes.sum(-1).amax(-1)
    inverse = matrix.transpose(-1, -2) / norms[..., None, None]
    for _ in range(iterations):
        product = matrix @ inverse
        inverse = (
            0.25
            * inverse
            @ (13 * identity - product @ (15 * identity - product @ (7 * identity - product)))
        )
    return inverse
