"""What goes wrong while a network is built or run, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from synthprobe_data import SynthprobeError
from synthprobe_models.plugins import describe_error

_OUT_OF_MEMORY: Final = ("out of memory", "can't allocate memory")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Say in one sentence that memory ran out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            raise SynthprobeError(
                "there is not enough memory: try a smaller --batch, a smaller --width, or "
                "--queries below 1."
            ) from error
        raise


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Say in one sentence what went wrong inside a structure, which may be anybody's code."""
    try:
        yield
    except SynthprobeError:
        raise
    except Exception as error:
        if out_of_memory(error):
            raise
        raise SynthprobeError(f"{name} failed: {describe_error(error)}.") from error


def out_of_memory(error: Exception) -> bool:
    """Whether this says that memory ran out."""
    return isinstance(error, MemoryError) or any(text in str(error) for text in _OUT_OF_MEMORY)
