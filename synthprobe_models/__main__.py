"""``python -m synthprobe_models ...``, the same as ``synthprobe-probe ...``."""

from __future__ import annotations

import sys

from synthprobe_models.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
