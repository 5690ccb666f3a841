"""The command ``synthprobe-probe``, which starts without PyTorch to say that it is missing."""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from synthprobe_data import Parser, SynthprobeError, ended_at_once, note, run_command

_PROGRAM: Final = "synthprobe-probe"
_MOST_POSITIONS: Final = 2**20
_MOST_CHANNELS: Final = 4096
"""As many as a network can be trained with."""

_EXAMPLES: Final = """\
examples:
  synthprobe-probe list
      every structure and network, and its parameters in each probe that it fits
  synthprobe-probe inspect lambda
      parameters and FLOPs by part, growth with the positions, what it sees, its symmetries
  synthprobe-probe inspect lambda --out pictures
      and the receptive field as a picture
  synthprobe-probe inspect mine --load my_structures.py
      a structure of your own
  synthprobe-probe profile lambda-pe --threads 1
      train it on all probes, and write a page on the abilities that it has
  synthprobe-probe export run --out for-others
      weights as safetensors, with a model card
  synthprobe-probe score my_network.py:predict --on rde.h5
      score any network or prediction, without training

Structures of installed packages are found by their entry points (group synthprobe.structures).
Exit codes: 0 all is well, 2 the command failed.
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with one subcommand for each thing to do."""
    from synthprobe_models.cli.export import add_command as add_export
    from synthprobe_models.cli.score import add_command as add_score
    from synthprobe_models.cli.train import add_commands
    from synthprobe_models.cli.word_lists import KeysParser

    parser = Parser(
        prog=_PROGRAM,
        description="Inspect neural structures, train them on the probes, and find out which "
        "abilities they have.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=KeysParser
    )

    _add(commands, "list", _list, "list every structure and network")

    command = _add(
        commands,
        "inspect",
        _inspect,
        "inspect one structure or network",
        "Inspect one structure or network: parameters and FLOPs by part, how the cost grows with "
        "the positions, which positions one layer sees at initialisation, and the errors of "
        "translation covariance and permutation equivariance in double precision.",
    )
    command.add_argument("name", metavar="NAME", help="a structure or a network; see list")
    command.add_argument(
        "--probe", metavar="NAME", help="as it is in this probe (one that it fits)"
    )
    command.add_argument("--width", type=int, metavar="N", help="channels (those of the probe)")
    command.add_argument(
        "--shape",
        type=_shape,
        metavar="HxW",
        help="positions, HxW or N (those of the probe to count, fewer for the checks)",
    )
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of all random draws (0)"
    )
    command.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder for pictures of the receptive field"
    )
    command.add_argument("--force", action="store_true", help="replace existing pictures")
    for command in [*add_commands(commands), add_export(commands), add_score(commands)]:
        _add_load(command)
    return parser


def _add(
    commands: Any,
    name: str,
    act: Callable[[argparse.Namespace], int],
    help_line: str,
    description: str | None = None,
) -> argparse.ArgumentParser:
    text = description or help_line[0].upper() + help_line[1:] + "."
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_line, description=text)
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    _add_load(command)
    command.set_defaults(act=act)
    return command


def _add_load(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="FILE",
        help="also structures of your own: a Python file (.py) or a module, WHOSE CODE IS RUN",
    )


def _shape(text: str) -> tuple[int, ...]:
    """HxW or N."""
    sides = text.lower().split("x")
    # Few digits only: Python refuses to read very long numbers.
    if len(sides) > 2 or not all(s.isdecimal() and len(s) < 19 and int(s) > 0 for s in sides):
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not a shape such as 64x64 or 128")
    shape = tuple(int(side) for side in sides)
    if math.prod(shape) > _MOST_POSITIONS:
        raise argparse.ArgumentTypeError(
            f"{text!r} has {math.prod(shape)} positions: at most {_MOST_POSITIONS} are looked at"
        )
    return shape


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(_PROGRAM, _import, arguments)


def _import() -> Callable[[list[str]], int]:
    # What takes time to import is imported here, where `run_command` looks after it.
    from synthprobe_models.cli import train as train_cli  # noqa: F401

    return _run


def _run(words: list[str]) -> int:
    from synthprobe_models.cli.word_lists import spread

    given = build_parser().parse_args(spread(words))
    given.command_line = shlex.join([_PROGRAM, *words])
    _load(given.load)
    from synthprobe_data import compiling_announced

    with compiling_announced(_PROGRAM):
        return int(given.act(given))


def _load(modules: Sequence[str]) -> None:
    """Put the structures of others into the registry, beside our own."""
    if find_spec("torch") is None:
        raise SynthprobeError("this command needs PyTorch: pip install 'synthprobe[models]'.")
    with ended_at_once(_PROGRAM):
        from synthprobe_models import probes  # noqa: F401 - our own come first
        from synthprobe_models.plugins import load_installed, load_structures

    for sentence in load_installed():
        note(f"{_PROGRAM}: {sentence}")
    for where in modules:
        load_structures(where)


def _list(given: argparse.Namespace) -> int:
    from synthprobe_models.experiments.listing import list_entries, list_text

    entries, wrong = list_entries()
    for sentence in wrong:
        note(f"{_PROGRAM}: {sentence}")
    print(json.dumps(entries, indent=1) if given.json else list_text(entries))
    return 0


def _inspect(given: argparse.Namespace) -> int:
    from synthprobe_data import check_target
    from synthprobe_models.inspection.field_picture import draw_field, write_png
    from synthprobe_models.inspection.inspect import check_name, inspect
    from synthprobe_models.inspection.report import LiveReport, sides

    check_name(given.name)
    if given.width is not None and given.width < 1:
        raise SynthprobeError(f"--width is {given.width}: it must be at least 1.")
    if given.width is not None and given.width > _MOST_CHANNELS:
        raise SynthprobeError(f"--width is {given.width}: it must be at most {_MOST_CHANNELS}.")
    pictures = {}
    if given.out is not None:
        try:
            given.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SynthprobeError(
                f"the folder {given.out} could not be made: {error.strerror}."
            ) from error
        for at in ("centre", "corner"):
            pictures[at] = given.out / f"{given.name}-{at}.png"
            check_target(pictures[at], force=given.force)
    found = inspect(
        given.name,
        probe=given.probe,
        shape=given.shape,
        width=given.width,
        seed=given.seed,
        watcher=None if given.json else LiveReport(),
    )
    for at, path in pictures.items():
        sight = found.sights[0]
        field = getattr(sight, at)
        title = f"{found.name}: its {at} hears {field.share:.1%} of {sides(sight.shape)} positions"
        write_png(draw_field(field, title), path)
    if given.json:
        facts = found.to_dict() | {"pictures": {at: str(path) for at, path in pictures.items()}}
        print(json.dumps(facts, indent=1))
        return 0
    for path in pictures.values():
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
