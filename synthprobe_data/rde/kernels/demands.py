"""Whether a scene is as hard as is demanded.

The twin that the kernel must equal is `synthprobe_data.rde.reference_difficulty.meets_demands`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel, shared_kernel
from synthprobe_data.rde.kernels.cue_distance import Search, find_cue_distance
from synthprobe_data.rde.kernels.cues import Cues
from synthprobe_data.rde.kernels.difficulty import count_convexity_only, highest_rank
from synthprobe_data.rde.kernels.grid import Grid
from synthprobe_data.rde.kernels.place import Settings


@kernel
def has_demands(settings: Settings) -> bool:
    """Whether anything is demanded of a scene."""
    return settings.min_depth + settings.min_cue_distance + settings.min_convexity_only > 0


@shared_kernel
def meets_demands(
    settings: Settings,
    sides: NDArray[np.int64],
    n: int,
    grid: Grid,
    cues: Cues,
    rank: NDArray[np.uint8],
    search: Search | None,
) -> bool:
    """Whether the scene meets all demands; what takes longest to find out comes last.

    Without a ``search`` nothing is demanded, and what follows is not even compiled.
    """
    if search is None:
        return True
    if highest_rank(rank, n) < settings.min_depth:
        return False
    if settings.min_convexity_only > 0:
        if count_convexity_only(cues, n) < settings.min_convexity_only:
            return False
    if settings.min_cue_distance > 0:
        return find_cue_distance(sides, n, grid, cues, search) >= settings.min_cue_distance
    return True
