"""The conversion of a program as a whole."""

import subprocess
import sys

import pytest

from gencoro.compat.doctor.eras import MARK
from gencoro.porting.conversion import convert
from gencoro.porting.decisions import Options
from tests.helpers.porting.converting import HEAD, convert_text, converted

CHAIN = """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def inner(number):
    yield gen.sleep(0.001)
    raise gen.Return(number)

@gen.coroutine
def outer():
    one, two = yield [inner(1), inner(2)]
    raise gen.Return(one + two + (yield inner(3)))

print(IOLoop.current().run_sync(outer))
"""


@pytest.mark.parametrize("name", ["inner", "outer", "inner|outer", "nothing"])
def test_program_that_is_converted_in_part_runs(tmp_path, name):
    options = Options(is_selected=lambda _module, own: own in name.split("|"))
    text = convert({"m.py": CHAIN.encode()}, options).sources.get(
        "m.py", CHAIN.encode()
    )
    path = tmp_path / "m.py"
    path.write_bytes(text)

    ran = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=True
    )

    assert (ran.stdout, ran.stderr) == ("6\n", "")
    assert text.count(b"async def") == sum(
        n in ("inner", "outer") for n in name.split("|")
    )


def test_second_conversion_changes_nothing():
    once = converted(CHAIN)

    assert convert_text(once).sources == {}


def test_no_line_is_added():
    assert converted(CHAIN).count("\n") == CHAIN.count("\n") - 2


def test_files_that_cannot_be_parsed_are_listed_and_others_converted():
    found = convert_text(CHAIN, files={"old.py": "print 1\n", "new.py": "f(async=1)\n"})

    assert list(found.sources) == ["m.py"]
    assert [(f.file, f.line, f.reason) for f in found.listed] == [
        ("old.py", 1, "unreadable"),
        ("new.py", 1, "unreadable"),
    ]


def test_tests_of_tornado_5_get_a_comment_when_nothing_else_shows_it():
    source = """\
from tornado import gen
from tornado.testing import AsyncTestCase, gen_test

class Test(AsyncTestCase):
    @gen_test
    def test(self):
        yield gen.Task(self.io_loop.call_later, 1)
"""

    text = converted(source)

    assert "        await gen.sleep(1)\n" in text
    assert text.startswith(f"{MARK}\nfrom tornado import gen\n")


def test_deep_source_is_listed():
    found = convert_text(CHAIN, files={"deep.py": f"x = {'+'.join('1' * 2000)}\n"})

    assert [f.text for f in found.listed] == ["it is nested too deeply"]


def test_package_keeps_its_imports():
    source = f"{HEAD}@gen.coroutine\ndef f():\n    raise gen.Return(1)\n"

    found = convert_text(files={"pack/__init__.py": source})

    assert b"from tornado import gen" in found.sources["pack/__init__.py"]
