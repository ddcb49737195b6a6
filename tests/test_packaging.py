"""What a release states more than once is the same everywhere."""

from pathlib import Path

import crawler_app
import gencoro

CHANGELOG = Path(__file__).parent.parent / "CHANGELOG.md"


def test_packages_and_changelog_have_one_version():
    heading = next(
        line for line in CHANGELOG.read_text("utf-8").splitlines() if line[:3] == "## "
    )

    assert heading.split()[1] == gencoro.__version__ == crawler_app.__version__
