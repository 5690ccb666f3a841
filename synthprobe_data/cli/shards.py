"""The command ``synthprobe-shards``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_data.cli.common import run_command
from synthprobe_data.cli.parser import Parser
from synthprobe_data.cli.transfer import add_transfer

_PROGRAM: Final = "synthprobe-shards"

_EXAMPLES: Final = """\
examples:
  synthprobe-shards info rde.h5
      what it is: sizes, splits, settings, digests
  synthprobe-shards verify rde.h5
      check every hash, and make every sample again, on all cores
  synthprobe-shards verify rde.h5 --samples 1000
      a quick look at a thousand samples
  synthprobe-shards verify rde.h5 --pixels
      also read the answer off every picture, and compare
  synthprobe-shards verify rde --repair
      generate damaged and missing shards again
  synthprobe-shards preview rde.h5 --out sheet.png
      some samples, drawn for people
  synthprobe-shards explain rde.h5 7 --split test --out sample.pdf
      what tells the ranks of one sample, as a figure
  synthprobe-shards browse rde.h5 --out page.html
      a page for browsing a thousand samples
  synthprobe-shards select rde.h5 --where "depth >= 4" --out hard.h5
      the samples that meet a condition, with their origin
  synthprobe-shards split rde.h5 --out rde.h5 --split-files
      a file for each split, rde.train.h5 and rde.test.h5, for programs that expect them
  synthprobe-shards split rde.h5 --out rde --shards 8
      a folder of eight files
  synthprobe-shards merge rde --out again.h5
      and one file again, with the same content digest
  synthprobe-shards export rde.h5 --out pictures --format png
      for programs that want files of pictures
  synthprobe-shards push rde OWNER/NAME
      to the Hugging Face Hub, with its card
  synthprobe-shards pull https://example.org/rde/manifest.json rde
      from any web server, or OWNER/NAME from the Hub; every hash is checked
  synthprobe-shards info "$(synthprobe-shards ready rde)"
      a small file that comes with the package

PATH is a file, or a folder of shards with its manifest.json.
Exit codes: 0 all is well, 1 verify found something wrong, 2 the command failed.
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with one subcommand for each thing to do."""
    from synthprobe_data.cli import shards_actions as actions
    from synthprobe_data.ready import ready_names

    parser = Parser(
        prog=_PROGRAM,
        description="Inspect, verify, draw, split, merge and convert existing datasets.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = _add(commands, "info", actions.info, "describe a dataset, without checking it")
    command.add_argument("--json", action="store_true", help="as JSON, for programs")

    command = _add(
        commands,
        "verify",
        actions.verify,
        "verify a dataset",
        "Verify a dataset: the format and the hashes are right, every chunk can be decoded, every "
        "sample follows the rules of its settings and agrees with everything stored about it, each "
        "is byte for byte the sample that its settings, seed, split and index give when it is made "
        "again, and none is there twice.",
    )
    command.add_argument(
        "--samples", type=int, metavar="N", help="check only N samples, spread evenly (all)"
    )
    command.add_argument(
        "--sample", type=int, dest="samples", help=argparse.SUPPRESS
    )  # its old name
    command.add_argument(
        "--pixels",
        action="store_true",
        help="also read each answer off the pixels alone, and compare it with the stored one",
    )
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="worker processes (default: all cores; 1 for small runs)",
    )
    command.add_argument(
        "--repair",
        action="store_true",
        help="make again what is damaged or missing, as long as its settings can be read",
    )
    command.add_argument("--json", action="store_true", help="as JSON, for programs")

    command = _add(
        commands,
        "card",
        actions.card,
        "rewrite the card, the Croissant file and the picture of a dataset",
        "Rewrite the card, the Croissant file and the picture of a dataset. All samples are made "
        "again first: only if they are the same does the card say that its command makes them; "
        "otherwise it says that this is what the file states.",
    )
    _add_force(command, "card")

    command = _add(
        commands,
        "preview",
        actions.preview,
        "draw some samples",
        "Draw some samples into a PNG file, with a line that says what they show: of RDE the "
        "picture, the ranks, and who is above whom by which cue.",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="PNG to write (PATH-SPLIT.png in the current folder)",
    )
    command.add_argument("--samples", type=int, default=6, metavar="N", help="how many samples (6)")
    command.add_argument("--split", metavar="NAME", help="which split (the first)")
    command.add_argument(
        "--start", type=int, default=0, metavar="N", help="first sample to draw (0)"
    )
    _add_force(command, "file")

    command = _add(
        commands,
        "explain",
        actions.explain,
        "draw what tells the answer of one sample",
        "Draw one sample with what tells its answer, if the dataset can do so: of RDE the picture, "
        "the ranks, the label map, each T-junction with its stem and bar, hidden sides dashed, and "
        "the relation as a graph.",
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
        "write an HTML page for browsing the samples",
        "Write one HTML page for browsing samples: sorted and filtered by how hard they are, "
        "and for each sample of RDE what tells its ranks. It needs no server and no network, and "
        "page.html#test-7 opens that sample.",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="HTML to write (PATH-SPLIT.html in the current folder)",
    )
    command.add_argument("--split", metavar="NAME", help="which split (the first)")
    command.add_argument(
        "--samples", type=int, default=1000, metavar="N", help="how many samples (1000)"
    )
    _add_force(command, "file")

    command = _add(
        commands,
        "merge",
        actions.merge,
        "merge files or folders into one file",
        "Merge parts of one dataset, files or folders in any order, into one file. They must have "
        "the same settings and seed, and leave no gap between them.",
        nargs="+",
    )
    command.add_argument("--out", required=True, type=Path, metavar="FILE", help="file to write")
    _add_force(command, "file")

    command = _add(
        commands,
        "select",
        actions.select,
        "copy some samples into a file of their own",
        "Copy some samples into a file of their own, chosen by a condition on their columns or by "
        "their rows. The file says which samples of which dataset they are.",
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
        "split a dataset into a folder of shards with a manifest, or into one file per split",
    )
    command.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="PATH",
        help="folder to write; with --split-files, what the file names begin with",
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
        "write a dataset as PNG files, tar files for WebDataset, or Parquet files",
        "Write a dataset as PNG files, tar files for WebDataset, or Parquet files, with a card, "
        "the licence, the settings and palette (dataset.json) and the hashes of all files "
        "(SHA256SUMS).",
    )
    command.add_argument("--split", metavar="NAME", help="only this split (all)")
    command.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="new folder to write"
    )
    command.add_argument(
        "--format",
        required=True,
        choices=("png", "webdataset", "parquet"),
        help="png: folders of pictures with a table, metadata.csv; webdataset: tar files; parquet: "
        "rows with pictures, as the Hugging Face viewer shows them (extra parquet)",
    )
    command.add_argument(
        "--samples-per-shard",
        type=int,
        default=1000,
        metavar="N",
        help="samples in a tar or Parquet file (1000)",
    )

    add_transfer(commands)

    ready = commands.add_parser(
        "ready",
        help="print the path of a small file that comes with the package",
        description="Print the path of a small file that comes with the package.",
    )
    ready.add_argument(
        "dataset", choices=ready_names(), metavar="DATASET", help=", ".join(ready_names())
    )
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
    from synthprobe_data.cli import shards_actions  # noqa: F401 - all that the commands need

    return _run


def _run(arguments: list[str]) -> int:
    from synthprobe_data.cli.compiling import compiling_announced

    given = build_parser().parse_args(arguments)
    with compiling_announced(_PROGRAM):
        return int(given.act(given))


if __name__ == "__main__":
    sys.exit(main())
