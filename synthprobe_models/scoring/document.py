"""A page of headings, texts, tables and pictures, written as Markdown and as HTML alike."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from synthprobe_models.files import write_text

_STYLE: Final = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .7rem;"
    "border-bottom:1px solid #ccc;text-align:left}.figures{text-align:right}"
    "td.figures{white-space:nowrap}"
    "img{max-width:100%;image-rendering:pixelated}pre{background:#f4f4f4;padding:.7rem;"
    "overflow-x:auto}"
)

_FIGURE: Final = re.compile(r"[-+\d][-+\d.,%() ]*(to [-+\d.,%() ]+)?$")
"""Numbers, perhaps with their range, in the text of a cell."""


@dataclass(frozen=True)
class _Heading:
    text: str
    level: int


@dataclass(frozen=True)
class _Text:
    text: str


@dataclass(frozen=True)
class _List:
    items: tuple[str, ...]


@dataclass(frozen=True)
class _Code:
    text: str


@dataclass(frozen=True)
class _Table:
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class _Picture:
    path: Path
    shows: str


class Document:
    """A page that is put together from the top.

    Texts may come from anybody: both forms show them as they are.

    Parameters
    ----------
    title
        The heading of the page.
    """

    def __init__(self, title: str) -> None:
        self.title = _line(title)
        self._parts: list[_Heading | _Text | _List | _Code | _Table | _Picture] = []

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(_Heading(_line(text), 2))

    def text(self, text: str) -> None:
        """A paragraph."""
        self._parts.append(_Text(_line(text)))

    def list(self, items: Sequence[str]) -> None:
        """Points, if there are any."""
        if items:
            self._parts.append(_List(tuple(map(_line, items))))

    def code(self, text: str) -> None:
        """Lines to copy as they stand."""
        self._parts.append(_Code(text))

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A table, whose first row is its head."""
        self._parts.append(_Table(tuple(tuple(map(_line, row)) for row in rows)))

    def picture(self, path: Path, shows: str) -> None:
        """A PNG file, which Markdown names and HTML has in it."""
        self._parts.append(_Picture(path, _line(shows)))

    def write(self, markdown: Path, page: Path) -> None:
        """Write both forms."""
        write_text(markdown, self.to_markdown(markdown.parent))
        write_text(page, self.to_html())

    def to_markdown(self, folder: Path) -> str:
        """As Markdown for a file in this folder."""
        blocks = [f"# {_plain(self.title)}"]
        for part in self._parts:
            match part:
                case _Heading(text, level):
                    blocks.append(f"{'#' * level} {_plain(text)}")
                case _Text(text):
                    blocks.append(_plain(text))
                case _List(items):
                    blocks.append("\n".join(f"- {_plain(item)}" for item in items))
                case _Code(text):
                    fence = "```" if "```" not in text else "`" * 8
                    blocks.append(f"{fence}\n{text}\n{fence}")
                case _Table(rows):
                    blocks.append(markdown_table(rows))
                case _Picture(path, shows):
                    where = path.relative_to(folder).as_posix()
                    blocks.append(f"![{_plain(shows)}]({where})")
        return "\n\n".join(blocks) + "\n"

    def to_html(self) -> str:
        """As one HTML file with the pictures in it."""
        title = html.escape(self.title)
        blocks = [f"<h1>{title}</h1>"]
        for part in self._parts:
            match part:
                case _Heading(text, level):
                    blocks.append(f"<h{level}>{html.escape(text)}</h{level}>")
                case _Text(text):
                    blocks.append(f"<p>{html.escape(text)}</p>")
                case _List(items):
                    inner = "".join(f"<li>{html.escape(item)}</li>" for item in items)
                    blocks.append(f"<ul>{inner}</ul>")
                case _Code(text):
                    blocks.append(f"<pre>{html.escape(text)}</pre>")
                case _Table(rows):
                    blocks.append(_html_table(rows))
                case _Picture(path, shows):
                    content = base64.b64encode(path.read_bytes()).decode()
                    alt = html.escape(shows, quote=True)
                    blocks.append(f'<p><img src="data:image/png;base64,{content}" alt="{alt}"></p>')
        body = "\n".join(blocks)
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
            f"<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
        )


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, whose first row is its head."""
    lines = [" | ".join(_plain(_line(cell)) for cell in row) for row in rows]
    marks = " | ".join("---:" if figures else "---" for figures in _columns_of_figures(rows))
    return "\n".join(f"| {line} |" for line in [lines[0], marks, *lines[1:]])


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    kinds = [' class="figures"' if figures else "" for figures in _columns_of_figures(rows)]

    def line(tag: str, row: Sequence[str]) -> str:
        cells = zip(kinds, row, strict=True)
        return "".join(f"<{tag}{kind}>{html.escape(cell)}</{tag}>" for kind, cell in cells)

    lines = [line("th", rows[0]), *(line("td", row) for row in rows[1:])]
    return "<table>" + "".join(f"<tr>{cells}</tr>" for cells in lines) + "</table>"


def _columns_of_figures(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Whether each column below the head has figures alone, which are set to the right."""
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(rows[0])
    return [any(cells) and all(_FIGURE.match(cell) for cell in cells if cell) for cells in columns]


def _line(text: str) -> str:
    """On one line, with a question mark for what is not to be seen."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: no markup of a name becomes one of the page."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text
