"""What all tests share: one Hypothesis profile, and children that end with their test.

The profile gives the same examples on every run, however long they take.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.children import Start, started

settings.register_profile(
    "synthprobe",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("synthprobe")


@pytest.fixture
def start() -> Iterator[Start]:
    """Start commands that end with the test; see `tests.children`."""
    with started() as start:
        yield start
