"""Imports of names that Tornado no longer has, and that nothing uses, are removed."""

import pytest

from tests.helpers.porting.converting import convert_text, converted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from tornado.gen import Task, sleep\nsleep(1)\n",
            "from tornado.gen import sleep\nsleep(1)\n",
        ),
        ("from tornado.web import asynchronous\nx = 1\n", "x = 1\n"),
        ("from tornado.gen import Task\nTask(print)\n", None),
        ("from tornado.gen import Task\n__all__ = ['Task']\n", None),
        ("from tornado.gen import sleep\nx = 1\n", None),
        ("from mylib.gen import Task\nx = 1\n", None),
    ],
)
def test_import(before, after):
    assert converted(before) == (before if after is None else after)


def test_name_that_another_module_imports_stays():
    source = "from tornado.gen import Task\nx = 1\n"

    found = convert_text(
        source, files={"other.py": "from m import Task\nTask(print)\n"}
    )

    assert found.sources == {}
