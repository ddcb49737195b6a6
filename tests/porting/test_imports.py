"""Imports that a conversion needs, and those that go."""

import ast

import pytest

from gencoro.porting.imports import Wanted, tidy
from tests.helpers.porting.converting import convert_text, converted, reasons

GOING = [
    ("from tornado import gen", ""),
    ("from tornado import gen, web", "from tornado import web\n"),
    ("import os\n\nfrom tornado import gen", "import os\n"),
    (
        "from tornado.gen import coroutine as gen, sleep",
        "from tornado.gen import sleep\n",
    ),
    (
        "from tornado import (\n    gen,\n    web,\n)",
        "from tornado import (\n    web,\n)\n",
    ),
    (
        "from tornado import (\n    web,\n    gen,\n)",
        "from tornado import (\n    web,\n)\n",
    ),
    ("from tornado import gen  # noqa", "from tornado import gen  # noqa\n"),
    ("try:\n    from tornado import gen\nexcept E:\n    gen = 1", None),
]

ADDED = [
    ("import os\n", "import asyncio\nimport os\n"),
    ("import sys\n", "import asyncio\nimport sys\n"),
    (
        "import abc\nfrom os import path\n",
        "import abc\nimport asyncio\nfrom os import path\n",
    ),
    ("from tornado import web\n", "import asyncio\n\nfrom tornado import web\n"),
    ('"""Doc."""\nimport os\n', '"""Doc."""\nimport asyncio\nimport os\n'),
    (
        "from __future__ import annotations\n\nimport os\n",
        "from __future__ import annotations\n\nimport asyncio\nimport os\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), GOING)
def test_unused_name_goes(before, after):
    source = f"{before}\n\nx = 1\n"

    text = tidy(source.encode(), frozenset({"gen"}), [], keeps=False).decode()

    expected = source if after is None else f"{after}\nx = 1\n" if after else "x = 1\n"
    assert text == expected


@pytest.mark.parametrize(("before", "after"), ADDED)
def test_new_import_is_sorted(before, after):
    source = f"{before}\nx = 1\n"

    text = tidy(source.encode(), frozenset(), [Wanted("asyncio")], keeps=False)

    assert text.decode() == f"{after}\nx = 1\n"


def test_name_is_added_to_an_import():
    source = b"from tornado.gen import Return, coroutine, sleep\n"

    text = tidy(
        source, frozenset({"coroutine"}), [Wanted("tornado.gen", "multi")], False
    )

    assert text == b"from tornado.gen import Return, multi, sleep\n"


def test_import_that_becomes_too_long_is_wrapped():
    source = b"from tornado.gen import a_name_that_is_rather_long, one_more_that_is_much_longer, x\n"

    text = tidy(source, frozenset(), [Wanted("tornado.gen", "multi")], False).decode()

    assert text.startswith(
        "from tornado.gen import (\n    a_name_that_is_rather_long,\n    multi,\n"
    )


@pytest.mark.parametrize(
    ("imports", "decorator", "call"),
    [
        ("from tornado import gen", "gen.coroutine", "gen.multi"),
        ("import tornado.gen", "tornado.gen.coroutine", "tornado.gen.multi"),
        ("from tornado import gen as g", "g.coroutine", "g.multi"),
        ("from gencoro import gen", "gen.coroutine", "gen.multi"),
        ("from tornado.gen import coroutine", "coroutine", "multi"),
        (
            "import salt.ext.tornado.gen",
            "salt.ext.tornado.gen.coroutine",
            "salt.ext.tornado.gen.multi",
        ),
    ],
)
def test_gen_is_named_as_the_module_does(imports, decorator, call):
    source = f"{imports}\n\n@{decorator}\ndef main(f):\n    yield [f()]\n"

    text = converted(source)

    assert f"    await {call}([f()])\n" in text
    assert text.count("\n") == source.count("\n") - 1


def test_name_that_means_something_else_keeps_a_function():
    found = reasons(
        """\
        from tornado.gen import coroutine

        multi = gen = None

        @coroutine
        def main(f):
            yield [f()]
        """
    )

    assert found == {"main": "name-taken"}


@pytest.mark.parametrize(
    "other",
    [
        "from m import gen",
        "import m\nprint(m.gen)",
        "from m import *\n__all__ = ['gen']",
    ],
)
def test_name_that_another_module_takes_stays(other):
    source = "from tornado import gen\n\n@gen.coroutine\ndef main():\n    raise gen.Return(1)\n"
    found = convert_text(source, files={"other.py": other})

    is_named = "*" not in other
    assert (b"import gen" in found.sources["m.py"]) is is_named


def test_result_is_valid():
    text = converted(
        "from tornado.gen import coroutine, Return\n\n@coroutine\ndef f():\n    raise Return(1)\n"
    )

    assert text == "async def f():\n    return 1\n"
    ast.parse(text)


def test_blank_lines_around_several_imports_that_go_are_not_doubled():
    source = b"import os\n\nimport tornado\nimport tornado.gen\n\nfrom . import x\n"

    text = tidy(source, frozenset({"tornado"}), [], keeps=False)

    assert text == b"import os\n\nfrom . import x\n"


def test_name_in_a_sentence_is_no_use():
    source = "from tornado import gen\n\n@gen.coroutine\ndef f():\n    '''No gen here.'''\n    raise gen.Return(1)\n"

    assert "import" not in converted(source)
