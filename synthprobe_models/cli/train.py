"""The options of the commands that train: train, sweep, eval and table."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthprobe_data import options
from synthprobe_models.cli.export import FORMATS
from synthprobe_models.cli.run_settings import NAMED, OPTIONS
from synthprobe_models.cli.word_lists import stream_keys, table_keys
from synthprobe_models.experiments import TABLES
from synthprobe_models.seeds.rules import LEAST
from synthprobe_models.training.loggers import LOGGERS
from synthprobe_models.training.settings import (
    PRESET_NAMES,
    PROFILE_PRESETS,
    TABLE_PRESETS,
    TrainSettings,
)


def _act(name: str) -> Callable[[argparse.Namespace], int]:
    """What a command does, found when it is done: the parser must work without PyTorch."""

    def act(given: argparse.Namespace) -> int:
        from synthprobe_models.cli import train_actions

        return int(getattr(train_actions, name)(given))

    return act


def add_commands(commands: Any) -> list[argparse.ArgumentParser]:
    """Add the commands that train to those of ``synthprobe-probe``, and return them."""
    train = commands.add_parser(
        "train",
        help="train a structure on a dataset",
        description="Train a structure, in the network of its probe, or a whole network on a "
        "dataset. The folder of the run has its log, a checkpoint and the result.",
    )
    train.set_defaults(act=_act("train"))
    train.keys = stream_keys
    _add_run_options(train, config=True)
    train.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder of the run (runs/PROBE-NAME-SEED)"
    )
    train.add_argument("--resume", action="store_true", help="resume the run in the folder")
    train.add_argument("--force", action="store_true", help="replace the run in the folder")
    train.add_argument(
        "--log-to",
        action="append",
        default=[],
        choices=tuple(LOGGERS),
        help="also tell the figures of the run to these programs, which must be installed; several "
        "may be named",
    )
    train.add_argument(
        "--export",
        choices=FORMATS,
        help="also write the trained weights for others, with a model card, into a folder of this "
        "name in the folder of the run",
    )
    train.add_argument("--json", action="store_true", help="as JSON, for programs")
    train.set_defaults(parser=train)

    search = commands.add_parser(
        "sweep",
        help="search for a learning rate as the paper did",
        description="Train with several learning rates, as the paper did, and print what each of "
        "them reached on validation samples: those of the file, or drawn for it. The test samples "
        "are left alone. Where nothing is drawn (centered-square), the training samples decide.",
    )
    search.set_defaults(act=_act("search"))
    search.keys = stream_keys
    _add_run_options(search)
    search.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="folder of the runs"
    )
    search.add_argument("--json", action="store_true", help="as JSON, for programs")

    check = commands.add_parser(
        "eval",
        help="evaluate a trained network on a dataset",
        description="Evaluate a trained network on a split of a dataset: the metrics of its probe, "
        "the worst samples, and on rde which cues the network misses.",
    )
    check.set_defaults(act=_act("evaluate"))
    check.add_argument(
        "checkpoints",
        nargs="+",
        type=Path,
        metavar="CHECKPOINT",
        help="the folder of a run of train, its checkpoint, or what was exported from it; several "
        "are runs of one structure with different seeds",
    )
    check.add_argument(
        "--on", required=True, metavar="PATH", help="a file, a folder of shards, or a suite"
    )
    check.add_argument("--split", default="test", metavar="NAME", help="which split (test)")
    check.add_argument(
        "--worst", type=int, default=8, metavar="N", help="list the N worst samples (8)"
    )
    check.add_argument("--pictures", type=Path, metavar="PNG", help="draw the worst samples")
    check.add_argument(
        "--explain",
        type=Path,
        metavar="FOLDER",
        help="draw each of the worst samples of rde with the cues that were missed",
    )
    check.add_argument(
        "--plot", type=Path, metavar="PNG", help="draw the accuracy by distance, of twins"
    )
    check.add_argument("--json", action="store_true", help="as JSON, for programs")
    check.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps (cpu)")

    table = commands.add_parser(
        "table",
        help="train every row of a table of the paper",
        description="Train every row of a table of the paper, and write the table beside the "
        "published figures. Complete runs are kept, and interrupted ones are resumed.",
    )
    table.set_defaults(act=_act("table"))
    table.keys = table_keys
    table.add_argument("number", type=int, choices=TABLES, help="which table")
    table.add_argument(
        "--preset",
        choices=TABLE_PRESETS,
        default="mini",
        help="how large data, network and training are (mini)",
    )
    table.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder to write (table-NUMBER-PRESET)"
    )
    table.add_argument(
        "--pages",
        action="store_true",
        help="train nothing: write the table again from the results in its folder runs",
    )
    table.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of each row (1)")
    table.add_argument(
        "--rows",
        action="append",
        metavar="NAME ...",
        help="only these rows, by structure; any other one that fits is a further row",
    )
    table.add_argument(
        "--epochs",
        type=int,
        metavar="N",
        help="passes over the training samples, instead of the preset's",
    )
    table.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="runs at a time (mini on a CPU: one per core; otherwise 1)",
    )
    table.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="K=V ...",
        help="settings of the data, instead of the preset's, such as mode=well-posed for "
        "table 3; the keys are below",
    )
    table.add_argument(
        "--settings",
        action="append",
        default=[],
        metavar="K=V ...",
        help="settings of the runs, instead of the preset's, such as batch=64; the keys are below",
    )
    table.add_argument(
        "--rates",
        action="append",
        type=float,
        metavar="X ...",
        help="learning rates to choose from for each row, by short runs on validation samples",
    )
    table.add_argument(
        "--rate-epochs", type=int, default=1, metavar="N", help="epochs of those short runs (1)"
    )
    table.add_argument("--json", action="store_true", help="as JSON, for programs")
    _add_machine_options(table)
    return [train, search, check, table, _add_profile(commands), _add_designs(commands)]


def _add_profile(commands: Any) -> argparse.ArgumentParser:
    text = (
        "Train a structure on all probes, check it without training, and say on one page which "
        "of the abilities it has. Complete runs are kept, and interrupted ones are resumed; those "
        "of another version, or from before the structure was edited, are trained again. With "
        "several names, or --all, also write the matrix of structures by abilities."
    )
    command: argparse.ArgumentParser = commands.add_parser(
        "profile", help="say which abilities a structure has", description=text
    )
    command.set_defaults(act=_act("profile"))
    command.add_argument("names", nargs="*", metavar="NAME", help="a structure; see list")
    command.add_argument("--all", action="store_true", help="every structure of the registry")
    command.add_argument(
        "--pages",
        action="store_true",
        help="train nothing: write the pages again from the results in the folder's runs",
    )
    command.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder to write (profile-PRESET)"
    )
    command.add_argument(
        "--preset",
        choices=PROFILE_PRESETS,
        default="quick",
        help="how large data, network and training are (quick)",
    )
    command.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help=f"runs on each probe ({LEAST}: with fewer the answer is 'too few seeds')",
    )
    command.add_argument("--probes", nargs="+", metavar="PROBE", help="only these probes")
    command.add_argument(
        "--epochs",
        type=int,
        metavar="N",
        help="passes over the training samples, instead of the preset's",
    )
    command.add_argument("--force", action="store_true", help="train complete runs again")
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    command.add_argument(
        "--jobs", type=int, metavar="N", help="runs at a time (on a CPU: one per core; otherwise 1)"
    )
    command.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps (cpu)")
    command.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads of PyTorch (its own choice; 1 is often best)",
    )
    command.set_defaults(workers=0, compile=False, checkpoint_every=200, picture_every=0)
    return command


def _add_designs(commands: Any) -> argparse.ArgumentParser:
    text = (
        "Draw networks from design spaces (AnyNet: depth, width, groups and bottleneck of four "
        "stages), train them on twins, and compare the spaces by F(e), the share of networks with "
        "an error below e. Complete runs are kept, and interrupted ones are resumed."
    )
    command: argparse.ArgumentParser = commands.add_parser(
        "designs",
        help="compare design spaces by the errors of networks drawn from them",
        description=text,
    )
    command.set_defaults(act=_act("designs"))
    command.add_argument(
        "spaces",
        nargs="*",
        metavar="SPACE",
        help="free, shared, growing-widths, growing-depths, falling-depths (growing-depths and "
        "falling-depths)",
    )
    command.add_argument(
        "--models", type=int, default=100, metavar="N", help="networks of each space (100)"
    )
    command.add_argument(
        "--samples",
        type=int,
        default=8_000,
        metavar="N",
        help="training samples of each network (8000)",
    )
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of all random draws (0)"
    )
    command.add_argument(
        "--least",
        type=int,
        default=4_000,
        metavar="N",
        help="least number of parameters of a network (4000)",
    )
    command.add_argument(
        "--most",
        type=int,
        default=32_000,
        metavar="N",
        help="greatest number of parameters of a network (32000)",
    )
    command.add_argument(
        "--measure",
        default="far_accuracy",
        metavar="NAME",
        help="the metric whose error is compared: far_accuracy or near_accuracy (far_accuracy)",
    )
    command.add_argument(
        "--out",
        type=Path,
        default=Path("designs"),
        metavar="FOLDER",
        help="folder to write (designs)",
    )
    command.add_argument(
        "--work",
        type=Path,
        default=Path("designs-runs"),
        metavar="FOLDER",
        help="folder for data and runs (designs-runs)",
    )
    command.add_argument(
        "--pages",
        action="store_true",
        help="train nothing: write the page again from the results in its folder",
    )
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time (1)")
    command.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps (cpu)")
    command.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads of PyTorch (its own choice; 1 is often best)",
    )
    command.set_defaults(workers=0, compile=False, checkpoint_every=10_000)
    return command


def _add_run_options(command: argparse.ArgumentParser, *, config: bool = False) -> None:
    command.add_argument(
        "name",
        metavar="NAME",
        nargs="?" if config else None,
        help="a structure or a network; see list",
    )
    command.add_argument(
        "--on",
        required=not config,
        metavar="PATH",
        help="a file or a folder of shards, or the word stream, for samples made on the way",
    )
    if config:
        command.add_argument(
            "--config",
            type=Path,
            metavar="FILE",
            help="take NAME, --on and the settings from a TOML file, as --print-config writes it, "
            "or all but --on from the folder of a run; options override it, and it --preset",
        )
        command.add_argument(
            "--print-config",
            action="store_true",
            help="print all settings of the run as TOML, and train nothing",
        )
    command.add_argument(
        "--probe",
        metavar="NAME",
        help="which dataset a stream generates (the one that NAME fits, if there is only one)",
    )
    command.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="K=V ...",
        help="settings of the samples of a stream; the keys are below",
    )
    command.add_argument(
        "--preset",
        choices=PRESET_NAMES,
        default="mini",
        help="how large data, network and training are (mini)",
    )
    settings = command.add_argument_group(
        "settings, instead of those of the preset (train --print-config shows them)"
    )
    for setting in options(TrainSettings):
        whole = isinstance(setting.metadata["low"], int)
        settings.add_argument(
            "--" + setting.name.replace("_", "-"),
            type=int if whole else float,
            metavar="N" if whole else "X",
            help=setting.metadata["help"],
        )
    for name, meaning in NAMED.items():
        settings.add_argument(f"--{name}", metavar="NAME", help=meaning)
    for name, meaning in OPTIONS.items():
        flag = "--" + name.replace("_", "-")
        settings.add_argument(flag, action="append", metavar="K=V ...", help=meaning)
    _add_machine_options(command)


def _add_machine_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("where and how to compute")
    group.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps (cpu)")
    group.add_argument(
        "--workers",
        type=int,
        default=0,
        metavar="N",
        help="processes that read samples (0: the one that trains)",
    )
    group.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads of PyTorch (its own choice; 1 is often best for mini)",
    )
    group.add_argument(
        "--compile",
        action="store_true",
        help="compile the network: slower to start, then faster (torch.compile)",
    )
    group.add_argument(
        "--checkpoint-every",
        type=int,
        default=200,
        metavar="N",
        help="steps between checkpoints (200)",
    )
    group.add_argument(
        "--picture-every", type=int, default=10, metavar="N", help="epochs between pictures (10)"
    )
