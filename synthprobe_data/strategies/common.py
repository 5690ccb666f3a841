"""What the strategies of all datasets have in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from synthprobe_data.random import MAX_SEED


def seeds() -> st.SearchStrategy[int]:
    """All seeds that the generator takes, with the least and the greatest among the first."""
    return st.sampled_from([0, 1, MAX_SEED]) | st.integers(0, MAX_SEED)


def splits() -> st.SearchStrategy[str]:
    """The names of the splits."""
    return st.sampled_from(["train", "test"])


def drawn(draw: st.DrawFn, wanted: Any) -> Any:
    """A value, or one that is drawn from it if it is a strategy."""
    return draw(wanted) if isinstance(wanted, st.SearchStrategy) else wanted
