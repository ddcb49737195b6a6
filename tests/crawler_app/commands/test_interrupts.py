"""Commands that read a whole crawl show progress and end on Ctrl-C."""

import signal
import subprocess

import pytest

from crawler_app.base import progress
from crawler_app.show.terminal import plain_text, progress_display

# Says how far it is with each URL, so that what it says fills a pipe that is not read,
# and it cannot end before it is interrupted.
COMMAND = """
import sys
from crawler_app.commands.main import main
from crawler_app.base import progress
from crawler_app.show.terminal import plain_text, progress_display

progress_display.EVERY_S = plain_text.EVERY_S = 0.0
progress.ITEMS_PER_STEP = 1
sys.exit(main(sys.argv[1:]))
"""
URLS = 5_000


@pytest.mark.parametrize("before", ["", "precious\n"])
def test_ctrl_c_exits_with_130_and_restores_the_file(
    crawled, start_script, tmp_path, before
):
    output = tmp_path / "output"
    output.write_text(before)
    directory = crawled(queued=URLS)
    with output.open("a" if before else "w") as file:
        words = ("export", directory.path)
        process = start_script(COMMAND, *words, stdout=file, stderr=subprocess.PIPE)
    lines = [process.stderr.readline() for _ in range(1_000)]
    assert output.stat().st_size > len(before)
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()

    assert process.wait() == 130
    assert lines[-1] == f"exporting URLs 999 of {URLS:,}\n"
    assert "Traceback" not in rest
    assert output.read_text() == before


def test_export_reports_progress_and_writes_everything(crawled, gencrawl, monkeypatch):
    monkeypatch.setattr(progress_display, "EVERY_S", 0.0)
    monkeypatch.setattr(plain_text, "EVERY_S", 0.0)
    monkeypatch.setattr(progress, "ITEMS_PER_STEP", 1)

    ended = gencrawl("export", crawled(queued=3).path)

    assert ended.status == 0
    assert ended.err.splitlines() == [f"exporting URLs {n} of 3" for n in range(4)]
    assert len(ended.out.splitlines()) == 3


# Interrupted when a module is looked for.
IMPORTS = """
import os, signal, sys

interrupted = sys.argv[1]

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from crawler_app.__main__ import main
sys.argv[1:] = ["status", "no-such-directory"]
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module", ["argparse", "crawler_app.commands.main", "crawler_app.run.directory"]
)
def test_ctrl_c_is_quiet_while_modules_are_imported(start_script, module):
    process = start_script(IMPORTS, module, stderr=subprocess.PIPE)

    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 130
