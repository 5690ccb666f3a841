"""Settings of the documentation: ``make docs`` builds it, offline, with warnings as errors."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from pages import BLOB, read_source  # noqa: E402
from pygments.lexers import TextLexer  # noqa: E402

import synthprobe_data  # noqa: E402

project = "synthprobe"
author = "the synthprobe developers"
project_copyright = "the synthprobe developers"
release = version = synthprobe_data.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["notebooks/*.py"]
myst_enable_extensions = ["deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
default_role = "literal"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"synthprobe {release}"
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"

# `make linkcheck` asks other servers. Files of the repository are looked up on the disk, by
# tests/test_links.py: on the server they are those of another commit. The rest is made up.
linkcheck_ignore = [re.escape(BLOB), r"https://example\.org/"]
linkcheck_timeout = 20
linkcheck_retries = 2


def setup(app: object) -> None:
    """Have the text of every page made ready before it is parsed."""
    app.add_lexer("mermaid", TextLexer)  # type: ignore[attr-defined]
    app.connect("source-read", read_source)  # type: ignore[attr-defined]
