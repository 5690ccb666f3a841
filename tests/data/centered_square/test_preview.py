"""A sample drawn: nothing covers the white pixel."""

from __future__ import annotations

import numpy as np

from synthprobe_data import CenteredSquareConfig, iter_samples
from synthprobe_data.centered_square.preview import panels


def test_the_frame_around_the_region_of_training_hides_no_white_pixel() -> None:
    config = CenteredSquareConfig(height=30, width=40, square=11)
    for split in ("train", "test"):
        for sample in iter_samples("centered-square", split=split, config=config):
            picture, target = (np.asarray(panel) for panel in panels(sample, config))
            large = sample["image"].repeat(5, 0).repeat(5, 1)
            touched = (picture != large[..., None]).any(axis=2)
            region = touched.nonzero()
            assert (target == sample["target"].repeat(5, 0).repeat(5, 1)[..., None]).all()
            if split == "train":
                assert not (touched & (large > 0)).any()
            # Of 20 rows and 30 columns of centres, the central 10 and 15.
            assert (np.ptp(region[0]), np.ptp(region[1])) == (10 * 5 + 1, 15 * 5 + 1)
