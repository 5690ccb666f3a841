"""What the pages of the documentation are made of beside their own words.

A line ``<!-- file: PATH -->`` stands for a file of the repository, ``<!-- notebook: PATH -->`` for
a notebook with its outputs, ``<!-- command: NAME -->`` for all options of a command,
``<!-- names: PACKAGE -->`` for the docstrings of its public names. Links lead to the page of a file
if it has one, else to the file in the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import GenericAlias
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOB = "https://github.com/synthprobe/synthprobe/blob/main/"
MARKER = re.compile(r"^<!-- (file|notebook|command|names): (\S+) -->$", re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def read_source(_app: Any, name: str, source: list[str]) -> None:
    """Put what markers stand for into a page, and let its links lead somewhere."""
    path = DOCS / f"{name}.md"
    text = linked(source[0], path, path)
    source[0] = MARKER.sub(lambda found: MAKERS[found[1]](found[2], path), text)


def linked(text: str, where: Path, page: Path) -> str:
    """A text with its links as the page needs them.

    Parameters
    ----------
    text
        Markdown.
    where
        The file that the text is from: links in it are relative to that.
    page
        The page that it is put into.
    """
    return _outside_code(text, lambda part: LINK.sub(lambda it: _link(it, where, page), part))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """A text with all changed that is not a block of code."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def _link(found: re.Match[str], where: Path, page: Path) -> str:
    mark, text, target = found.groups()
    name, hash_sign, anchor = target.partition("#")
    path = Path(os.path.normpath(where.parent / name))
    if not path.exists():
        raise ValueError(f"{where}: there is no {name}")
    if mark:
        return f"![{text}]({os.path.relpath(path, page.parent)})"
    text = LINK.sub(lambda inner: _link(inner, where, page), text)
    home = pages_of_files().get(path, path)
    if home.is_relative_to(DOCS) and home.suffix == ".md":
        return f"[{text}]({os.path.relpath(home, page.parent)}{hash_sign}{anchor})"
    return f"[{text}]({BLOB}{path.relative_to(ROOT)}{hash_sign}{anchor})"


def pages_of_files() -> dict[Path, Path]:
    """By file of the repository: the page that it has."""
    found = {}
    for page in DOCS.rglob("*.md"):
        for kind, path in MARKER.findall(page.read_text("utf-8")):
            if kind == "file":
                found[ROOT / path] = page
    return found


def _file(path: str, page: Path) -> str:
    where = ROOT / path
    text = linked(where.read_text("utf-8"), where, page)
    if re.search(r"^# ", MARKER.sub("", page.read_text("utf-8")), re.MULTILINE):
        # A heading above it is there: its own go below.
        return _outside_code(text, lambda part: re.sub(r"^#", "##", part, flags=re.MULTILINE))
    return text


def _notebook(path: str, page: Path) -> str:
    where = ROOT / path
    lines: list[str] = []
    for cell in json.loads(where.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [linked(source, where, page), ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:  # within the page: no file of its own is needed
                picture = "".join(data["image/png"]).replace("\n", "")
                lines += [f'<img alt="what the cell draws" src="data:image/png;base64,{picture}">']
            else:
                said = "".join(output.get("text") or data.get("text/plain", ""))
                lines += ["```text", said.strip("\n"), "```"]
            lines += [""]
    return "\n".join(lines)


def _command(name: str, _page: Path) -> str:
    os.environ["COLUMNS"] = "90"
    if name == "synthprobe-gen":
        from synthprobe_data.cli.gen import build_parser
    elif name == "synthprobe-shards":
        from synthprobe_data.cli.shards import build_parser
    else:
        from synthprobe_models.cli.main import build_parser
    parser = build_parser()
    return "\n".join([*_of_parser(parser), *_of_commands(parser)])


def _of_commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from ["", f"### {command.prog}", ""]
                yield from _of_parser(command)


def _of_parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from [_escaped(parser.description or ""), ""]
    usage = parser.format_usage().removeprefix("usage: ")
    yield from ["```text", usage.rstrip(), "```", ""]
    for group in parser._action_groups:
        for action in group._group_actions:
            hidden = action.help == argparse.SUPPRESS
            if hidden or action.dest in ("help", "version", "quiet", "verbose"):
                continue
            if isinstance(action, argparse._SubParsersAction):
                continue  # each has a heading of its own
            shown = argparse.HelpFormatter(parser.prog)._format_action_invocation(action)
            helped = (action.help or "").replace("%%", "%")
            yield from [f"`{shown}`", f": {_escaped(helped)}", ""]
    if parser.epilog:
        yield from ["```text", parser.epilog.rstrip(), "```", ""]


def _escaped(text: str) -> str:
    """A help text as Markdown; options are code, or two hyphens would be typeset as a dash."""
    text = re.sub(r"([*_\[\]<>|`])", r"\\\1", text)
    return re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", text)


def _names(package: str, _page: Path) -> str:
    import importlib
    import inspect

    module = importlib.import_module(package)
    text = (DOCS / "public_names.md").read_text("utf-8")
    part = text.split(f"\n## {package}\n")[1].split("\n## ")[0]
    lines = []
    for line in part.splitlines():
        if line.startswith("### "):
            lines += ["", line, ""]
        elif row := re.match(r"\| `(\w+)` \|", line):
            value = getattr(module, row[1])
            lines += ["```{eval-rst}"]
            if isinstance(value, type) and not isinstance(value, GenericAlias):
                lines += [f".. autoclass:: {package}.{row[1]}", "   :members:"]
            elif inspect.isfunction(value):
                lines += [f".. autofunction:: {package}.{row[1]}"]
            else:
                meaning = line.split("|")[2].strip()
                lines += [f".. py:data:: {package}.{row[1]}", "", f"   {meaning}"]
            lines += ["```", ""]
    return "\n".join(lines)


MAKERS = {"file": _file, "notebook": _notebook, "command": _command, "names": _names}
