"""The command ``convert``: what it shows, what it writes, and what it leaves."""

import json
import os
import re
import stat
import subprocess
import sys
import textwrap

import pytest
from gencoro.porting.fixers.to_async import TO_ASYNC
from gencoro.porting.fixers.to_coroutine import TO_COROUTINE
from gencoro.porting.source import files

from gencoro.__main__ import main
from gencoro.compat.doctor.eras import MARK
from gencoro.porting.reasons import REASONS

pytestmark = pytest.mark.once

TASKS = """\
from tornado import gen
from tornado.testing import AsyncTestCase, gen_test

class Test(AsyncTestCase):
    @gen_test
    def test(self):
        self.io_loop.add_callback(lambda: 1 / 0)
        yield gen.Task(self.io_loop.add_callback)
"""

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

COMMENTED = """\
from tornado import gen
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop


@gen.engine
def load(
    url,  # the address
    callback,  # the callback
):
    response = yield gen.Task(
        AsyncHTTPClient().fetch,
        url,  # the same
    )
    yield gen.Task(
        IOLoop.current().add_timeout,  # a timer
        IOLoop.current().time() + 1,
    )
    callback(
        response.body  # the result
    )


@gen.coroutine
def main():
    page = yield gen.Task(
        load,  # an engine
        "http://127.0.0.1/",
    )
    return page
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
    assert "caught.py:7: GC905 caught stays: " in shown.err
    assert "2 functions converted in 1 file, 1 left as it is" in shown.err
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
    assert "caught.py:7\n          GC905 " in plan
    assert "2 of 3 functions can be converted (67 %)" in plan


def test_plan_groups_functions_that_call_each_other(tmp_path, capsys):
    (tmp_path / "m.py").write_text(
        textwrap.dedent("""\
        from tornado import gen

        @gen.coroutine
        def top():
            yield even(4)

        @gen.coroutine
        def even(n):
            raise gen.Return(n == 0 or (yield odd(n - 1)))

        @gen.coroutine
        def odd(n):
            raise gen.Return(n != 0 and (yield even(n - 1)))
        """)
    )

    main(["convert", str(tmp_path), "--plan", "--format=json"])

    steps = json.loads(capsys.readouterr().out)["steps"]
    groups = [sorted(f["function"] for f in group) for group in steps]
    assert groups == [["even", "odd"], ["top"]]


@pytest.mark.parametrize("name", ["inner", "outer"])
def test_program_that_is_converted_in_part_runs(program, name):
    main(["convert", str(program), "--only-functions", rf"chain\.{name}$", "--write"])

    script = program / "chain.py"
    assert script.read_text().count("async def") == 1
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("3\n", "")


def test_helper_is_moved_above_a_function_that_is_converted_later(tmp_path):
    script = tmp_path / "chain.py"
    script.write_text(
        textwrap.dedent("""\
        from tornado import gen
        from tornado.ioloop import IOLoop

        @gen.coroutine
        def first():
            raise gen.Return((yield [gen.sleep(0)]))

        @gen.coroutine
        def second():
            waiting = first()
            raise gen.Return((yield waiting))

        waiting = second()
        print(IOLoop.current().run_sync(lambda: waiting))
        """)
    )

    for name in ("second", "first"):
        main(["convert", str(script), "--only-functions", name, "--write"])

    text = script.read_text()
    assert text.count("async def") == 2
    assert text.count("def _starts_at_once(") == 1
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("[None]\n", "")


def test_selection_of_functions_leaves_other_modules_alone(tmp_path, capsys):
    text = """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.engine
def {0}(callback):
    callback(1)

@gen.coroutine
def main():
    print((yield gen.Task({0})))

IOLoop.instance().run_sync(main)
"""
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(text.format(name))

    options = ["--to=coroutine", "--only-functions", r"\.one$", "--write"]
    main(["convert", str(tmp_path), *options])

    assert (tmp_path / "two.py").read_text() == text.format("two")
    converted = (tmp_path / "one.py").read_text()
    assert "engine" not in converted
    assert "IOLoop.current()" in converted
    assert capsys.readouterr().err == (
        "1 function converted in 1 file, 0 left as they are\n"
    )


def test_function_that_needs_a_skipped_fixer_stays_whole(program, capsys):
    main(["convert", str(program / "chain.py"), "--skip=GC208"])

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("GC917") == 2


@pytest.mark.parametrize("option", ["--only=GC1", "--skip=GC201,X"])
def test_code_that_does_not_exist_is_an_error(program, capsys, option):
    assert main(["convert", str(program), option]) == 2
    assert "there is no fixer" in capsys.readouterr().err


def test_target_that_does_not_exist_is_an_error(tmp_path, capsys):
    assert main(["convert", str(tmp_path / "nowhere.py")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_file_is_read_once_and_what_cannot_be_read_is_named(program, capsys):
    (program / "link.py").symlink_to(program / "chain.py")
    (program / ".#lock.py").symlink_to("nowhere")
    again = os.path.relpath(program / "chain.py")

    assert main(["convert", str(program), again, "--write"]) == 0

    shown = capsys.readouterr().err
    assert ".#lock.py:1: GC921 the file cannot be read: No such file" in shown
    assert "2 functions converted in 1 file" in shown
    assert (program / "link.py").is_symlink()
    assert "async def inner" in (program / "chain.py").read_text()


def test_lines_are_those_of_the_file_that_the_user_sees(tmp_path, capsys):
    page = tmp_path / "page.py"
    page.write_text(
        """\
from tornado import gen, web

class Page(web.RequestHandler):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.sleep(0.01)
        text = yield gen.Task(self.settings["load"])
        self.finish(text)
"""
    )

    main(["convert", str(page)])
    before = capsys.readouterr().err
    main(["convert", str(page), "--write"])
    after = capsys.readouterr().err

    assert f"{page}:8: GC957" in before
    line = int(re.search(r":(\d+): GC957", after)[1])
    assert "gen.Task" in page.read_text().splitlines()[line - 1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--write", "--check"], "not allowed with"),
        (["--plan", "--write"], "not allowed with"),
        (["--plan", "--format=sarif"], "not as sarif"),
    ],
)
def test_options_that_exclude_each_other_are_an_error(program, capsys, options, said):
    try:
        status = main(["convert", str(program), *options])
    except SystemExit as exc:
        status = exc.code

    assert status == 2
    assert said in capsys.readouterr().err


def test_notebook_is_not_taken_for_a_module(tmp_path, capsys):
    (tmp_path / "a.ipynb").write_text("{}")

    assert main(["convert", str(tmp_path / "a.ipynb")]) == 2
    assert "is a notebook" in capsys.readouterr().err


def test_file_that_cannot_be_parsed_is_named(tmp_path, capsys):
    (tmp_path / "old.py").write_text("print 1\n")
    (tmp_path / "keyword.py").write_text("\n\ndef f(async=None): pass\n")

    assert main(["convert", str(tmp_path)]) == 0

    shown = capsys.readouterr().err
    assert "old.py:1: GC900 the file cannot be parsed: this is Python 2" in shown
    assert "keyword.py:3: GC900 the file cannot be parsed: async or await" in shown


@pytest.mark.parametrize("user", ["print load(callback=5)", "def f(: load"])
def test_function_that_an_unparsed_file_names_stays(tmp_path, capsys, user):
    text = """\
from tornado import gen

@gen.engine
def {0}(callback):
    callback(1)

@gen.coroutine
def main():
    print((yield gen.Task({0})))
"""
    (tmp_path / "first.py").write_text(text.format("load"))
    (tmp_path / "second.py").write_text(text.format("keep"))
    (tmp_path / "old.py").write_text(f"from first import *\n{user}\n")

    main(["convert", str(tmp_path), "--to=coroutine", "--write"])

    assert (tmp_path / "first.py").read_text() == text.format("load")
    assert "engine" not in (tmp_path / "second.py").read_text()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"x = {'+'.join('1' * 2000)}\n", "GC900"),
        ("x = (" + "'yes' " * 3000 + ")\n", "GC901"),
    ],
)
def test_deep_source_stays_and_is_named(tmp_path, capsys, text, code):
    head = "from tornado.ioloop import IOLoop\nloop = IOLoop.instance()\n"
    (tmp_path / "deep.py").write_text(head + text)
    (tmp_path / "flat.py").write_text(head)
    (tmp_path / "less.py").write_text(head + f"x = {'+'.join('1' * 500)}\n")

    assert main(["convert", str(tmp_path), "--to=coroutine", "--write"]) == 0

    said = capsys.readouterr().err
    assert f": {code} " in said
    assert said.count("it is nested too deeply") == 1
    assert (tmp_path / "deep.py").read_text() == head + text
    assert "current" in (tmp_path / "flat.py").read_text()
    assert "current" in (tmp_path / "less.py").read_text()


def test_json_has_the_diff_and_the_reasons(program, capsys):
    main(["convert", str(program), "--format=json"])

    found = json.loads(capsys.readouterr().out)
    assert [os.path.basename(f["file"]) for f in found["files"]] == ["chain.py"]
    assert {f["function"] for f in found["fixes"]} == {"inner", "outer"}
    assert [(r["line"], r["code"]) for r in found["refusals"]] == [(7, "GC905")]


def test_sarif_names_its_rules(program, capsys):
    main(["convert", str(program), "--format=sarif"])

    [run] = json.loads(capsys.readouterr().out)["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert rules == {f.code for f in (*TO_COROUTINE, *TO_ASYNC)} | {
        reason.code for reason in REASONS.values()
    }
    assert {result["ruleId"] for result in run["results"]} <= rules


def test_without_libcst_the_extra_is_named(program):
    hidden = "import sys; sys.modules['libcst'] = None; import gencoro.__main__ as m;"
    code = f"{hidden} sys.exit(m.main(['convert', {str(program)!r}]))"

    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 2
    assert ran.stderr == "convert: LibCST is needed: pip install 'gencoro[porting]'\n"


def test_comments_beside_a_removed_argument_stay(tmp_path, capsys):
    path = tmp_path / "shop.py"
    path.write_text(COMMENTED)

    main(["convert", str(path), "--write"])

    before = re.findall(r"# .*", COMMENTED)
    after = re.findall(r"# .*", path.read_text())
    assert [comment for comment in before if comment not in after] == ["# the callback"]
    assert "callback" not in re.sub(r"#.*", "", path.read_text())


@pytest.mark.parametrize(
    ("skipped", "is_marked"), [("GC211", True), ("GC211,GC117", False)]
)
def test_tests_of_tornado_5_get_a_comment_or_stay(tmp_path, capsys, skipped, is_marked):
    path = tmp_path / "shop_test.py"
    head = '#!/usr/bin/python\n# coding: utf-8\n"""Tests."""; import unittest\n\n'
    path.write_text(f"{head}# Of a task.\n{TASKS}")

    main(["convert", str(path), "--write", f"--skip={skipped}"])

    converted = path.read_text()
    assert (f"\n# Of a task.\n{MARK}\n" in converted) is is_marked
    assert ("gen.Task" in converted) is not is_marked
    assert ("GC969" in capsys.readouterr().err) is not is_marked
