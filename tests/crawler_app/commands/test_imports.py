"""Commands import little before they run."""

import json
import subprocess
import sys

import pytest

from tests.helpers.scripts import IMPORTS

# Prints the modules that a command has imported, on the last line.
SCRIPT = """
import json, sys
from crawler_app.commands.main import main
try:
    main(sys.argv[1:])
except SystemExit:  # argparse ends so
    pass
print()
print(json.dumps(list(sys.modules)))
"""

# Each takes longer to import than the commands below take to run.
LOOP = {"asyncio", "tornado", "gencoro"}
DRAWING = {"rich"}
SETTINGS = {"crawler_app.base.config"}
CODE = {f"crawler_app.{wing}" for wing in ("web", "store")}


@pytest.fixture
def imported():
    """Return a function that runs a command; it returns the modules that are imported."""

    def imported(*words):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *map(str, words)],
            env=IMPORTS,
            capture_output=True,
            text=True,
            check=True,
        )
        return set(json.loads(done.stdout.splitlines()[-1]))

    return imported


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        ("--version", LOOP | DRAWING | CODE | SETTINGS),
        ("--help", LOOP | DRAWING | CODE | SETTINGS),
        ("crwl", LOOP | DRAWING | CODE | SETTINGS),
        ("crawl --help", LOOP | DRAWING | CODE),
        ("check --help-all", LOOP | DRAWING | CODE),
        ("postgres work --help", LOOP | DRAWING | CODE),
        ("completion bash", LOOP | DRAWING | CODE),
    ],
)
def test_parsing_and_help_import_no_command_code(imported, words, unneeded):
    assert not imported(*words.split()) & unneeded


@pytest.mark.parametrize("words", ["status", "search telescope", "export"])
def test_reading_command_imports_no_event_loop(imported, crawled, words):
    command, *rest = words.split()
    modules = imported(command, crawled(done=2).path, *rest)

    assert "crawler_app.store.frontier.sqlite" in modules
    assert not modules & (LOOP | DRAWING | {"crawler_app.web"})
