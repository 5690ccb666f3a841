"""The command ``export``: trained weights as others keep them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

FORMATS: Final = ("safetensors",)
LICENSE: Final = "mit"


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``export`` to the commands of ``synthprobe-probe``, and return it."""
    command: argparse.ArgumentParser = commands.add_parser(
        "export",
        help="write the weights of a run for others",
        description="Write the trained weights of a run for others: model.safetensors, "
        "config.json and a model card, README.md, which says what they were trained on, what they "
        "scored and how to load them. eval and score take the folder as they take a run.",
    )
    command.set_defaults(act=_export)
    command.add_argument(
        "run", type=Path, metavar="RUN", help="folder of a run of train, or its checkpoint.pt"
    )
    command.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="folder to write"
    )
    command.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help=f"how the weights are written ({FORMATS[0]})",
    )
    command.add_argument(
        "--licence",
        default=LICENSE,
        metavar="NAME",
        help=f"licence of the weights, as the Hub names it ({LICENSE})",
    )
    command.add_argument("--license", dest="licence", help=argparse.SUPPRESS)  # its old name
    command.add_argument("--force", action="store_true", help="replace an earlier export")
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    return command


def _export(given: argparse.Namespace) -> int:
    from synthprobe_models.training.exported import export_run

    out = export_run(given.run, given.out, force=given.force, license_name=given.licence)
    files = {path.name: path.stat().st_size for path in sorted(out.iterdir())}
    if given.json:
        print(json.dumps({"out": str(out), "files": files}, indent=1))
        return 0
    print(f"{out}: " + ", ".join(f"{name} ({size:,} bytes)" for name, size in files.items()))
    return 0
