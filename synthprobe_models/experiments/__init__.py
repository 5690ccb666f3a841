"""The tables of the paper, one file each, and profiles of structures."""

from __future__ import annotations

import pkgutil
from typing import Final

TABLES: Final = tuple(
    sorted(
        int(number)
        for module in pkgutil.iter_modules(__path__)
        for start, _, number in [module.name.partition("_")]
        if start == "table" and number.isdecimal()
    )
)
"""The numbers of the tables: of each there is a module ``table_N``."""
