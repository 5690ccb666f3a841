"""The command ``synthprobe-gen``."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data.cluster import WAIT
from synthprobe_data.command_line import Parser, run_command
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.words import counted

if TYPE_CHECKING:  # what takes time to import is imported where `run_command` looks after it
    from synthprobe_data.dataset import Dataset
    from synthprobe_data.run import RunSummary

_PROGRAM: Final = "synthprobe-gen"


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with one subcommand for each dataset."""
    from synthprobe_data.registry import DATASETS

    parser = Parser(
        prog=_PROGRAM,
        description="Generate synthetic datasets in which every cue is known.",
    )
    commands = parser.add_subparsers(dest="dataset", required=True, metavar="DATASET")
    for dataset in DATASETS.values():
        _add_command(commands, dataset)
    return parser


def _add_command(commands: Any, dataset: Dataset) -> None:
    from synthprobe_data.settings import options

    command = commands.add_parser(
        dataset.name,
        help=dataset.title,
        description=f"Generate {dataset.title} into one HDF5 file, or into a folder of shards.",
        epilog=dataset.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="PATH",
        help="file to write, or with --shards the folder",
    )
    command.add_argument(
        "--shards", type=int, metavar="K", help="write a folder of K files, workers in parallel"
    )
    command.add_argument(
        "--split-files",
        action="store_true",
        help="write a file for each split, such as rde.train.h5 and rde.test.h5 for rde.h5",
    )
    canonical = dataset.config()
    for split, size in dataset.sizes(canonical).items():
        default = f"{size}" if dataset.drawn else f"all: {size} by default settings"
        command.add_argument(
            f"--{split}", type=int, metavar="N", help=f"{split} samples ({default})"
        )
    command.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="another seed, other samples (0)"
        if dataset.drawn
        else "any, without effect: nothing is random",
    )
    command.add_argument(
        "--workers", type=int, metavar="N", help="worker processes (all cores, or 1 if soon done)"
    )
    command.add_argument("--force", action="store_true", help="replace an existing dataset")
    command.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was killed, or set its result right: keep what is complete",
    )
    command.add_argument(
        "--backend",
        choices=("processes", "dask"),
        default="processes",
        help="where the workers are: processes of this machine, or a Dask cluster",
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of the Dask scheduler, such as tcp://HOST:8786",
    )
    command.add_argument(
        "--scheduler-wait",
        type=float,
        default=WAIT,
        metavar="SECONDS",
        help=f"end the run when the Dask cluster has no worker for so long ({WAIT:g})",
    )
    settings = command.add_argument_group("settings of the data")
    for setting in options(dataset.config):
        settings.add_argument(
            "--" + setting.name.replace("_", "-"),
            type=int if isinstance(setting.metadata["low"], int) else float,
            default=setting.default,
            metavar="N" if isinstance(setting.metadata["low"], int) else "X",
            help=setting.metadata["help"]
            + ("" if setting.default is None else f" ({setting.default})"),
        )
    alone = {}  # flags of one setting exclude one another
    for flag in dataset.flags:
        if flag.setting not in alone:
            alone[flag.setting] = settings.add_mutually_exclusive_group()
        alone[flag.setting].add_argument(
            flag.flag,
            dest=flag.setting,
            action="store_const",
            const=flag.value,
            default=getattr(canonical, flag.setting),
            help=flag.meaning,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(_PROGRAM, _load, arguments)


def _load() -> Callable[[list[str]], int]:
    from synthprobe_data import sharded, split_files  # noqa: F401 - all that a run needs

    return _run


def _run(words: list[str]) -> int:
    from synthprobe_data.compiling import compiling_announced

    given = build_parser().parse_args(words)
    given.words = words
    with compiling_announced(_PROGRAM):
        return _generate(given)


def _generate(given: argparse.Namespace) -> int:
    from synthprobe_data.registry import DATASETS
    from synthprobe_data.run import generate_file
    from synthprobe_data.sharded import generate_folder
    from synthprobe_data.split_files import generate_split_files

    dataset = DATASETS[given.dataset]
    config = dataset.config.from_dict(
        {field.name: getattr(given, field.name) for field in dataclasses.fields(dataset.config)}  # type: ignore[arg-type]
    )
    _check_combination(given)
    common: dict[str, Any] = {
        "seed": given.seed,
        "splits": {
            split: size if getattr(given, split) is None else getattr(given, split)
            for split, size in dataset.sizes(config).items()
        },
        "workers": given.workers,
        "force": given.force,
        "resume": given.resume,
        "progress": True,
        "command": shlex.join([_PROGRAM, *given.words]),
    }
    if given.split_files:
        for summary in generate_split_files(given.out, dataset, config, **common):
            _say(summary, summary.path.stat().st_size)
        return 0
    if given.shards is None:
        summary = generate_file(given.out, dataset, config, **common)
        size = summary.path.stat().st_size
    else:
        summary = generate_folder(
            given.out,
            dataset,
            config,
            shards=given.shards,
            scheduler=given.scheduler,
            wait=given.scheduler_wait,
            **common,
        )
        size = sum(path.stat().st_size for path in summary.path.iterdir())
    _say(summary, size)
    return 0


def _say(summary: RunSummary, size: int) -> None:
    """Say what was made."""
    print(
        f"{summary.path}: {counted(summary.rows, 'sample')}, {size / 1e6:.1f} MB, "
        f"{summary.seconds:.1f} s with {counted(summary.workers, 'worker')}; "
        f"content digest {summary.content_digest}"
    )


def _check_combination(given: argparse.Namespace) -> None:
    """Raise `SynthprobeError` for options that make no sense together."""
    if (given.backend == "dask") != (given.scheduler is not None):
        raise SynthprobeError("--backend dask and --scheduler ADDRESS go together.")
    if given.split_files and given.shards is not None:
        raise SynthprobeError(
            "--split-files and --shards exclude each other: a shard has one split anyway."
        )
    if given.backend == "dask" and given.shards is None:
        raise SynthprobeError(
            "--backend dask needs --shards: each worker writes shards of its own."
        )


if __name__ == "__main__":
    sys.exit(main())
