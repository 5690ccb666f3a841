"""How far a reader walks: the modules that a run enters, and the hops between them.

A hop is a call from a function of one module of ours into a function of another one; different hops
are from another module, or to another function. What runs while modules are imported is not
counted, nor are kernels that are compiled. Another tree can be measured, too: its commands are
found in its pyproject.toml.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGES = ("synthprobe_data", "synthprobe_models")
HERE = Path(__file__).resolve().parents[1]


class Walk:
    """Counts while it is entered."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.hops = 0
        self.calls: set[tuple[str | None, str, str]] = set()
        """Of which module, which function of which other one."""

    def __enter__(self) -> Walk:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, _argument: Any) -> None:
        module = module_of(frame)
        if event != "call" or module is None:
            return
        self.modules.add(module)
        caller = frame.f_back
        while caller is not None and module_of(caller) is None:
            caller = caller.f_back
        if caller is not None and module_of(caller) != module:
            self.hops += 1
            self.calls.add((module_of(caller), module, frame.f_code.co_name))


def module_of(frame: FrameType) -> str | None:
    """The module of ours whose function this is; ``None`` for other code, and for imports."""
    name = frame.f_globals.get("__name__", "")
    ours = name.partition(".")[0] in PACKAGES and frame.f_code.co_name != "<module>"
    return name if ours else None


def find_command(root: Path, name: str) -> Callable[[list[str]], int]:
    """The function of a command, as the tree declares it."""
    scripts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, _, function = scripts[name].partition(":")
    return getattr(importlib.import_module(module), function)


def measure(root: Path) -> dict[str, dict[str, int]]:
    """The walk of generating six samples of RDE, verifying them, training, and making a table."""
    commands = (find_command(root, f"synthprobe-{name}") for name in ("gen", "shards", "probe"))
    generate, shards, probe = commands
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/six.h5"
        sizes = ["--train", "4", "--test", "2", "--workers", "1"]
        brief, small = ["--epochs", "1", "--threads", "1"], ["--width", "4", "--batch", "2"]
        squares = ["--data", "height=16", "width=16", "square=5", "--jobs", "1"]

        def new_folder() -> str:
            return tempfile.mkdtemp(dir=folder)

        tours: dict[str, Callable[[], int]] = {
            "generate": lambda: generate(["rde", "--out", path, "--force", *sizes]),
            "verify": lambda: shards(["verify", path, "--workers", "1"]),
            "train": lambda: probe(
                ["train", "unet", "--on", path, *small, *brief, "--out", new_folder()]
            ),
            "table": lambda: probe(
                ["table", "2", "--rows", "lambda-pe", *squares, *brief, "--out", new_folder()]
            ),
        }
        for name, tour in tours.items():
            for counted in (False, True):  # the first time, kernels are compiled
                walk, said = Walk(), io.StringIO()
                with (
                    contextlib.redirect_stdout(said),
                    contextlib.redirect_stderr(said),
                    walk if counted else contextlib.nullcontext(),
                ):
                    code = tour()
                assert code == 0, said.getvalue()
            found[name] = {
                "modules": len(walk.modules),
                "hops": walk.hops,
                "different hops": len(walk.calls),
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=HERE, help="another tree to measure")
    given = parser.parse_args()
    sys.path.insert(0, str(given.root.resolve()))
    print(json.dumps(measure(given.root), indent=1))


if __name__ == "__main__":
    main()
