"""Which neighbours can be exchanged, against the reference, in any scene that RDE may place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, TwinsConfig
from synthprobe_data.rde.generate import prepare
from synthprobe_data.strategies import GeneratedSample, configs, generated_samples
from synthprobe_data.twins import reference
from synthprobe_data.twins.exchange import find_exchangeable, swap_sides


def config_of(band: RdeConfig) -> TwinsConfig:
    return TwinsConfig(**band.to_dict(), min_distance=1)


@settings(max_examples=60)
@given(
    generated_samples(
        configs(
            n_rectangles=st.integers(2, 5),
            height=st.integers(12, 26),
            width=st.integers(12, 26),
            n_vis=st.integers(0, 2),
            n_gap=st.integers(0, 2),
            n_par=st.integers(0, 2),
        )
    )
)
def test_neighbours_can_be_exchanged_as_the_reference_says(drawn: GeneratedSample) -> None:
    prepared = prepare(drawn.config)
    work = prepared.workspace
    work.sides[:, : drawn.n] = drawn.rectangles.T
    found = int(find_exchangeable(prepared.settings, work, drawn.n))
    config = config_of(drawn.config)
    right = [reference.can_be_exchanged(config, drawn.rectangles, k) for k in range(drawn.n - 1)]
    assert [bool(found >> k & 1) for k in range(drawn.n - 1)] == right
    assert found >> max(drawn.n - 1, 0) == 0
    assert (work.sides[:, : drawn.n] == drawn.rectangles.T).all()  # as before


@given(st.integers(2, 6), st.data())
def test_exchanging_twice_gives_the_rectangles_back(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n - 2))
    sides = np.arange(4 * n, dtype=np.int64).reshape(4, n)
    before = sides.copy()
    swap_sides(sides, k)
    assert (reference.exchanged(before.T, k) == sides.T).all()
    assert (sides != before).any()
    swap_sides(sides, k)
    assert (sides == before).all()
