"""The commands ``push`` and ``pull`` of ``synthprobe-shards``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from synthprobe_data.text import counted


def add_transfer(commands: Any) -> None:
    """Add the two commands.

    Parameters
    ----------
    commands
        Of the parser.
    """
    command = commands.add_parser(
        "push",
        help="put a folder of shards on the Hugging Face Hub",
        description="Put a folder of shards with its cards into a dataset repository of the "
        "Hugging Face Hub, as one commit. Every hash and the content digest are checked first. "
        "After an interruption the same command sends what has not arrived. The token is that of "
        "`hf auth login` or HF_TOKEN (extra hub).",
    )
    command.set_defaults(act=_push)
    command.add_argument("folder", type=Path, metavar="FOLDER", help="a folder of shards")
    command.add_argument("repo", metavar="REPO", help="OWNER/NAME, or OWNER/NAME@BRANCH")
    command.add_argument(
        "--private", action="store_true", help="if the repository is made, show it to nobody else"
    )
    command.add_argument("--message", metavar="TEXT", help="message of the commit")

    command = commands.add_parser(
        "pull",
        help="fetch a folder of shards from the Hub or from any web server",
        description="Fetch a folder of shards from the Hugging Face Hub (extra hub), or from any "
        "web server by the address of its manifest.json. The folder gets its name only when every "
        "hash and the content digest are right; after an interruption the same command resumes.",
    )
    command.set_defaults(act=_pull)
    command.add_argument(
        "source",
        metavar="SOURCE",
        help="OWNER/NAME, OWNER/NAME@REVISION, or https://.../manifest.json",
    )
    command.add_argument("folder", type=Path, metavar="FOLDER", help="where to put it")
    command.add_argument("--force", action="store_true", help="replace an existing dataset")


def _push(given: argparse.Namespace) -> int:
    from synthprobe_data.transfer.hub import push

    print(push(given.folder, given.repo, private=given.private, message=given.message))
    return 0


def _pull(given: argparse.Namespace) -> int:
    from synthprobe_data.transfer.pull import pull

    manifest = pull(given.source, given.folder, force=given.force, progress=True)
    samples = counted(sum(manifest.splits.values()), "sample")
    print(f"{given.folder}: {samples}; content digest {manifest.content_digest}")
    return 0
