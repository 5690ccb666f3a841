"""Lambda + TT: a Lambda layer whose keys come from a first lambda, not from learned ones alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from torch import Tensor

from synthprobe_models.layers.lambda_layer import OPTIONS, Lambda
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.registry import PAPER, structure

_OPTIONS: Final = {**OPTIONS, "color-code": {**OPTIONS["color-code"], "first_key_bias": True}}


@structure("lambda-tt", title="Lambda + TT", source=PAPER, options=_OPTIONS)
class LambdaTT(Lambda):
    """The Lambda layer with keys in two steps, much as one iteration of k-means.

    A first lambda, K̄_1 (V_1 x)^T with K̄_1 = softmax(K_1 x), is applied to K_2 x, and the softmax of
    that over the positions is the K̄ of a `Lambda` layer.

    Parameters
    ----------
    channels, shape, options
        As for `Lambda`.
    keys
        M, also the channels of K_1 and V_1.
    bias
        Also for V_1.
    first_key_bias
        With constants in K_1, too. The softmax does not see them; one of the paper's counts does.
    """

    takes_columns = False

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        keys: int | None = None,
        bias: bool = False,
        first_key_bias: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(channels, shape, keys=keys, bias=bias, **options)
        outputs, inputs = self.key.weight.shape
        self.first_key = Pointwise(inputs, outputs, first_key_bias)
        self.first_value = Pointwise(inputs, outputs, bias)

    def attend(self, x: Tensor) -> Tensor:
        """K̄ of the second step."""
        first = self.split(self.first_key(x)).softmax(-1)
        mask = first @ self.split(self.first_value(x)).mT
        return (mask @ self.split(self.key(x))).softmax(-1)


@structure("lambda-pe-tt", title="Lambda + PE + TT", source=PAPER, options=_OPTIONS)
def lambda_pe_tt(channels: int, shape: Sequence[int], **options: Any) -> LambdaTT:
    """Lambda + TT with Fourier + Decor."""
    return LambdaTT(channels, shape, **{"encoding": "decor", "family": "fourier", **options})
