"""The manual page is current, and roff accepts it."""

import re
import shutil
import subprocess

import pytest

from docs.write_manual import PAGE, render


def test_manual_page_is_current():
    assert PAGE.read_text() == render(), "run `python docs/write_manual.py`"


@pytest.mark.once
def test_manual_page_has_no_warnings_and_every_command():
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")

    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", "-ww", PAGE],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    for command in ("gencrawl crawl", "gencrawl completion", "gencrawl postgres work"):
        assert re.search(rf"(?m)^ +{command}$", done.stdout)
