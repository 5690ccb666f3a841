"""The parser of every command: one sentence for what is wrong, and the options that all have."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from synthprobe_data import voice

EXIT_BAD_INPUT: Final = 2
_SHELLS: Final = ("bash", "zsh", "tcsh")
_FILES: Final = {"PATH", "FILE", "FOLDER", "PNG", "JSON", "CHECKPOINT", "WHAT"}
"""What options are called whose values are names of files."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and has the options that every command has."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.add_argument(
            "--version", action=_Version, nargs=0, help="show the version, and do nothing else"
        )
        loudness = self.add_mutually_exclusive_group()
        loudness.add_argument(
            *("-q", "--quiet"),
            action=_Loudness,
            const=voice.QUIET,
            help="say no progress and no notes, only results and errors",
        )
        loudness.add_argument(
            *("-v", "--verbose"),
            action=_Loudness,
            const=voice.VERBOSE,
            help="say more on the way, and where in the program an error arose",
        )

    def add_subparsers(self, **settings: Any) -> Any:
        """Add commands; what has commands can also say how a shell completes them."""
        self.add_argument(
            "--print-completion",
            action=_Completion,
            choices=_SHELLS,
            metavar="SHELL",
            help=f"print what completes this command in {', '.join(_SHELLS[:-1])} or "
            f"{_SHELLS[-1]}, and do nothing else (extra completion)",
        )
        return super().add_subparsers(**settings)

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {message}\n")


class _Version(argparse.Action):
    """Prints the name and the version of the program."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "default": argparse.SUPPRESS})

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from synthprobe_data import __version__

        print(f"{parser.prog.split()[0]} {__version__}")
        parser.exit()


class _Loudness(argparse.Action):
    """Sets how much is said from now on."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "nargs": 0, "default": argparse.SUPPRESS})

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        if self.const == voice.VERBOSE and not voice.is_verbose():
            from synthprobe_data import __version__

            voice.set_level(voice.VERBOSE)
            voice.note(
                f"{parser.prog}: synthprobe {__version__}, Python {platform.python_version()}, "
                f"{platform.system()} {platform.machine()}"
            )
        voice.set_level(self.const)


class _Completion(argparse.Action):
    """Prints the script with which a shell completes the command."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "default": argparse.SUPPRESS})

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> NoReturn:
        try:
            import shtab
        except ImportError:
            parser.error("--print-completion needs shtab: pip install 'synthprobe[completion]'")
        for action in _actions(parser):
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, shell=values))
        parser.exit()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All actions of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
