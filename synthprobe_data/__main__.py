"""``python -m synthprobe_data gen ...`` and ``python -m synthprobe_data shards ...``."""

from __future__ import annotations

import importlib
import sys
from typing import Final

from synthprobe_data.cli.parser import EXIT_BAD_INPUT

_COMMANDS: Final = {
    "gen": "generate a dataset, as synthprobe-gen",
    "shards": "inspect, verify, draw and convert datasets, as synthprobe-shards",
}


def main() -> int:
    """Run the command that the first word names; return its exit code."""
    words = sys.argv[1:]
    if words[:1] == ["--version"]:
        from synthprobe_data import __version__

        print(f"synthprobe_data {__version__}")
        return 0
    if words and words[0] in _COMMANDS:
        command = importlib.import_module(f"synthprobe_data.cli.{words[0]}")
        return int(command.main(words[1:]))
    lines = ["usage: python -m synthprobe_data COMMAND ...", "", "commands:"]
    lines += [f"  {name:<8} {meaning}" for name, meaning in _COMMANDS.items()]
    wanted = words[:1] in (["-h"], ["--help"])
    print("\n".join(lines), file=sys.stdout if wanted else sys.stderr)
    return 0 if wanted else EXIT_BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
