"""The Lambda layer: a summary of all positions, which is then applied to each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.layers.position import PositionEncoding
from synthprobe_models.registry import PAPER, structure

ENCODINGS: Final = ("none", "sum-qkv", "sum-qv", "decor")
"""What becomes of positions in a `Lambda` layer."""

OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "rde": {"heads": 4, "keys": 64, "bias": True},
    "centered-square": {"heads": 8},
    "color-code": {"heads": 8, "bias": True},
}
"""As the paper had it in each probe."""


@structure("lambda", title="Lambda", source=PAPER, options=OPTIONS)
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
        flat = x.flatten(2)
        if self.positions is None or self.encoding == "decor":
            return flat, flat
        p = self.positions.pair(x)[0][:, : self.encoded]
        placed = flat + (p if self.project is None else self.project(p))
        return (placed if self.encoding == "sum-qkv" else flat), placed

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
        if queries is not None:
            second = second[..., queries]
        # A product with @ would make a copy of P for each sample.
        weights = torch.einsum("bhkm,hcm->bhkc", k, first)
        if self.project is None:
            return torch.einsum("bhkc,hcn->bhkn", weights, second).flatten(1, 2)
        # (A K̄ P^T) P, which spares A (K̄ P^T P) a map of M channels over all positions.
        a = self.project.weight.view(-1, self.heads, k.shape[2])
        lambda_pos = torch.einsum("ohk,bhkc->bohc", a, weights)
        y = lambda_pos.flatten(2) @ second.flatten(0, 1)
        return y if self.project.bias is None else y + self.project.bias[:, None]


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
