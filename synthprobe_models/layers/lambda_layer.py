"""The Lambda layer: a summary of all positions, which is then applied to each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.columns import Columns
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.layers.position import PositionEncoding
from synthprobe_models.registry import PAPER, as_in_paper, structure

ENCODINGS: Final = ("none", "sum-qkv", "sum-qv", "decor")
"""What becomes of positions in a `Lambda` layer."""

OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "rde": {"heads": 4, "keys": 64, "bias": True},
    "centered-square": {"heads": 8},
    "color-code": {"heads": 8, "bias": True},
}
"""As the paper had it in each probe."""


@structure("lambda", title="Lambda", source=as_in_paper("Bello 2021"), options=OPTIONS)
class Lambda(nn.Module):
    """The Lambda layer, with its heads and with or without positions.

    K̄, the softmax of K x over the positions, weighs all positions into one matrix, the lambda, and
    each query Q x is mapped by it: y = (K̄ (V x)^T)^T Q x, in each head. The output is divided by
    the root of the channels of a head's query.

    Parameters
    ----------
    channels
        Channels of input and output, a multiple of the heads.
    shape
        The positions that it will see: (N,) or (H, W).
    heads
        How many.
    keys
        M, the channels of Q and K in all heads together; as many as ``channels`` by default.
    bias
        With constants in Q, V and A. K has none: a softmax over the positions would not see them.
    encoding
        ``"sum-qkv"`` or ``"sum-qv"``: P is added to the input of Q, K and V, or of Q and V.
        ``"decor"``: y has a second term, K̄ P^T P. ``"none"``: no positions.
    family
        Of the frequencies of P: ``"cosine"`` or ``"fourier"``.
    encoding_channels
        C, the channels of P; M by default.
    isotropic
        With ``"decor"``, whether P_1^T P_2 is P^T P (see `PositionEncoding`).
    inputs
        Channels that Q, K and V are given; ``channels`` by default.

    Notes
    -----
    A 1x1 convolution A takes the encoding to ``channels`` where it has another number of them: P
    itself when it is added to the input, and K̄ P^T P, which has M, with ``"decor"``.
    """

    takes_queries = True
    takes_columns = True

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        heads: int = 8,
        keys: int | None = None,
        bias: bool = False,
        encoding: str = "none",
        family: str = "cosine",
        encoding_channels: int | None = None,
        isotropic: bool = True,
        inputs: int | None = None,
    ) -> None:
        super().__init__()
        keys = channels if keys is None else keys
        inputs = channels if inputs is None else inputs
        if heads < 1:
            raise SynthprobeError(f"heads is {heads}: there must be at least one.")
        if channels % heads or keys % heads:
            raise SynthprobeError(
                f"{channels} channels with {keys} for the keys cannot be shared out to {heads} "
                f"heads: take multiples of {heads}."
            )
        if encoding not in ENCODINGS:
            raise SynthprobeError(
                f"there is no encoding {encoding!r}: take one of {', '.join(ENCODINGS)}."
            )
        self.heads = heads
        self.query = Pointwise(inputs, keys, bias)
        self.key = Pointwise(inputs, keys, bias=False)
        self.value = Pointwise(inputs, channels, bias)
        self.scale = (keys // heads) ** -0.5
        self.encoding = encoding
        self.project: Pointwise | None = None
        self.positions: PositionEncoding | None = None
        if encoding != "none":
            encoded = keys if encoding_channels is None else encoding_channels
            given = keys if encoding == "decor" else encoded
            if given != channels:
                self.project = Pointwise(given, channels, bias)
            self.positions = PositionEncoding(
                encoded,
                shape,
                family=family,
                heads=heads if encoding == "decor" else 1,
                isotropic=isotropic,
            )
            self.encoded = encoded

    def forward(self, x: Tensor, queries: Tensor | None = None) -> Tensor:
        """Map (batch, channels, *positions) to the same shape.

        Parameters
        ----------
        x
            The input.
        queries
            The numbers of some positions, counted through all axes: the output then is that at
            these positions only, (batch, channels, queries). Keys and values are those of all.
        """
        at = slice(None) if queries is None else queries
        plain, placed = self.place(x)
        q = self.split(self.query(placed[..., at]))
        k = self.attend(plain)
        v = self.split(self.value(placed))
        y = ((k @ v.mT).mT @ q).flatten(1, 2)
        positional = self.positional(x, q, k, v, queries)
        if positional is not None:
            y = y + positional
        y = y * self.scale
        return y if queries is not None else y.view(x.shape)

    def split(self, x: Tensor) -> Tensor:
        """From (batch, channels, N) to (batch, heads, channels / heads, N)."""
        return x.reshape(len(x), self.heads, x.shape[1] // self.heads, -1)

    def place(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What K is given, and what Q and V are given, as (batch, inputs, N)."""
        flat = self.widen(x.flatten(2))
        plain, placed = self.offsets(x.shape[2:], x)
        return (
            flat if plain is None else flat + plain,
            flat if placed is None else flat + placed,
        )

    def widen(self, x: Tensor) -> Tensor:
        """From (batch, channels, N) to the inputs of Q, K and V without what positions add."""
        return x

    def offsets(self, shape: Sequence[int], like: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """What positions add to the inputs of K, and to those of Q and V: (1, inputs, N)."""
        if self.positions is None or self.encoding == "decor":
            return None, None
        p = self.positions.at(shape, like)[0][:, : self.encoded]
        p = p if self.project is None else self.project(p)
        return (p if self.encoding == "sum-qkv" else None), p

    def attend(self, x: Tensor) -> Tensor:
        """K̄, the weights of all positions: (batch, heads, keys / heads, N)."""
        return self.split(self.key(x)).softmax(-1)

    def positional(
        self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, queries: Tensor | None
    ) -> Tensor | None:
        """The term of y that comes from positions, (batch, channels, queries), if there is one."""
        if self.positions is None or self.encoding != "decor":
            return None
        first, second = self.positions.pair(x)
        # A product with @ would make a copy of P for each sample.
        return self._displace(torch.einsum("bhkm,hcm->bhkc", k, first), second, queries)

    def _displace(self, weights: Tensor, second: Tensor, queries: Tensor | None) -> Tensor:
        """K̄ P^T P from K̄ P^T."""
        if queries is not None:
            second = second[..., queries]
        if self.project is None:
            return torch.einsum("bhkc,hcn->bhkn", weights, second).flatten(1, 2)
        # (A K̄ P^T) P, which spares A (K̄ P^T P) a map of M channels over all positions.
        a = self.project.weight.view(-1, self.heads, weights.shape[2])
        lambda_pos = torch.einsum("ohk,bhkc->bohc", a, weights)
        y = lambda_pos.flatten(2) @ second.flatten(0, 1)
        return y if self.project.bias is None else y + self.project.bias[:, None]

    def forward_columns(self, x: Columns, queries: Tensor | None = None) -> Tensor:
        """As `forward`, for inputs with few different columns: (batch, channels, N or queries).

        The softmax over the positions becomes one over the columns, each with the weight of all of
        its positions, and instead of its values the mean of them is summed.
        """
        content = self.widen(x.values)
        key_offset, offset = self.offsets(x.shape, content)
        k, weights, mass = self._attend_columns(x, content, key_offset)
        v = self.split(self.value(content))
        q = x.spread(self.query(content), queries)
        lambdas = k @ v.mT
        if offset is not None:
            q = q + self.query.weight @ (offset if queries is None else offset[..., queries])
            added = self.split(self.value.weight @ offset)[0]
            if weights is None:
                lambdas = lambdas + k @ (x.sums(added) / mass.clamp_min(1)).mT
            else:
                sums = x.products(weights, added)
                lambdas = lambdas + torch.einsum("bhkd,bhkvd->bhkv", k / mass, sums)
        q = self.split(q)
        y = (lambdas.mT @ q).flatten(1, 2)
        positional = self.positional_columns(x, q, k, v, queries)
        return (y if positional is None else y + positional) * self.scale

    def _attend_columns(
        self, x: Columns, content: Tensor, offset: Tensor | None
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """K̄ summed over the positions of each column, (batch, heads, keys / heads, D).

        With it, what positions contribute to K̄ before it is normalised, (heads, keys / heads, N),
        if they do, and the sums of that over each column's positions.
        """
        logits = self.split(self.key(content))
        counts = x.counts[:, None, None]
        if offset is None:
            return (logits + counts.log()).softmax(-1), None, counts
        added = self.split(self.key.weight @ offset)[0]
        weights = (added - added.amax(-1, keepdim=True)).exp()
        mass = x.sums(weights).clamp_min(torch.finfo(weights.dtype).tiny)
        logits = (logits + mass.log()).masked_fill(counts == 0, -torch.inf)
        return logits.softmax(-1), weights, mass

    def positional_columns(
        self, x: Columns, q: Tensor, k: Tensor, v: Tensor, queries: Tensor | None
    ) -> Tensor | None:
        """As `positional`."""
        if self.positions is None or self.encoding != "decor":
            return None
        made = self.positions.at(x.shape, x.values)
        first, second = made[0], made[-1]
        mean = x.sums(first) / x.counts[:, None, None].clamp_min(1)
        return self._displace(k @ mean.mT, second, queries)


_POSITIONED: Final = (
    ("lambda-cosine-sum-qkv", "Cosine + Sum + QKV", "sum-qkv", "cosine"),
    ("lambda-cosine-sum-qv", "Cosine + Sum + QV", "sum-qv", "cosine"),
    ("lambda-cosine-decor", "Cosine + Decor.", "decor", "cosine"),
    ("lambda-pe", "Lambda + PE (Fourier + Decor.)", "decor", "fourier"),
)
for _name, _title, _encoding, _family in _POSITIONED:
    structure(_name, title=_title, source=PAPER, options=OPTIONS)(
        partial(Lambda, encoding=_encoding, family=_family)
    )
