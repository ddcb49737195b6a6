"""What the README promises: its example runs, its pages exist, and it has one command to
run, one to test, and one to build the documentation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def fenced_blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_example_runs_as_it_stands():
    (example,) = fenced_blocks(README, "python")

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert done.stderr == ""
    assert done.stdout == "tea is here and cake is here\n"


def test_pages_are_listed_in_the_order_of_the_start_page():
    start = (DOCS / "index.rst").read_text(encoding="utf-8")
    pages = re.findall(
        r"^   ([a-z/]+)$", start.split(".. toctree::", 1)[1], re.MULTILINE
    )
    order = [page for page in pages if (DOCS / f"{page}.rst").exists()]

    listed = re.findall(
        r"^- \[`docs/([a-z/]+)\.rst`\]\(docs/\1\.rst\)", README, re.MULTILINE
    )

    assert set(listed) <= set(order)
    assert listed == sorted(listed, key=order.index)


@pytest.mark.parametrize("heading", ["Run it", "Test it", "Read on"])
def test_heading_has_exactly_one_command(heading):
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]

    (block,) = fenced_blocks(section, "sh")

    assert len(block.splitlines()) == 1
    assert "-m venv" in block
