"""What a release states more than once is the same everywhere; and its extras."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tornado

import crawler_app
import gencoro

ROOT = Path(__file__).parent.parent
CHANGELOG = ROOT / "CHANGELOG.md"


def test_packages_and_changelog_have_one_version():
    heading = next(
        line for line in CHANGELOG.read_text("utf-8").splitlines() if line[:3] == "## "
    )

    assert heading.split()[1] == gencoro.__version__ == crawler_app.__version__


def test_hosted_checks_name_tests_that_exist():
    named = re.findall(
        r"\btests/\S+\.py", (ROOT / ".github/workflows/ci.yml").read_text()
    )

    assert len(named) > 10
    assert [file for file in named if not (ROOT / file).exists()] == []


@pytest.fixture
def without_extras(tmp_path):
    """Return a function that runs Python with the two packages and Tornado only."""
    for package in (ROOT / "gencoro", ROOT / "crawler_app", Path(tornado.__path__[0])):
        (tmp_path / package.name).symlink_to(package)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("arguments", [("demo",), ("crawl", "--help")])
def test_crawler_without_its_extra_names_it(without_extras, arguments):
    ended = without_extras("-m", "crawler_app", *arguments)

    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith("gencrawl: No module named ")
    assert line.endswith("; pip install 'gencoro[crawler]'")


def test_names_of_the_crawler_without_its_extra_name_it(without_extras):
    ended = without_extras("-c", "from crawler_app import Crawler")

    assert ended.returncode == 1
    assert "ModuleNotFoundError: install the crawler with: pip" in ended.stderr
    assert not without_extras("-c", "import crawler_app, gencoro.gen").returncode
