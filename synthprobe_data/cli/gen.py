"""The command ``synthprobe-gen``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data.cli.common import run_command
from synthprobe_data.cli.gen_config import add_config_options, config_text, defaults_from
from synthprobe_data.cli.parser import Parser
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.cluster import WAIT
from synthprobe_data.text import counted

if TYPE_CHECKING:  # what takes time to import is imported where `run_command` looks after it
    from synthprobe_data.config import Config
    from synthprobe_data.dataset import Dataset
    from synthprobe_data.generation.file import RunSummary

_PROGRAM: Final = "synthprobe-gen"


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with one subcommand for each dataset."""
    from synthprobe_data.registry import DATASETS

    parser = Parser(
        prog=_PROGRAM,
        description="Generate synthetic datasets in which every cue is known.",
    )
    commands = parser.add_subparsers(dest="dataset", required=True, metavar="DATASET")
    for name in DATASETS:
        try:
            dataset = DATASETS[name]
        except SynthprobeError as error:  # one of another package, which must not stop the others
            commands.add_parser(name, help=str(error).replace("%", "%%"))
        else:
            _add_command(commands, dataset)
    return parser


def _add_command(commands: Any, dataset: Dataset) -> None:
    from synthprobe_data.config import least_settings, options, worded

    command = commands.add_parser(
        dataset.name,
        help=dataset.title,
        description=f"Generate {dataset.title} into one HDF5 file, or into a folder of shards.",
        epilog=dataset.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="file to write, or with --shards the folder (always needed, but for --print-config)",
    )
    if dataset.suite is not None:
        where.add_argument(
            "--suite",
            type=Path,
            metavar="FOLDER",
            help="write a suite instead: test splits of several settings, "
            f"{dataset.suite.samples} samples each, for a network trained on those given here",
        )
    add_config_options(command)
    command.set_defaults(parser=command)
    command.add_argument(
        "--shards", type=int, metavar="K", help="write a folder of K files, in parallel"
    )
    command.add_argument(
        "--split-files",
        action="store_true",
        help="write a file for each split, such as rde.train.h5 and rde.test.h5 for rde.h5",
    )
    canonical = dataset.config()
    for split, size in dataset.split_sizes(canonical).items():
        default = f"{size}" if dataset.drawn else f"all: {size} with the default settings"
        command.add_argument(
            f"--{split}", type=int, metavar="N", help=f"samples of the split {split} ({default})"
        )
    command.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of all random draws: another one gives other samples (0)"
        if dataset.drawn
        else "has no effect: nothing is random",
    )
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="worker processes (default: all cores; 1 for small runs)",
    )
    command.add_argument("--force", action="store_true", help="replace an existing dataset")
    command.add_argument(
        "--json", action="store_true", help="as JSON, for programs: a line for each file"
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help="resume a run that was killed, or repair its result: keep what is complete",
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
        help=f"end the run when the Dask cluster has had no worker for this long ({WAIT:g})",
    )
    settings = command.add_argument_group("settings of the data")
    least = least_settings(dataset.config)
    for setting in options(dataset.config):
        if setting.name in least.values():
            continue  # said by the setting that it belongs to, as in 3..10
        whole = isinstance(setting.metadata["low"], int)
        varies = setting.name in least
        settings.add_argument(
            "--" + setting.name.replace("_", "-"),
            type=_span if varies else int if whole else float,
            default=argparse.SUPPRESS,
            metavar="N or A..B" if varies else "N" if whole else "X",
            help=setting.metadata["help"]
            + (", or drawn from a range for each sample" if varies else "")
            + ("" if setting.default is None else f" ({setting.default})"),
        )
    for setting in worded(dataset.config):
        choices = ", ".join(setting.metadata["words"])
        settings.add_argument(
            "--" + setting.name.replace("_", "-"),
            default=argparse.SUPPRESS,
            metavar="WORD or FILE",
            help=f"{setting.metadata['help']}: {choices}, or a file ({setting.default})",
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
            default=argparse.SUPPRESS,
            help=flag.meaning,
        )
    if dataset.levels:
        meanings = "; ".join(f"{name}: {level.meaning}" for name, level in dataset.levels.items())
        settings.add_argument(
            "--level",
            choices=dataset.levels,
            help="settings that belong together, instead of a config's; options that are given "
            f"beside it stay. {meanings}",
        )


def _span(text: str) -> int | tuple[int, int]:
    """A whole number, or the two ends of a range such as 3..10."""
    low, dots, high = text.partition("..")
    try:
        return (int(low), int(high)) if dots else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number, nor a range such as 3..10"
        ) from None


def _config(given: argparse.Namespace, dataset: Dataset) -> Config:
    """The settings that were given, beside those of the level that was named."""
    from synthprobe_data.config import least_settings, worded

    least = least_settings(dataset.config)
    names = [field.name for field in dataclasses.fields(dataset.config)]  # type: ignore[arg-type]
    settings = {name: getattr(given, name) for name in names if hasattr(given, name)}
    for name, low in least.items():
        if name in settings:
            settings[low] = None
        if isinstance(settings.get(name), tuple):
            first, last = settings[name]
            if first > last:
                raise SynthprobeError(f"{name} is {first}..{last}: give the smaller number first.")
            settings[name] = last
            settings[low] = first if first < last else None
    for setting in worded(dataset.config):
        value = settings.get(setting.name, setting.default)
        if isinstance(value, str) and value not in setting.metadata["words"]:
            settings[setting.name] = setting.metadata["read"](Path(value))
    if getattr(given, "level", None) is not None:
        settings = {**dataset.levels[given.level].settings(settings), **settings}
    return dataset.config.from_dict(settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(_PROGRAM, _load, arguments)


def _load() -> Callable[[list[str]], int]:
    from synthprobe_data.generation import split_files  # noqa: F401 - all that a run needs

    return _run


def _run(arguments: list[str]) -> int:
    from synthprobe_data.cli.compiling import compiling_announced
    from synthprobe_data.generation.beside import start_beside
    from synthprobe_data.registry import DATASETS

    if arguments:
        DATASETS.get(arguments[0])  # says why it cannot be loaded, if it cannot
    given = _parse(arguments)
    given.arguments = arguments
    with compiling_announced(_PROGRAM, beside=partial(start_beside, given.dataset)):
        return _generate(given)


def _parse(arguments: list[str]) -> argparse.Namespace:
    """The options that were given, over those of the config, over the defaults."""
    from synthprobe_data.registry import DATASETS

    parser = build_parser()
    given = parser.parse_args(arguments)
    named = given.out or getattr(given, "suite", None)
    if named is None and not given.print_config:
        given.parser.error("the following arguments are required: --out")
    if given.config is not None:
        dataset = DATASETS[given.dataset]
        found = defaults_from(given.config, dataset)
        if getattr(given, "level", None) is not None:
            found = {name: value for name, value in found.items() if name not in _leveled(dataset)}
        given.parser.set_defaults(**found)
        given = parser.parse_args(arguments)
    return given


def _leveled(dataset: Dataset) -> set[str]:
    """The settings in which levels differ: an option ``--level`` is over all of a file's."""
    from synthprobe_data.config import least_settings

    levels = [level.settings({}) for level in dataset.levels.values()]
    names = {name for name in levels[0] if any(one[name] != levels[0][name] for one in levels)}
    # A range such as 3..10 comes from a file as one value of the setting that it belongs to.
    return names | {name for name, low in least_settings(dataset.config).items() if low in names}


def _generate(given: argparse.Namespace) -> int:
    from synthprobe_data.generation.file import checked_splits, generate_file
    from synthprobe_data.generation.folder import generate_folder
    from synthprobe_data.generation.split_files import generate_split_files
    from synthprobe_data.random import check_seed
    from synthprobe_data.registry import DATASETS

    dataset = DATASETS[given.dataset]
    config = _config(given, dataset)
    splits = {
        split: size if getattr(given, split) is None else getattr(given, split)
        for split, size in dataset.split_sizes(config).items()
    }
    if given.print_config:
        check_seed(given.seed)
        checked_splits(dataset, config, splits)
        print(config_text(dataset, config, seed=given.seed, splits=splits), end="")
        return 0
    _check_combination(given)
    if getattr(given, "suite", None) is not None:
        return _generate_suite(given, dataset, config)
    common: dict[str, Any] = {
        "seed": given.seed,
        "splits": splits,
        "workers": given.workers,
        "force": given.force,
        "resume": given.resume,
        "progress": True,
        "command": shlex.join([_PROGRAM, *given.arguments]),
    }
    if given.split_files:
        for summary in generate_split_files(given.out, dataset, config, **common):
            _say(summary, summary.path.stat().st_size, as_json=given.json)
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
    _say(summary, size, as_json=given.json)
    return 0


def _generate_suite(given: argparse.Namespace, dataset: Dataset, config: Config) -> int:
    from synthprobe_data.generation.suite import generate_suite

    others = [getattr(given, split) for split in dataset.split_sizes(config) if split != "test"]
    if given.shards is not None or given.split_files or any(others) or given.backend == "dask":
        raise SynthprobeError(
            "--suite writes one file for each member, with a test split: give only --test, the "
            "samples of each, and leave --train, --shards, --split-files and --backend out."
        )
    summary = generate_suite(
        given.suite,
        dataset,
        config,
        samples=given.test,
        seed=given.seed,
        workers=given.workers,
        force=given.force,
        resume=given.resume,
        progress=True,
        command=shlex.join([_PROGRAM, *given.arguments]),
    )
    if given.json:
        print(json.dumps(dataclasses.asdict(summary.manifest)))
        return 0
    for entry in summary.manifest.members:
        print(f"{given.suite / entry.file}: {counted(entry.rows, 'sample')}, {entry.meaning}")
    size = sum(entry.bytes for entry in summary.manifest.members)
    print(f"{given.suite}: a suite, {size / 1e6:.1f} MB, {summary.seconds:.1f} s")
    return 0


def _say(summary: RunSummary, size: int, *, as_json: bool) -> None:
    """Say what was made."""
    if as_json:
        print(json.dumps({**dataclasses.asdict(summary), "path": str(summary.path), "bytes": size}))
        return
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
