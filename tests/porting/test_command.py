"""The command ``convert``: what it shows, what it writes, and what it leaves."""

import json
import os
import pathlib
import stat
import subprocess
import sys

import pytest

from gencoro.__main__ import main
from gencoro.compat.doctor import files
from gencoro.porting.conversion import convert

pytestmark = pytest.mark.once

CHAIN = """\
from tornado import gen
from tornado.ioloop import IOLoop


@gen.coroutine
def inner(number):
    yield gen.sleep(0.001)
    raise gen.Return(number)


@gen.coroutine
def outer():
    raise gen.Return((yield inner(1)) + (yield inner(2)))


if __name__ == "__main__":
    print(IOLoop.current().run_sync(outer))
"""

CAUGHT = """\
from tornado import gen


@gen.coroutine
def caught():
    try:
        raise gen.Return((yield gen.sleep(0)))
    except Exception:
        pass
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "chain.py").write_text(CHAIN)
    (tmp_path / "caught.py").write_text(CAUGHT)
    return tmp_path


def test_diff_is_shown_and_nothing_is_written(program, capsys):
    status = main(["convert", str(program)])

    shown = capsys.readouterr()
    assert status == 0
    assert "\n-@gen.coroutine\n-def inner(number):\n" in shown.out
    assert "\n+async def inner(number):\n" in shown.out
    assert "caught.py:5: caught stays: GC905 " in shown.err
    assert "3 coroutines: 2 bare async def (66 %), 1 left" in shown.err
    assert (program / "chain.py").read_text() == CHAIN


def test_diff_can_be_applied(program, capsys, monkeypatch):
    texts = {
        "chain.py": CHAIN.encode(),
        "last.py": CHAIN.rstrip("\n").encode(),
        "old mac.py": CHAIN.replace("\n", "\r").encode(),
    }
    for name, text in texts.items():
        (program / name).write_bytes(text)
    monkeypatch.chdir(program)
    main(["convert", "."])
    diff = capsys.readouterr().out
    main(["convert", str(program), "--write"])
    expected = {path.name: path.read_bytes() for path in program.glob("*.py")}
    assert all(expected[name] != text for name, text in texts.items())
    for name, text in texts.items():
        (program / name).write_bytes(text)

    subprocess.run(["git", "apply"], input=diff.encode(), cwd=program, check=True)

    assert {path.name: path.read_bytes() for path in program.glob("*.py")} == expected


def test_files_keep_their_modes_and_links(program):
    script = program / "chain.py"
    script.chmod(0o750)
    link = program / "link.py"
    link.symlink_to(script)

    main(["convert", str(link), "--write"])

    assert link.is_symlink()
    assert "async def inner" in script.read_text()
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert sorted(os.listdir(program)) == ["caught.py", "chain.py", "link.py"]


@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_files_are_all_written_or_none(program, monkeypatch, capsys, failing, error):
    (program / "z.py").write_text(CHAIN)
    real, calls = getattr(os, failing), []

    def fail_at_the_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise error
        return real(*args)

    monkeypatch.setattr(files.os, failing, fail_at_the_second)

    status = main(["convert", str(program), "--write"])

    is_full = isinstance(error, OSError)
    assert status == (3 if is_full else 130)
    why = "the disk is full" if is_full else "interrupted"
    assert capsys.readouterr().err == f"convert: {why}; nothing was written\n"
    assert {path.name: path.read_text() for path in program.iterdir()} == {
        "caught.py": CAUGHT,
        "chain.py": CHAIN,
        "z.py": CHAIN,
    }


def test_file_that_is_read_only_is_not_replaced(program, monkeypatch, capsys):
    monkeypatch.setattr(files.os, "access", lambda path, mode: mode != os.W_OK)

    assert main(["convert", str(program), "--write"]) == 3

    said = capsys.readouterr().err
    assert said.startswith("convert: [Errno 13] Permission denied: ")
    assert said.endswith("chain.py'; nothing was written\n")
    assert (program / "chain.py").read_text() == CHAIN


def test_file_that_was_edited_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "m.py"
    path.write_text("edited")

    with pytest.raises(files.FileChanged):
        files.replace_files({str(path): b"read"}, {str(path): b"converted"})

    assert path.read_text() == "edited"


def test_check_fails_until_all_is_converted(program, capsys):
    assert main(["convert", str(program), "--check"]) == 1
    assert "async def" not in (program / "chain.py").read_text()

    main(["convert", str(program), "--write"])

    assert main(["convert", str(program), "--check"]) == 0


def test_plan_has_callees_first_and_what_stays(program, capsys):
    main(["convert", str(program), "--plan"])

    plan = capsys.readouterr().out
    assert plan.index("1. inner") < plan.index("2. outer") < plan.index("These stay:")
    assert "caught.py:5\n          GC905 " in plan
    assert "3 coroutines: 2 bare async def (66 %), 1 left" in plan


def test_selection_of_functions_leaves_others_alone(program, capsys):
    main(["convert", str(program), "--only-functions", r"chain\.inner$", "--write"])

    text = (program / "chain.py").read_text()
    assert "async def inner" in text
    assert "@gen.coroutine\ndef outer" in text


def test_excluded_files_are_read_and_not_converted(program, capsys):
    (program / "user.py").write_text("import chain\nchain.inner(1)\n")

    main(["convert", str(program), "--exclude", "cha*.py", "--format=json"])
    excluded = json.loads(capsys.readouterr().out)
    main(["convert", str(program), "--exclude", "user.py", "--format=json"])
    read = json.loads(capsys.readouterr().out)

    assert (excluded["bare"], excluded["files"]) == ([], [])
    assert [f["function"] for f in read["bare"]] == ["outer"]


def test_interactive_asks_and_writes(program, monkeypatch, capsys):
    answers = iter("yn")
    monkeypatch.setattr("builtins.input", lambda question: next(answers))

    assert main(["convert", str(program), "--interactive"]) == 0

    text = (program / "chain.py").read_text()
    assert "async def inner" in text
    assert "@gen.coroutine\ndef outer" in text
    assert "+async def inner" in capsys.readouterr().out


def test_interactive_quit_writes_nothing(program, monkeypatch, capsys):
    answers = iter("yq")
    monkeypatch.setattr("builtins.input", lambda question: next(answers))

    assert main(["convert", str(program), "--interactive"]) == 0

    assert (program / "chain.py").read_text() == CHAIN
    assert "nothing was written" in capsys.readouterr().err


def test_options_are_read_from_pyproject(program, monkeypatch, capsys):
    (program / "pyproject.toml").write_text(
        '[tool.gencoro.convert]\nexclude = ["chain.py"]\n'
    )
    monkeypatch.chdir(program)

    main(["convert", ".", "--write"])
    assert (program / "chain.py").read_text() == CHAIN
    main(["convert", ".", "--write", "--exclude=nothing"])
    assert "async def" in (program / "chain.py").read_text()


def test_formatted_file_stays_formatted(program):
    main(["convert", str(program), "--write"])

    text = (program / "chain.py").read_text()
    assert "    return await inner(1) + await inner(2)\n" in text


def test_evidence_of_a_run_decides(tmp_path, capsys):
    script = tmp_path / "table.py"
    script.write_text(
        CHAIN.replace("(yield inner(1))", "(yield TABLE[0](1))").replace(
            "\n\nif __name__", "\n\nTABLE = [inner]\n\nif __name__"
        )
    )
    recording = tmp_path / "seen"
    command = [
        sys.executable,
        "-m",
        "gencoro",
        "run",
        "--record",
        str(recording),
        str(script),
    ]
    subprocess.run(command, check=True, capture_output=True)

    main(["convert", str(script), "--format=json"])
    without = json.loads(capsys.readouterr().out)
    main(["convert", str(script), "--format=json", "--evidence", str(recording)])
    seen = json.loads(capsys.readouterr().out)

    assert [f["function"] for f in without["bare"]] == ["outer"]
    assert [f["function"] for f in seen["bare"]] == ["inner", "outer"]
    assert seen["listed"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--skip=GC999"], "there is no edit GC999"),
        (["--only-functions=("], "is not a pattern"),
        (["--evidence=nowhere"], "No such file"),
        (["--interactive", "--format=json"], "--interactive shows text"),
        (["--plan", "--format=sarif"], "not as sarif"),
        (["--write", "--check"], "not allowed with"),
        (["--plan", "--write"], "not allowed with"),
    ],
)
def test_wrong_options_are_an_error(program, capsys, options, said):
    try:
        status = main(["convert", str(program), *options])
    except SystemExit as exc:
        status = exc.code

    assert status in (2, 3)
    assert said in capsys.readouterr().err


def test_damaged_evidence_is_an_error(program, capsys):
    (program / "seen").write_text("{}")

    assert main(["convert", str(program), "--evidence", str(program / "seen")]) == 2
    assert "is not a recording" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nowhere.py", "a.ipynb"])
def test_target_that_does_not_exist_is_an_error(tmp_path, capsys, name):
    assert main(["convert", str(tmp_path / name)]) == 2
    assert "convert: " in capsys.readouterr().err


def test_file_is_read_once_and_what_cannot_be_read_is_named(program, capsys):
    (program / "link.py").symlink_to(program / "chain.py")
    (program / ".#lock.py").symlink_to("nowhere")
    again = os.path.relpath(program / "chain.py")

    assert main(["convert", str(program), again, "--write"]) == 0

    shown = capsys.readouterr().err
    assert ".#lock.py:1: the file cannot be read or parsed: No such file" in shown
    assert (program / "link.py").is_symlink()
    assert "async def inner" in (program / "chain.py").read_text()


def test_file_that_cannot_be_parsed_is_named(tmp_path, capsys):
    (tmp_path / "old.py").write_text("print 1\n")
    (tmp_path / "keyword.py").write_text("\n\ndef f(async=None): pass\n")

    assert main(["convert", str(tmp_path)]) == 0

    shown = capsys.readouterr().err
    assert "old.py:1: the file cannot be read or parsed: this is Python 2" in shown
    assert "keyword.py:3: the file cannot be read or parsed: async or await" in shown


def test_example_of_the_documentation_is_right():
    folder = pathlib.Path(__file__).parents[2] / "docs/converted"
    before = (folder / "before.py").read_bytes()

    found = convert({"before.py": before})

    assert found.sources == {"before.py": (folder / "after.py").read_bytes()}


def test_places_are_those_of_the_file_that_the_user_sees(program, capsys):
    main(["convert", str(program), "--write"])

    text = (program / "caught.py").read_text() + (program / "chain.py").read_text()
    assert "async def" in text
    (program / "more.py").write_text(
        CHAIN.replace("(yield inner(1))", "(yield x.y(1))")
    )
    main(["convert", str(program / "more.py"), "--write"])
    shown = capsys.readouterr().err
    line = int(shown.partition("more.py:")[2].partition(":")[0])
    assert "x.y(1)" in (program / "more.py").read_text().splitlines()[line - 1]
