"""The options of the command that scores."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

_EXAMPLES: Final = """\
what can be scored:
  predictions.h5, .npy, .npz     one row for each sample, in the order of the split
  FOLDER                         16-bit PNG or .npy files named by the row, from 0
  file.py:function               anybody's code, WHICH IS RUN: it maps pictures (n, 3, H, W) from 0
  package.module:Class           to 1 to predictions (n, H, W) that grow towards the viewer
  runs/rde-lambda-0              a run of train, or its checkpoint.pt or export, on any settings
  hf:NAME_OR_FOLDER              a depth network of the Hugging Face Hub, which is downloaded, or
                                 one in a folder, which is not (extra hf)

examples:
  synthprobe-probe score --template predictions.h5 --on rde.h5
  synthprobe-probe score predictions.h5 --on rde.h5
      writes scores/predictions-on-rde/score.html, score.md, score.json
  synthprobe-probe score my_network.py:predict --on rde.h5 --normalise imagenet --multiple 32
  synthprobe-probe score hf:depth-anything/Depth-Anything-V2-Small-hf --on rde.h5 --samples 500
  synthprobe-probe score predictions.h5 --on rde.h5 --submit --who "A. Name" --licence CC-BY-4.0
  synthprobe-probe score --board results/board
  synthprobe-probe score --compare scores/a/score.json scores/b/score.json
"""


def _act(given: argparse.Namespace) -> int:
    from synthprobe_models.cli import score_actions

    return int(score_actions.act(given))


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add the command ``score``, and return it."""
    command: argparse.ArgumentParser = commands.add_parser(
        "score",
        help="score any prediction, function or network on a dataset",
        description="Score predictions on a split: of a file, of a function, of a foreign network, "
        "of a run.\nFirst by their order, then after a scale and a shift for each picture.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(act=_act)
    command.add_argument("what", nargs="?", metavar="WHAT", help="what to score; see below")
    command.add_argument("--on", metavar="PATH", help="a file, a folder of shards, or a suite")
    command.add_argument("--split", default="test", metavar="NAME", help="which split (test)")
    command.add_argument(
        "--align",
        metavar="HOW",
        help="none, scale-shift or order (scale-shift where ranks are to be found, otherwise none)",
    )
    command.add_argument(
        "--robust", action="store_true", help="fit scale and shift by medians, not by least squares"
    )
    command.add_argument(
        "--units",
        default="network",
        metavar="NAME",
        help="what a file of predictions has: network, values as networks see them, or column, "
        "values as the shard has them (network)",
    )
    command.add_argument(
        "--normalise",
        default="none",
        metavar="NAME",
        help="which pictures code is given: none (from 0 to 1), half (from -1 to 1) or imagenet, "
        "by its mean and deviation (none)",
    )
    command.add_argument(
        "--multiple",
        type=int,
        default=1,
        metavar="N",
        help="give code pictures with sides that are multiples of N, and resize its predictions "
        "back (1)",
    )
    command.add_argument(
        "--farther",
        action=argparse.BooleanOptionalAction,
        help="predictions grow away from the viewer, as metres do",
    )
    command.add_argument("--samples", type=int, metavar="N", help="only the first N samples (all)")
    command.add_argument(
        "--limit", type=int, dest="samples", help=argparse.SUPPRESS
    )  # its old name
    command.add_argument(
        "--worst", type=int, default=4, metavar="N", help="show the N worst samples (4)"
    )
    command.add_argument("--batch", type=int, default=16, metavar="N", help="samples at once (16)")
    command.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps (cpu)")
    command.add_argument(
        "--threads", type=int, metavar="N", help="threads of PyTorch (its own choice)"
    )
    command.add_argument("--name", metavar="NAME", help="what pages and tables call it")
    command.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="folder to write, with the page and score.json (scores/NAME-on-FILE)",
    )
    command.add_argument(
        "--compare",
        nargs="+",
        type=Path,
        metavar="JSON",
        help="set scores side by side, with a permutation test, instead of scoring",
    )
    board = command.add_argument_group("the board")
    board.add_argument(
        "--submit",
        nargs="?",
        const=Path("results/board"),
        type=Path,
        metavar="FOLDER",
        help="also write the record of this score to a board (results/board)",
    )
    board.add_argument("--who", metavar="NAME", help="who submits it")
    board.add_argument(
        "--licence",
        metavar="NAME",
        help="licence of the predictions or the weights, as SPDX names it",
    )
    board.add_argument("--link", metavar="URL", help="where it can be found")
    board.add_argument(
        "--board", type=Path, metavar="FOLDER", help="check a board and write its page, README.md"
    )
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    command.add_argument("--force", action="store_true", help="replace what is there")
    command.add_argument(
        "--template",
        type=Path,
        metavar="FILE",
        help="score nothing: write the file to fill with predictions",
    )
    return command
