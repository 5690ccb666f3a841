"""Read the answer off the pixels: the reconstruction that the paper asks to exist.

See ``README.md``, beside this file.
"""

from __future__ import annotations

from synthprobe_data.rde.solver.reading import Junction, Overlap, Reading
from synthprobe_data.rde.solver.steps import check_distant, check_readable, solve

__all__ = ["Junction", "Overlap", "Reading", "check_distant", "check_readable", "solve"]
