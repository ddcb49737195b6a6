"""``python -m gencoro``: usage errors in one line, and its version."""

import configparser
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gencoro
from gencoro.__main__ import FAILED, MISUSED, main
from gencoro.needs_tornado import NEEDED


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("docto x", "COMMAND is 'docto'; it must be run or doctor or convert or pst"),
        (
            "doctor x --format jsn",
            "--format is 'jsn'; it must be text or json; did you",
        ),
        ("convert", "the following arguments are required: PATH; see `python -m genco"),
        (
            "convert x --paln",
            "unrecognized arguments: --paln; see `python -m gencoro --",
        ),
    ],
)
def test_usage_error_is_one_line(capsys, words, complaint):
    with pytest.raises(SystemExit) as ended:
        main(words.split())

    assert ended.value.code == MISUSED
    shown = capsys.readouterr().err
    assert f": {complaint}" in shown
    assert shown.count("\n") == 1


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"gencoro {gencoro.__version__}\n"


@pytest.fixture
def beside_old_tornado(tmp_path):
    """Return a function that runs Python with a Tornado that a pin has brought."""
    package = tmp_path / "tornado"
    package.mkdir()
    (package / "__init__.py").write_text(
        "version = '4.5.3'\nversion_info = (4, 5, 3, 0)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(gencoro.__file__).parents[1])])

    def run(*words):
        return subprocess.run(
            [sys.executable, *words],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    return run


def test_pinned_tornado_is_told_in_one_line(beside_old_tornado):
    done = beside_old_tornado("-m", "gencoro", "run", "x.py")

    assert (done.returncode, done.stdout) == (FAILED, "")
    _check_complaint(done.stderr)


def test_pinned_tornado_is_told_by_each_command(beside_old_tornado):
    source = "from gencoro.__main__ import main\n"
    for words in ("doctor .", "convert .", "--help"):
        source += f"print(main({words.split()!r}))\n"

    done = beside_old_tornado("-c", source)

    lines = done.stderr.splitlines(keepends=True)
    assert (done.stdout, len(lines)) == (f"{FAILED}\n" * 3, 3)
    for line in lines:
        _check_complaint(line)


def _check_complaint(text):
    needed = ".".join(map(str, NEEDED))
    assert text.startswith("gencoro: Tornado 4.5.3 is installed, and gencoro ")
    assert f"`pip install 'tornado>={needed}'`" in text
    assert "`pip install --no-deps`" in text
    assert text.count("\n") == 1


def test_pinned_tornado_is_told_by_an_import(beside_old_tornado):
    source = "import importlib\n"
    for module in ("compat", "ioloop", "testing", "virtual_clock"):
        source += f"try: importlib.import_module('gencoro.{module}')\n"
        source += "except ImportError as error: print(error)\n"

    lines = beside_old_tornado("-c", source).stdout.splitlines()

    complaints = [line for line in lines if "Tornado 4.5.3 is installed, and" in line]
    assert len(complaints) == 4


def test_coroutines_run_beside_any_tornado(beside_old_tornado):
    source = (
        "import asyncio\nfrom gencoro import gen\n@gen.coroutine\ndef main(): yield"
    )
    source += "\nasync def run(): await main()\nasyncio.run(run())"

    assert beside_old_tornado("-c", source).stderr == ""
    assert beside_old_tornado("-m", "gencoro", "--version").returncode == 0


def test_needed_tornado_is_that_of_the_metadata():
    config = configparser.ConfigParser()
    config.read(Path(__file__).parents[2] / "setup.cfg")

    needed = config["options"]["install_requires"].strip()
    assert needed == "tornado >=" + ".".join(map(str, NEEDED))
