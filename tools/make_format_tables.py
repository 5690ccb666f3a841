"""Write the tables of ``synthprobe_data/shards/FORMAT.md`` from the declarations in the code.

``--check`` changes nothing and fails if they differ.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

import synthprobe_data
from synthprobe_data import DATASETS
from synthprobe_data.dataset import ColumnSpec
from synthprobe_data.shards.layout import COMMON_ATTRIBUTES
from synthprobe_data.shards.manifest import Manifest, ShardEntry

PAGE: Final = Path(synthprobe_data.__file__).parent / "shards" / "FORMAT.md"
_OURS: Final = "synthprobe_data."


def attributes_table() -> str:
    """The attributes that every file has, and those of single datasets."""
    rows = [(f"`{name}`", "all", meaning) for name, meaning in COMMON_ATTRIBUTES.items()]
    for dataset in DATASETS.values():
        if _is_ours(dataset.name):
            own = ", ".join(f"`{name}`" for name in dataset.file_attributes(dataset.config()))
            rows.append((own, f"`{dataset.name}`", dataset.card.attributes))
    return _table(("attribute", "datasets", "meaning"), rows)


def columns_table() -> str:
    """The columns of our datasets."""
    rows = []
    for dataset in DATASETS.values():
        if _is_ours(dataset.name):
            rows += [
                (f"`{dataset.name}`", f"`{c.name}`", _type(c), c.role, _meaning(c))
                for c in dataset.columns
            ]
    return _table(("dataset", "column", "type and shape", "role", "meaning"), rows)


def manifest_table() -> str:
    """The fields of the manifest."""
    rows = [("`synthprobe_format`", "of the folder"), *_fields(Manifest, "of the folder")]
    return _table(("field", "where"), [*rows, *_fields(ShardEntry, "of each of `shards`")])


def page_with_tables(page: str) -> str:
    """The page, with its tables as the code has them."""
    tables = {
        "attributes": attributes_table(),
        "columns": columns_table(),
        "manifest": manifest_table(),
    }
    for name, table in tables.items():
        page = re.sub(
            rf"<!-- {name} -->\n.*?<!-- end -->",
            _always(f"<!-- {name} -->\n{table}<!-- end -->"),
            page,
            flags=re.DOTALL,
        )
    return page


def _always(text: str) -> Callable[[re.Match[str]], str]:
    return lambda _: text  # taken as it is, backslashes included


def _is_ours(name: str) -> bool:
    return DATASETS[name].config.__module__.startswith(_OURS)


def _type(column: ColumnSpec) -> str:
    return f"{column.dtype} ({', '.join(['n', *map(str, column.dims)])})"


def _meaning(column: ColumnSpec) -> str:
    return column.meaning + (f" (with `{column.only_if}`)" if column.only_if else "")


def _fields(kind: type, where: str) -> list[tuple[str, str]]:
    return [(f"`{field.name}`", where) for field in fields(kind)]


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if it differs")
    given = parser.parse_args()
    before = PAGE.read_text("utf-8")
    after = page_with_tables(before)
    if given.check:
        return int(before != after)
    PAGE.write_text(after, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
