"""The command ``synthprobe-shards``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_data.command_line import Parser, run_command

_PROGRAM: Final = "synthprobe-shards"

_EXAMPLES: Final = """\
examples:
  synthprobe-shards info rde.h5
      what it is: sizes, splits, settings, digests
  synthprobe-shards verify rde.h5
      check every hash, and make every sample again, on all cores
  synthprobe-shards verify rde.h5 --sample 1000
      a quick look at a thousand samples
  synthprobe-shards verify rde.h5 --pixels
      also read the answer off every picture, and compare
  synthprobe-shards verify rde --repair
      generate damaged and missing shards again
  synthprobe-shards preview rde.h5 --out sheet.png
      some samples, drawn for people
  synthprobe-shards explain rde.h5 7 --split test --out sample.pdf
      a figure of one sample: what tells its ranks
  synthprobe-shards browse rde.h5 --out page.html
      a page to look through a thousand samples
  synthprobe-shards select rde.h5 --where "depth >= 4" --out hard.h5
      the samples that meet a condition, with where they are from
  synthprobe-shards split rde.h5 --out rde.h5 --split-files
      a file for each split, rde.train.h5 and rde.test.h5, for programs that know no others
  synthprobe-shards split rde.h5 --out rde --shards 8
      a folder of eight files
  synthprobe-shards merge rde --out again.h5
      and one file again, with the same content digest
  synthprobe-shards export rde.h5 --out pictures --format png
      for programs that want files of pictures
  synthprobe-shards info "$(synthprobe-shards ready rde)"
      a small file that comes with the package

PATH is a file, or a folder of shards with its manifest.json.
Exit codes: 0 all is well, 1 verify found something wrong, 2 the command could not be done.
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with one subcommand for each thing to do."""
    from synthprobe_data import shards_actions as actions
    from synthprobe_data.registry import DATASETS

    parser = Parser(
        prog=_PROGRAM,
        description="Look at, check, take apart and put together datasets that are there already.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = _add(commands, "info", actions.info, "say what a dataset is, without checking it")
    command.add_argument("--json", action="store_true", help="as JSON, for programs")

    command = _add(
        commands,
        "verify",
        actions.verify,
        "check a dataset",
        "Check a dataset: the format, the hashes, that every chunk can be decoded, that every "
        "sample keeps the rules of its settings and everything stored about it agrees to the byte, "
        "that it is the very sample of its settings, seed, split and index, made again and "
        "compared byte by byte, and that no sample is there twice.",
    )
    command.add_argument(
        "--sample", type=int, metavar="N", help="check N samples spread evenly, not all of them"
    )
    command.add_argument(
        "--pixels",
        action="store_true",
        help="also solve every picture from its pixels alone, and compare with what is stored",
    )
    command.add_argument(
        "--workers", type=int, metavar="N", help="worker processes (all cores, or 1 if soon done)"
    )
    command.add_argument(
        "--repair",
        action="store_true",
        help="make again what is damaged or missing, as long as its settings can be read",
    )
    command.add_argument("--json", action="store_true", help="the report as JSON, for programs")

    command = _add(
        commands,
        "card",
        actions.card,
        "write the card, the Croissant file and the picture of a dataset again",
        "Write the card, the Croissant file and the picture of a dataset again. All samples are "
        "made again first: the card says that a command makes them only if it does, and otherwise "
        "that this is what the file states.",
    )
    _add_force(command, "card")

    command = _add(
        commands,
        "preview",
        actions.preview,
        "draw some samples",
        "Draw some samples into a PNG file, with a line that says what is to be seen: of RDE the "
        "picture, the ranks, and who is above whom by which cue.",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="PNG to write (PATH-SPLIT.png in the current folder)",
    )
    command.add_argument("--samples", type=int, default=6, metavar="N", help="how many (6)")
    command.add_argument("--split", metavar="NAME", help="which split (the first)")
    command.add_argument("--start", type=int, default=0, metavar="N", help="from this one on (0)")
    _add_force(command, "file")

    command = _add(
        commands,
        "explain",
        actions.explain,
        "draw a figure of one sample of rde",
        "Draw one sample of rde: the picture, the ranks, the label map, each T-junction with its "
        "stem and bar, hidden sides dashed, and the relation as a graph.",
    )
    command.add_argument("index", type=int, metavar="INDEX", help="the sample, from 0")
    command.add_argument("--split", metavar="NAME", help="which split (the first)")
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="PNG, SVG or PDF to write (PATH-SPLIT-INDEX.png in the current folder)",
    )
    _add_force(command, "file")

    command = _add(
        commands,
        "browse",
        actions.browse,
        "write a page to look through the samples",
        "Write one HTML page to look through samples: sorted and filtered by how hard they are, "
        "and for each sample of rde what tells its ranks. It needs no server and no network, and "
        "page.html#test-7 opens that sample.",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="HTML to write (PATH-SPLIT.html in the current folder)",
    )
    command.add_argument("--split", metavar="NAME", help="which split (the first)")
    command.add_argument("--samples", type=int, default=1000, metavar="N", help="how many (1000)")
    _add_force(command, "file")

    command = _add(
        commands,
        "merge",
        actions.merge,
        "put files or folders together into one file",
        "Put parts of one dataset, files or folders in any order, together into one file. They "
        "must be of the same settings and seed, and go on where another one ends.",
        nargs="+",
    )
    command.add_argument("--out", required=True, type=Path, metavar="FILE", help="file to write")
    _add_force(command, "file")

    command = _add(
        commands,
        "select",
        actions.select,
        "take samples out into a file of their own",
        "Take samples out into a file of their own, by a condition on their columns or by their "
        "rows. The file says from which dataset they are, and which samples of it.",
    )
    command.add_argument("--out", required=True, type=Path, metavar="FILE", help="file to write")
    command.add_argument(
        "--where",
        metavar="CONDITION",
        help="such as 'depth >= 4 and n_rectangles == 10': columns, numbers, + - * / // %%, "
        "comparisons, and, or, not; of columns with several values max(..), min(..), sum(..) or "
        "one, pieces[0]; of rde also depth, convexity_only, pieces and cue_distance, stored or not",
    )
    command.add_argument(
        "--rows",
        metavar="LIST",
        help="such as 1,5,10-20, both ends counted, from 0 in the split; with --where, those of "
        "them that meet it",
    )
    command.add_argument(
        "--split", metavar="NAME", help="only samples of this split (all; for --rows the first)"
    )
    _add_force(command, "file")

    command = _add(
        commands,
        "split",
        actions.split,
        "take a dataset apart into a folder of shards with a manifest, or into one file a split",
    )
    command.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="PATH",
        help="folder to write; with --split-files the name that files begin with",
    )
    how = command.add_mutually_exclusive_group(required=True)
    how.add_argument("--shards", type=int, metavar="K", help="number of files, over all splits")
    how.add_argument(
        "--split-files",
        action="store_true",
        help="a file for each split, such as rde.train.h5 and rde.test.h5 for rde.h5",
    )
    _add_force(command, "dataset")

    command = _add(
        commands,
        "export",
        actions.export,
        "write a dataset as PNG files or as tar files for WebDataset",
        "Write a dataset as PNG files or as tar files for WebDataset, with a card, the licence, "
        "the settings and palette (dataset.json) and the hashes of all files (SHA256SUMS).",
    )
    command.add_argument("--split", metavar="NAME", help="only this split (all)")
    command.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="new folder to write"
    )
    command.add_argument(
        "--format",
        required=True,
        choices=("png", "webdataset"),
        help="png: folders of pictures with a table, metadata.csv; webdataset: tar files",
    )
    command.add_argument(
        "--samples-per-shard",
        type=int,
        default=1000,
        metavar="N",
        help="samples in a tar file (1000)",
    )

    ready = commands.add_parser(
        "ready",
        help="print the path of a small file that comes with the package",
        description="Print the path of a small file that comes with the package.",
    )
    ready.add_argument("dataset", choices=list(DATASETS), help="which dataset")
    ready.set_defaults(act=actions.ready)
    return parser


def _add(
    commands: Any,
    name: str,
    act: Callable[[argparse.Namespace], int],
    help_line: str,
    description: str | None = None,
    nargs: str | None = None,
) -> argparse.ArgumentParser:
    text = description or help_line[0].upper() + help_line[1:] + "."
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_line, description=text)
    options: dict[str, Any] = {} if nargs is None else {"nargs": nargs}
    command.add_argument(
        "path", type=Path, metavar="PATH", help="a file, or a folder of shards", **options
    )
    command.set_defaults(act=act)
    return command


def _add_force(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--force", action="store_true", help=f"replace an existing {what}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(_PROGRAM, _load, arguments)


def _load() -> Callable[[list[str]], int]:
    # What takes time to import is imported here, where `run_command` looks after it.
    from synthprobe_data import shards_actions  # noqa: F401 - all that the commands need

    return _run


def _run(words: list[str]) -> int:
    from synthprobe_data.compiling import compiling_announced

    given = build_parser().parse_args(words)
    with compiling_announced(_PROGRAM):
        return int(given.act(given))


if __name__ == "__main__":
    sys.exit(main())
