"""Commands that read a whole crawl: they say how far they are, and Ctrl-C ends them."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

# Says how far it is with each URL, so that what it says fills a pipe that nobody reads,
# and it cannot end before it is interrupted.
COMMAND = """
import sys
from crawler_app.commands.main import main
from crawler_app import progress
from crawler_app.terminal import steps

steps.EVERY_S, progress.ITEMS_PER_STEP = 0.0, 1
sys.exit(main(sys.argv[1:]))
"""
URLS = 5_000


@contextlib.contextmanager
def started(*arguments, stdout):
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["export"], "exporting URLs"),
        (["export", "--format", "csv"], "exporting URLs"),
        (["status"], "reading URLs"),
        (["status", "--json"], "reading URLs"),
    ],
)
def test_ctrl_c_ends_with_130_and_leaves_no_half_file(
    crawled, tmp_path, arguments, what
):
    command, *options = arguments
    output = tmp_path / "output"
    directory = crawled(queued=URLS)
    with (
        output.open("w") as file,
        started(command, directory.path, *options, stdout=file) as process,
    ):
        lines = [process.stderr.readline() for _ in range(1_000)]
        assert output.stat().st_size > 0 or command == "status"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait() == 130

    assert lines[-1] == f"{what} 999 of {URLS:,}\n"
    assert "Traceback" not in rest
    assert output.read_text() == ""


def test_ctrl_c_leaves_what_was_in_the_file_before(crawled, tmp_path):
    output = tmp_path / "output"
    output.write_text("precious\n")
    directory = crawled(queued=URLS)

    with (
        output.open("a") as file,
        started("export", directory.path, stdout=file) as process,
    ):
        for _ in range(1_000):
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait() == 130

    assert output.read_text() == "precious\n"


def test_export_says_how_far_it_is_and_gives_all(crawled, tmp_path):
    directory = crawled(queued=3)
    with (
        (tmp_path / "output").open("w") as file,
        started("export", directory.path, stdout=file) as process,
    ):
        said = process.stderr.read()
        assert process.wait() == 0

    assert said.splitlines() == [f"exporting URLs {n} of 3" for n in range(3)]
    assert len((tmp_path / "output").read_text().splitlines()) == 3
