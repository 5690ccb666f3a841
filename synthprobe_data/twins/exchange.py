"""Which two rectangles of a scene can be exchanged, so that it has a twin.

Only neighbours in the painting order are: exchanging them changes nothing else in it. The twin that
the kernels must equal is `reference.can_be_exchanged`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.rde.generate import Workspace
from synthprobe_data.rde.kernels.certificate import certify
from synthprobe_data.rde.kernels.cues import find_cues
from synthprobe_data.rde.kernels.demands import has_demands, meets_demands
from synthprobe_data.rde.kernels.grid import compress
from synthprobe_data.rde.kernels.place import Settings, overlap
from synthprobe_data.rde.kernels.ranks import find_ranks
from synthprobe_data.rde.legal import find_refused


@kernel
def read_scene(settings: Settings, work: Workspace, n: int) -> None:
    """Put grid, cues and ranks of the n rectangles in the workspace beside them."""
    compress(work.sides, n, settings.width, settings.height, work.grid)
    find_cues(work.grid, n, work.cues)
    find_ranks(work.cues.t_junction, work.cues.convexity, n, work.rank)


@kernel
def swap_sides(sides: NDArray[np.int64], k: int) -> None:
    """Exchange the rectangles k and k + 1 in the painting order."""
    for side in range(4):
        sides[side, k], sides[side, k + 1] = sides[side, k + 1], sides[side, k]


@kernel
def find_exchangeable(settings: Settings, work: Workspace, n: int) -> np.uint64:
    """The pairs of neighbours that can be exchanged, as a mask of k for k and k + 1.

    The scene in the workspace follows the rules; there is none if it cannot be kept by itself.
    """
    found = np.uint64(0)
    if not neighbours_overlap(work.sides, n) or not is_kept(settings, work, n):
        return found
    ordered = np.uint64(0)
    for k in range(n - 1):
        ordered |= np.uint64(is_ordered(work, k)) << np.uint64(k)
    for k in range(n - 1):
        bit = np.uint64(1) << np.uint64(k)
        if ordered & bit and twin_is_kept(settings, work, n, k):
            found |= bit
    return found


@kernel
def twin_is_kept(settings: Settings, work: Workspace, n: int, k: int) -> bool:
    """Whether the scene with k and k + 1 exchanged can be kept, and a cue orders them there.

    The sides in the workspace are as before then, but not what follows from them.
    """
    swap_sides(work.sides, k)
    kept = find_refused(settings, work.sides, n, work.grid, work.trial) == n
    kept = kept and is_kept(settings, work, n) and is_ordered(work, k)
    swap_sides(work.sides, k)
    return kept


@kernel
def both_meet_demands(settings: Settings, work: Workspace, n: int, k: int) -> bool:
    """Whether the scene is as hard as is demanded, and its twin with k and k + 1 exchanged.

    The sides in the workspace are as before then, but not what follows from them.
    """
    if not has_demands(settings):
        return True
    met = True
    for _ in range(2):
        if met:
            read_scene(settings, work, n)
            met = meets_demands(
                settings, work.sides, n, work.grid, work.cues, work.rank, work.search
            )
        swap_sides(work.sides, k)
    return met


@kernel
def neighbours_overlap(sides: NDArray[np.int64], n: int) -> bool:
    """Whether some neighbours have a pixel in common; no cue orders two that have none."""
    for k in range(n - 1):
        if overlap(sides, k, k + 1):
            return True
    return False


@kernel
def is_kept(settings: Settings, work: Workspace, n: int) -> bool:
    """Whether the scene has its certificate, where one is asked for; puts it in the workspace."""
    read_scene(settings, work, n)
    if not settings.certify:
        return True
    return certify(settings, work.sides, n, work.grid, work.cues, work.rank, work.room) == 0


@kernel
def is_ordered(work: Workspace, k: int) -> bool:
    """Whether a cue says that rectangle k + 1 is above rectangle k.

    Between neighbours in the painting order there is nobody through whom they could be ordered.
    """
    beneath = work.cues.t_junction[k + 1] | work.cues.convexity[k + 1]
    return bool(beneath >> np.uint64(k) & np.uint64(1))
