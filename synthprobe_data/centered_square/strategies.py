"""Settings of Centered Square."""

from __future__ import annotations

from hypothesis import strategies as st

from synthprobe_data.centered_square.config import CenteredSquareConfig

__all__ = ["centered_square_configs"]


@st.composite
def centered_square_configs(draw: st.DrawFn, *, most: int = 40) -> CenteredSquareConfig:
    """Settings of small pictures, square or not; the square may be as large as the picture.

    Parameters
    ----------
    most
        Greatest height and width.
    """
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    square = 2 * draw(st.integers(0, (min(height, width) - 1) // 2)) + 1
    return CenteredSquareConfig(height=height, width=width, square=square)
