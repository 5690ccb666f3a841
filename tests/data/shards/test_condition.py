"""Conditions: what they mean, and that nothing else has a meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError
from synthprobe_data.shards.condition import Condition

KNOWN = {"a": (), "b": (), "many": (3,), "grid": (2, 2)}
ROWS = 7
RANDOM = np.random.default_rng(0)
COLUMNS = {name: RANDOM.integers(0, 9, (ROWS, *shape)) for name, shape in KNOWN.items()}

numbers = st.recursive(
    st.sampled_from(["a", "b", "0", "1", "3", "2.5", "max(many)", "sum(grid)", "many[1]"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({' '.join(t)})"),
        inner.map(lambda n: f"(-{n})"),
    ),
    max_leaves=5,
)
comparisons = st.tuples(numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers).map(
    " ".join
)
chains = st.tuples(numbers, numbers, numbers).map(lambda t: f"{t[0]} <= {t[1]} < {t[2]}")
conditions = st.recursive(
    st.one_of(comparisons, chains),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({' '.join(t)})"),
        inner.map(lambda c: f"(not {c})"),
    ),
    max_leaves=6,
)


@given(conditions)
def test_a_condition_means_what_python_means(text: str) -> None:
    text = f"{text} or a > 100"  # so that it names a column
    found = Condition(text, KNOWN).holds(COLUMNS)
    for row in range(ROWS):
        names = {name: column[row].tolist() for name, column in COLUMNS.items()}
        names["grid"] = [value for line in names["grid"] for value in line]
        names |= {"max": max, "sum": sum}
        assert found[row] == eval(text, {"__builtins__": {}}, names)


def test_it_names_only_the_columns_that_it_needs() -> None:
    condition = Condition("  max( many )>1  and a<2", KNOWN)
    assert condition.names == {"many", "a"}
    assert condition.text == "max(many) > 1 and a < 2"


def test_whole_numbers_do_not_overflow() -> None:
    tiny: dict[str, Any] = {**COLUMNS, "a": np.full(ROWS, 255, np.uint8)}
    assert Condition("a + 1 == 256 and a * a > 65000 and -a < 0", KNOWN).holds(tiny).all()
    assert Condition("grid[1, 0] + grid[1, -1] < 100", KNOWN).holds(COLUMNS).all()


WRONG = {
    "nothing": "",
    "half": "a >",
    "two": "a > 1; b > 1",
    "a number": "a + 1",
    "a constant": "1 < 2",
    "no column": "depht >= 4",
    "a text": "a == 'x'",
    "a truth among numbers": "(a > 1) + 1 > 1",
    "a number among truths": "a and b > 1",
    "True": "a == True",
    "several values": "many > 1",
    "several values in a sum": "many + a > 1",
    "a place too far": "many[3] > 1",
    "a place that is no number": "many[a] > 1",
    "a slice": "many[0:2] > 1",
    "a place of a number": "a[0] > 1",
    "a power, which can take for ever": "9**9**9**9 > a",
    "a shift": "a << 9999999999 > 1",
    "in": "a in (1, 2)",
    "is": "a is 1",
    "code": "__import__('os').system('true') == 0",
    "an attribute": "a.__class__ == 1",
    "a function": "open(a) == 1",
    "two arguments": "max(a, b) > 1",
    "a lambda": "(lambda: a)() > 1",
    "a walrus": "(c := a) > 1",
    "a comprehension": "[a for a in b] == 1",
    "a choice": "(a if b else a) > 1",
    "an f-string": "f'{a}' == 1",
    "too long": "a > " + "1" * 2000,
    "a huge number": "a > " + "1" * 900,
    "too deep": "(" * 450 + "a" + ")" * 450 + " > 1",
    "many signs": "-" * 900 + "a > 1",
    "a null": "a > 1\0",
    "lone surrogates": "a > \udcff",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_all_else_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(SynthprobeError) as error:
        Condition(text, KNOWN)
    said = str(error.value)
    assert said.endswith(".")
    assert len(said) < 400


def test_a_division_by_zero_is_said() -> None:
    zero = {**COLUMNS, "b": np.zeros(ROWS)}
    for text in ("a / b > 1", "a // b > 1", "a % b > 1"):
        with pytest.raises(SynthprobeError, match="divides by zero"):
            Condition(text, KNOWN).holds(zero)
