"""The Lambda layer that knows positions inside a window only, by a learned convolution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.columns import Columns
from synthprobe_models.layers.lambda_layer import OPTIONS, Lambda
from synthprobe_models.registry import PAPER, structure


class LocalLambda(Lambda):
    """The Lambda layer with the local positional term of its inventors.

    Each channel of V x goes through one convolution of R x R pixels with as many outputs as a
    head's query has channels; at each position these make up a lambda, which is applied to the
    query there: y_pos = sum over k of (Q x)_k (W_k * (V x) + b_k). All heads and all channels of V
    share the convolution. Outside of the picture there are zeros.

    Parameters
    ----------
    channels, shape, options
        As for `Lambda`.
    window
        R, its width, an odd number.
    """

    def __init__(
        self, channels: int, shape: Sequence[int], *, window: int = 7, **options: Any
    ) -> None:
        super().__init__(channels, shape, **options)
        if window < 1 or window % 2 == 0:
            raise SynthprobeError(f"a window of width {window} has no centre: take an odd width.")
        self.window = window
        outputs = self.query.weight.shape[0] // self.heads
        self.local = nn.Conv2d(1, outputs, window, padding=window // 2)

    def positional(
        self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, queries: Tensor | None
    ) -> Tensor | None:
        """Apply the local lambda of each position to its query."""
        shape = x.shape[2:]
        y = self._all(q, v, shape) if queries is None else self._some(q, v, shape, queries)
        encoded = super().positional(x, q, k, v, queries)
        return y if encoded is None else y + encoded

    def _all(self, q: Tensor, v: Tensor, shape: Sequence[int]) -> Tensor:
        lambdas = self.local(v.reshape(-1, 1, *shape)).view(*v.shape[:3], *q.shape[2:])
        return (q[:, :, None] * lambdas).sum(3).flatten(1, 2)

    def _some(self, q: Tensor, v: Tensor, shape: Sequence[int], queries: Tensor) -> Tensor:
        """Each query makes one kernel of its own from all of W."""
        seen = self._windows(v, shape, queries)
        kernels = torch.einsum("bhkq,kr->bhqr", q, self.local.weight.flatten(1))
        y = torch.einsum("bhqr,bhvqr->bhvq", kernels, seen)
        constant = torch.einsum("bhkq,k->bhq", q, self.local.bias)
        return (y + constant[:, :, None]).flatten(1, 2)

    def _windows(self, x: Tensor, shape: Sequence[int], queries: Tensor) -> Tensor:
        """What is in the window of each query: from (..., N) to (..., queries, R * R)."""
        half = self.window // 2
        padded = F.pad(x.reshape(*x.shape[:-1], *shape), (half,) * 4)
        step = torch.arange(self.window, device=x.device)
        rows, columns = queries // shape[1], queries % shape[1]
        seen_at = (rows[:, None, None] + step[:, None]) * padded.shape[-1] + (
            columns[:, None, None] + step
        )
        return padded.flatten(-2)[..., seen_at.flatten(1)]

    @property
    def takes_columns(self) -> bool:  # type: ignore[override]
        """The window sees V x, which has few columns unless positions are added to x."""
        return not self.encoding.startswith("sum")

    def positional_columns(
        self, x: Columns, q: Tensor, k: Tensor, v: Tensor, queries: Tensor | None
    ) -> Tensor | None:
        """As `positional`: each column of V x, times what W sees of it in the window."""
        if queries is None:
            masks = x.masks.reshape(-1, 1, *x.shape)
            seen = F.conv2d(masks, self.local.weight, padding=self.window // 2)
            seen = seen.view(*x.masks.shape[:2], -1, x.masks.shape[-1])
        else:
            windows = self._windows(x.masks, x.shape, queries)
            seen = (windows @ self.local.weight.flatten(1).mT).mT
        applied = torch.einsum("bhkn,bdkn->bhdn", q, seen)
        constant = torch.einsum("bhkn,k->bhn", q, self.local.bias)
        y = (v @ applied + constant[:, :, None]).flatten(1, 2)
        encoded = super().positional_columns(x, q, k, v, queries)
        return y if encoded is None else y + encoded


for _window in (7, 19):
    structure(
        f"lambda-local-{_window}",
        title=f"Lambda (R = {_window})",
        source=PAPER,
        dimensions=[2],
        options=OPTIONS,
    )(partial(LocalLambda, window=_window))
