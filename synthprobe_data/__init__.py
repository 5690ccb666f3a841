"""Synthetic datasets in which every cue is known: generate, write, read, check."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from synthprobe_data.api import iter_samples, make_file, make_sample
    from synthprobe_data.atomic.files import check_target, in_place_of, write_bytes
    from synthprobe_data.cards.facts import describe_machine
    from synthprobe_data.centered_square import CenteredSquareConfig
    from synthprobe_data.cli.common import ended_at_once, run_command
    from synthprobe_data.cli.compiling import compiling_announced
    from synthprobe_data.cli.parser import Parser
    from synthprobe_data.color_code import ColorCodeConfig, ceiling
    from synthprobe_data.config import Config, choice, option, options
    from synthprobe_data.convert.select import select
    from synthprobe_data.dataset import (
        Block,
        BrowseEntries,
        CardText,
        ColumnSpec,
        Computed,
        Dataset,
        InfoCounts,
        PixelChecks,
        Preview,
        RowChecks,
        SettingFlag,
        empty_block,
    )
    from synthprobe_data.errors import SynthprobeError
    from synthprobe_data.generation.file import RunSummary
    from synthprobe_data.parallel import cores, run_pool
    from synthprobe_data.pictures import tiled
    from synthprobe_data.random import (
        STREAM_LENGTH,
        draw_below,
        open_stream,
        shuffle,
        stream_key,
    )
    from synthprobe_data.rde import RdeConfig, pair_distances, solve
    from synthprobe_data.rde.explain.explanation import Explanation, explain, pick_split
    from synthprobe_data.rde.explain.figure import add_panels, file_name, rendered
    from synthprobe_data.rde.explain.panels import (
        draw_cues,
        draw_picture,
        draw_ranks,
        grey_of,
        write_numbers,
    )
    from synthprobe_data.rde.geometry import TJunction, visible_centres
    from synthprobe_data.rde.kernels.render import hue_palette
    from synthprobe_data.rde.palette import fixed_palette
    from synthprobe_data.rde.solver import Junction, Reading
    from synthprobe_data.rde.verify_pixels import check_pixels_readable
    from synthprobe_data.ready import ready_dataset, ready_path
    from synthprobe_data.registry import DATASETS, Registry
    from synthprobe_data.shards.array import GuardedArray
    from synthprobe_data.shards.collection import open_dataset
    from synthprobe_data.shards.suite import SuiteManifest, is_suite, read_suite
    from synthprobe_data.toml import read_toml, toml_text
    from synthprobe_data.twins import TwinsConfig
    from synthprobe_data.voice import is_quiet, note

__version__ = "0.1.0"

__all__ = [
    "DATASETS",
    "STREAM_LENGTH",
    "Block",
    "BrowseEntries",
    "CardText",
    "CenteredSquareConfig",
    "ColorCodeConfig",
    "ColumnSpec",
    "Computed",
    "Config",
    "Dataset",
    "Explanation",
    "GuardedArray",
    "InfoCounts",
    "Junction",
    "Parser",
    "PixelChecks",
    "Preview",
    "RdeConfig",
    "Reading",
    "Registry",
    "RowChecks",
    "RunSummary",
    "SettingFlag",
    "SuiteManifest",
    "SynthprobeError",
    "TJunction",
    "TwinsConfig",
    "add_panels",
    "ceiling",
    "check_pixels_readable",
    "check_target",
    "choice",
    "compiling_announced",
    "cores",
    "describe_machine",
    "draw_below",
    "draw_cues",
    "draw_picture",
    "draw_ranks",
    "empty_block",
    "ended_at_once",
    "explain",
    "file_name",
    "fixed_palette",
    "grey_of",
    "hue_palette",
    "in_place_of",
    "is_quiet",
    "is_suite",
    "iter_samples",
    "make_file",
    "make_sample",
    "note",
    "open_dataset",
    "open_stream",
    "option",
    "options",
    "pair_distances",
    "pick_split",
    "read_suite",
    "read_toml",
    "ready_dataset",
    "ready_path",
    "rendered",
    "run_command",
    "run_pool",
    "select",
    "shuffle",
    "solve",
    "stream_key",
    "tiled",
    "toml_text",
    "visible_centres",
    "write_bytes",
    "write_numbers",
]

_HOMES: Final = {
    "DATASETS": "registry",
    "CenteredSquareConfig": "centered_square",
    "ColorCodeConfig": "color_code",
    "RdeConfig": "rde",
    "RunSummary": "generation.file",
    "SynthprobeError": "errors",
    "TwinsConfig": "twins",
    "iter_samples": "api",
    "make_file": "api",
    "make_sample": "api",
    "GuardedArray": "shards.array",
    "open_dataset": "shards.collection",
    "is_suite": "shards.suite",
    "read_suite": "shards.suite",
    "SuiteManifest": "shards.suite",
    "ready_dataset": "ready",
    "ready_path": "ready",
    "select": "convert.select",
    # What datasets and probes of other packages are declared with.
    "Block": "dataset",
    "BrowseEntries": "dataset",
    "CardText": "dataset",
    "ColumnSpec": "dataset",
    "Computed": "dataset",
    "Dataset": "dataset",
    "InfoCounts": "dataset",
    "PixelChecks": "dataset",
    "Preview": "dataset",
    "RowChecks": "dataset",
    "SettingFlag": "dataset",
    "choice": "config",
    "empty_block": "dataset",
    "Config": "config",
    "Registry": "registry",
    "option": "config",
    "options": "config",
    "tiled": "pictures",
    # Random numbers that are the same on every machine.
    "STREAM_LENGTH": "random",
    "draw_below": "random",
    "open_stream": "random",
    "shuffle": "random",
    "stream_key": "random",
    # Worker processes, and what they run on.
    "cores": "parallel",
    "describe_machine": "cards.facts",
    "run_pool": "parallel",
    # Files that are written whole or not at all.
    "check_target": "atomic.files",
    "in_place_of": "atomic.files",
    "write_bytes": "atomic.files",
    # Commands.
    "Parser": "cli.parser",
    "compiling_announced": "cli.compiling",
    "ended_at_once": "cli.common",
    "run_command": "cli.common",
    "is_quiet": "voice",
    "note": "voice",
    "read_toml": "toml",
    "toml_text": "toml",
    # What samples say, and what can be read off them.
    "ceiling": "color_code",
    "check_pixels_readable": "rde.verify_pixels",
    "fixed_palette": "rde.palette",
    "hue_palette": "rde.kernels.render",
    "pair_distances": "rde",
    "solve": "rde",
    "Junction": "rde.solver",
    "Reading": "rde.solver",
    "TJunction": "rde.geometry",
    "visible_centres": "rde.geometry",
    # Figures that explain a sample of RDE.
    "Explanation": "rde.explain.explanation",
    "explain": "rde.explain.explanation",
    "pick_split": "rde.explain.explanation",
    "file_name": "rde.explain.figure",
    "add_panels": "rde.explain.figure",
    "rendered": "rde.explain.figure",
    "draw_cues": "rde.explain.panels",
    "draw_picture": "rde.explain.panels",
    "draw_ranks": "rde.explain.panels",
    "grey_of": "rde.explain.panels",
    "write_numbers": "rde.explain.panels",
}
"""Where each public name is defined. The model side imports these names alone."""


def __getattr__(name: str) -> Any:
    """Load what is asked for: the commands start without Numba, to say that they were ended."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
