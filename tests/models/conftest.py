"""What the tests of several modules need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def unchanged_registry() -> Iterator[None]:
    """The registry is after a test what it was before."""
    from synthprobe_models.plugins import LOADED
    from synthprobe_models.registry import NETWORKS, STRUCTURES

    structures, networks, loaded = dict(STRUCTURES), dict(NETWORKS), dict(LOADED)
    yield
    for entries, before in ((STRUCTURES, structures), (NETWORKS, networks), (LOADED, loaded)):
        entries.clear()
        entries.update(before)
