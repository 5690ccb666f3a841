"""Ranks of a relation that is given as bit masks."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel

_ONE: Final = np.uint64(1)
_NONE: Final = np.uint64(0)


@kernel
def find_ranks(
    below: NDArray[np.uint64], also_below: NDArray[np.uint64], n: int, rank: NDArray[np.uint8]
) -> bool:
    """The lowest ranks that the relation allows; False if it has a cycle.

    The relation is the union of the two. A round gives the next rank to all rectangles whose
    rectangles beneath have one; this is the depth of the search in `reference.ranks`.
    """
    done = _NONE
    everyone = (_ONE << np.uint64(n)) - _ONE
    level = 0
    while done != everyone:
        level += 1
        reached = done
        for k in range(n):
            bit = _ONE << np.uint64(k)
            if not done & bit and not (below[k] | also_below[k]) & ~done:
                rank[k] = level
                reached |= bit
        if reached == done:
            return False
        done = reached
    return True


@kernel
def is_flat(rank: NDArray[np.uint8], n: int) -> bool:
    """Whether the first n ranks are all the same one (`reference.is_flat`)."""
    for k in range(1, n):
        if rank[k] != rank[0]:
            return False
    return True


@kernel
def find_reach(
    below: NDArray[np.uint64],
    also_below: NDArray[np.uint64],
    n: int,
    reach: NDArray[np.uint64],
) -> None:
    """Everyone that each rectangle is above, directly or through others.

    The relation of a scene only ever leads from later to earlier rectangles.
    """
    for k in range(n):
        mask = below[k] | also_below[k]
        for j in range(k):
            if mask >> np.uint64(j) & _ONE:
                mask |= reach[j]
        reach[k] = mask
