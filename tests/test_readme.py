"""What the README promises: its example runs, and it has one command to run and to test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("heading", ["Run it", "Test it"])
def test_heading_has_exactly_one_command(heading):
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]

    (block,) = fenced_blocks(section, "sh")

    assert len(block.splitlines()) == 1
    assert "-m venv" in block
