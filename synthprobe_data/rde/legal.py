"""Whether given rectangles are a scene that the placement rules allow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.rde.kernels.grid import Grid, compress
from synthprobe_data.rde.kernels.place import Settings, accepts


@kernel
def find_refused(
    settings: Settings, sides: NDArray[np.int64], n: int, grid: Grid, trial: Grid
) -> int:
    """The first of n rectangles that the rules refuse on top of those before it; n if none is.

    ``grid`` and ``trial`` are room to work in. The rectangles lie inside the picture.
    """
    compress(sides, 0, settings.width, settings.height, grid)
    for k in range(n):
        if not accepts(settings, sides, k, grid, trial):
            return k
        grid, trial = trial, grid
    return n
