"""What Numba has no name for: a lean kernel, a 128-bit product, and the highest bit set."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _digest_of_sources() -> str:
    """Of all files with kernels, or with constants that are compiled into them."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source or path.name == "config.py":
            digest.update(source)
    return digest.hexdigest()[:12]


_SOURCES = _digest_of_sources()


def kernel(function: _Function) -> _Function:
    """Compile a function that works on arrays it is given and makes none.

    Without Numba's memory manager, arrays are passed without counting references to them; the
    counting took half the time of the small kernels of a scene.

    Numba compiles a cached function again when its own file changes, but not when a kernel or a
    type that it takes from another file does, and then it may crash. So the name under which it is
    cached stands for all these files.
    """
    function.__qualname__ += f"_{_SOURCES}"
    return njit(cache=True, _nrt=False)(function)  # type: ignore[call-overload]


def _multiply_high(_typing: Any, _a: Any, _b: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


def _leading_zeros(_typing: Any, _mask: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


multiply_high: Any = intrinsic(_multiply_high)
"""The upper 64 bits of the 128-bit product of two ``uint64``; for kernels only."""

leading_zeros: Any = intrinsic(_leading_zeros)
"""The number of zero bits above the highest bit set of a ``uint64``; for kernels only."""


@kernel
def highest_bit(mask: int) -> int:
    """The place of the highest bit set, from 1; 0 when none is (``int.bit_length``)."""
    return int(64 - leading_zeros(mask))
