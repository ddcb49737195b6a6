"""A few pages of the documentation as Sphinx builds them: the whole takes half a minute."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["DOCS", "build_docs"]

DOCS = Path(__file__).parents[2] / "docs"

# Those of docs/conf.py that a page in a browser depends on.
SETTINGS = [
    "html_theme=furo",
    "html_copy_source=0",
    "html_static_path=static",
    "html_css_files=pages.css",
    "html_js_files=accessible.js",
]


def build_docs(folder: Path, text_by_name: dict[str, str]) -> Path:
    """Build these pages, index.rst among them; return the folder.

    Skips the test where Sphinx or furo is missing.
    """
    if not importlib.util.find_spec("furo"):
        pytest.skip("needs Sphinx and furo")
    source, site = folder / "source", folder / "site"
    shutil.copytree(DOCS / "static", source / "static")
    shutil.copytree(DOCS / "story/traces", source / "story/traces")
    for name, text in text_by_name.items():
        (source / name).write_text(text, encoding="utf-8")
    options = [option for setting in SETTINGS for option in ("-D", setting)]
    command = [sys.executable, "-m", "sphinx", "-qWC", *options, source, site]
    subprocess.run(command, check=True, timeout=120)
    return site
