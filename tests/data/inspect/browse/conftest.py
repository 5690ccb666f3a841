"""The same small files as for the figures."""

from tests.data.rde.explain.conftest import hostile_file, rde_file

__all__ = ["hostile_file", "rde_file"]
