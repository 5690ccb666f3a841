"""Settings as TOML: what is written is read back, and what is not TOML is said in one sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError, read_toml, toml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(table=st.dictionaries(TEXTS, VALUES, max_size=5), comment=st.sampled_from(["", "a\n\nb"]))
def test_what_is_written_is_read_back(table: dict[str, object], comment: str) -> None:
    assert tomllib.loads(toml_text(table, comment=comment)) == table


def test_values_that_are_none_are_left_out() -> None:
    assert toml_text({"a": None, "b": 1, "c": {"d": None}}) == "b = 1\n\n[c]\n"


@pytest.mark.parametrize("content", [b"a = ", b"\xff", b"a = 1\na = 2", b"#" * 1_000_001])
def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(SynthprobeError, match=r"a\.toml") as said:
        read_toml(path)
    assert "\n" not in str(said.value)
    with pytest.raises(SynthprobeError, match="No such file"):
        read_toml(tmp_path / "none.toml")
