"""One Hypothesis profile for all tests: the same examples on every run, however long they take."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "synthprobe",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("synthprobe")
