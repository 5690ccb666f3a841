"""Conditions on samples, such as ``depth >= 4 and n_rectangles == 10``.

A condition is an expression of Python's grammar of which only this has a meaning: names of
columns, numbers, ``+ - * / // %``, comparisons, ``and or not``, and for columns with several values
a sample ``min(..)``, ``max(..)``, ``sum(..)`` or one value, ``center[0]``. It is never run as code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError

MAX_LENGTH: Final = 1000
_EXAMPLE: Final = "write such as depth >= 4 and n_rectangles == 10"
_COMPARISONS: Final[Mapping[type, Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_ARITHMETIC: Final[Mapping[type, Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
}
_SIGNS: Final[Mapping[type, Any]] = {ast.UAdd: np.positive, ast.USub: np.negative}
_FUNCTIONS: Final[Mapping[str, Any]] = {"min": np.min, "max": np.max, "sum": np.sum}


class Condition:
    """A condition on samples, validated before it is asked.

    Parameters
    ----------
    text
        The condition. `SynthprobeError` says what is wrong with it.
    known
        The columns that it may name, each with the shape of a sample.
    """

    def __init__(self, text: str, known: Mapping[str, tuple[int, ...]]) -> None:
        self._known = known
        self.names: set[str] = set()
        """The columns that it needs."""
        try:
            if len(text) > MAX_LENGTH:
                raise SynthprobeError(f"it is longer than {MAX_LENGTH} characters")
            self._tree = ast.parse(text.strip(), mode="eval").body
            self.text = ast.unparse(self._tree)
            """The condition in one way to write it."""
            # On no samples at all: finds whatever has no meaning, and the names.
            self.holds({name: np.empty((0, *shape)) for name, shape in known.items()})
            if not self.names:
                raise SynthprobeError("it names no column")
        except SynthprobeError as error:
            raise SynthprobeError(f"the condition {text[:80]!r} is wrong: {error}.") from None
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            raise SynthprobeError(f"{text[:80]!r} is no condition: {_EXAMPLE}.") from None

    def holds(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """For which samples it holds; the columns have one row for each."""
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            try:
                return self._truth(self._tree, columns)
            except FloatingPointError:
                raise SynthprobeError(f"the condition {self.text!r} divides by zero.") from None

    def _truth(self, node: ast.expr, columns: Mapping[str, NDArray[Any]]) -> Any:
        """Of an expression that is true or false."""
        match node:
            case ast.Compare():
                numbers = [self._number(n, columns) for n in (node.left, *node.comparators)]
                found = True
                for operator, a, b in zip(node.ops, numbers[:-1], numbers[1:], strict=True):
                    if type(operator) not in _COMPARISONS:
                        raise SynthprobeError("numbers are compared by < <= > >= == !=")
                    found = found & _COMPARISONS[type(operator)](a, b)
                return found
            case ast.BoolOp():
                joined = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                return reduce(joined, [self._truth(value, columns) for value in node.values])
            case ast.UnaryOp(op=ast.Not()):
                return np.logical_not(self._truth(node.operand, columns))
        raise SynthprobeError(f"{ast.unparse(node)!r} is neither true nor false: {_EXAMPLE}")

    def _number(self, node: ast.expr, columns: Mapping[str, NDArray[Any]]) -> Any:
        """Of an expression that is a number for each sample."""
        value = self._value(node, columns)
        if np.ndim(value) > 1:
            name = ast.unparse(node)
            raise SynthprobeError(
                f"{name} has several values a sample: write max({name}), min({name}) or "
                f"sum({name}), or name one of them"
            )
        return value

    def _value(self, node: ast.expr, columns: Mapping[str, NDArray[Any]]) -> Any:
        match node:
            case ast.Constant(value=bool() | complex()):
                pass
            case ast.Constant(value=int() | float() as value):
                return float(value)  # as columns are: whole numbers cannot overflow then
            case ast.Name(id=name):
                if name not in self._known:
                    raise SynthprobeError(
                        f"there is no column {name!r}: take one of {', '.join(sorted(self._known))}"
                    )
                self.names.add(name)
                return np.asarray(columns[name], np.float64)
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                a, b = self._number(node.left, columns), self._number(node.right, columns)
                return _ARITHMETIC[type(node.op)](a, b)
            case ast.UnaryOp() if type(node.op) in _SIGNS:
                return _SIGNS[type(node.op)](self._number(node.operand, columns))
            case ast.Call(func=ast.Name(id=name), args=[of], keywords=[]) if name in _FUNCTIONS:
                values = self._value(of, columns)
                axes = tuple(range(1, np.ndim(values)))
                return _FUNCTIONS[name](values, axis=axes) if axes else values
            case ast.Subscript():
                return self._one_of(node, columns)
        raise SynthprobeError(f"{ast.unparse(node)!r} is no number: {_EXAMPLE}")

    def _one_of(self, node: ast.Subscript, columns: Mapping[str, NDArray[Any]]) -> Any:
        """One of the values that a column has for a sample."""
        values = self._value(node.value, columns)
        subscript = ast.literal_eval(node.slice)
        subscripts = subscript if isinstance(subscript, tuple) else (subscript,)
        shape = np.shape(values)[1:]
        if (
            len(subscripts) > len(shape)
            or not all(isinstance(p, int) and not isinstance(p, bool) for p in subscripts)
            or not all(-n <= p < n for p, n in zip(subscripts, shape, strict=False))
        ):
            raise SynthprobeError(f"there is no {ast.unparse(node)}: the shape is {shape}")
        return values[(slice(None), *subscripts)]
