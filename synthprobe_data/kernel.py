"""What Numba has no name for: a lean kernel, a 128-bit product, the highest bit set, 8 bytes."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from synthprobe_data.kernel_cache import cache_of
from synthprobe_data.kernel_parts import Kernel

_PLAIN: Final = bool(getattr(config, "DISABLE_JIT", 0))
"""Whether ``NUMBA_DISABLE_JIT=1`` is set."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that works on arrays it is given and makes none.

    Without Numba's memory manager, arrays are passed without counting references to them; the
    counting took half the time of the small kernels of a scene.

    It is kept by `kernel_cache`. Numba's own cache compiles a function again when its file
    changes, but not when a kernel or a type that it takes from another file does, and then it may
    crash.

    With ``NUMBA_DISABLE_JIT=1`` it stays plain Python, thousands of times slower: for debuggers.
    """
    if _PLAIN:
        return _without_warnings(function)
    return cast(_Function, Kernel(function, kept=cache_of(function)))


def shared_kernel(function: _Function) -> _Function:
    """Compile a function, as `kernel` does, that is a large part of several kernels.

    What it was translated to is kept, too, for the next kernel that calls it.
    """
    if _PLAIN:
        return _without_warnings(function)
    kept, kept_parts = cache_of(function), cache_of(function, part=True)
    return cast(_Function, Kernel(function, kept=kept, kept_parts=kept_parts))


def _without_warnings(function: _Function) -> _Function:
    """Let whole numbers wrap around without a word, as compiled code does."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return cast(_Function, call)


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


def _load_8_bytes(_typing: Any, array: Any, _place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = builder.load(_at(context, builder, signature, arguments))
        loaded.align = 1
        return loaded

    return types.uint64(array, types.int64), codegen


def _store_8_bytes(_typing: Any, array: Any, _place: Any, _word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _at(context, builder, signature, arguments)).align = 1
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), codegen


def _at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of a place in an array of bytes, as that of a word."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    address = builder.gep(array.data, [arguments[1]])
    return builder.bitcast(address, ir.IntType(64).as_pointer())


def _plain_multiply_high(a: int, b: int) -> np.uint64:
    return np.uint64(int(a) * int(b) >> 64)


def _plain_leading_zeros(mask: int) -> int:
    return 64 - int(mask).bit_length()


def _plain_load_8_bytes(array: Any, place: int) -> np.uint64:
    return np.uint64(int.from_bytes(array[place : place + 8].tobytes(), sys.byteorder))


def _plain_store_8_bytes(array: Any, place: int, word: np.uint64) -> None:
    array[place : place + 8] = np.frombuffer(int(word).to_bytes(8, sys.byteorder), np.uint8)


multiply_high: Any = _plain_multiply_high if _PLAIN else intrinsic(_multiply_high)
"""The upper 64 bits of the 128-bit product of two ``uint64``; for kernels only."""

leading_zeros: Any = _plain_leading_zeros if _PLAIN else intrinsic(_leading_zeros)
"""The number of zero bits above the highest bit set of a ``uint64``; for kernels only."""

load_8_bytes: Any = _plain_load_8_bytes if _PLAIN else intrinsic(_load_8_bytes)
"""The 8 bytes of an array from a place on, as one ``uint64``; for kernels only.

Neither this nor the next looks whether the array has so many.
"""

store_8_bytes: Any = _plain_store_8_bytes if _PLAIN else intrinsic(_store_8_bytes)
"""Set 8 bytes of an array from a place on to a ``uint64``; for kernels only."""


@kernel
def highest_bit(mask: int | np.uint64) -> int:
    """The place of the highest bit set, from 1; 0 when none is (``int.bit_length``)."""
    return int(64 - leading_zeros(mask))
