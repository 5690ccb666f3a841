"""What a run compiles after its generator: compiled by a process beside it, on another core.

The generator is the largest kernel and is needed first. Meanwhile ``python -m
synthprobe_data.generation.beside NAME`` compiles what packs the rows of a dataset and what its card
counts, so that the run finds them compiled. A run without that process compiles them itself.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import numpy as np

from synthprobe_data.dataset import empty_block
from synthprobe_data.kernel_cache import has_writable_cache
from synthprobe_data.parallel import cores
from synthprobe_data.registry import DATASETS
from synthprobe_data.shards.layout import columns_of
from synthprobe_data.shards.pack import deflate_rows


def start_beside(name: str) -> subprocess.Popen[bytes] | None:
    """Start the process for a dataset; ``None`` where it would be of no use.

    It needs a second core, and a place where the run finds what it has compiled.
    """
    if cores() < 2 or not has_writable_cache():
        return None
    with suppress(OSError):
        return subprocess.Popen(
            # Not from the current folder, where files may lie that are called like a library.
            [sys.executable, "-P", "-m", __name__, name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return None


def compile_rest(name: str) -> None:
    """Compile the kernels that a run of this dataset takes after its generator."""
    dataset = DATASETS[name]
    config = dataset.config()
    for column in columns_of(dataset, config):
        if column.chunked_by_row:
            deflate_rows(column, np.zeros((1, *column.shape), column.dtype))
    if dataset.computed is not None:
        dataset.computed.compute(empty_block(dataset.columns, config, 0), config)


if __name__ == "__main__":
    compile_rest(sys.argv[1])
