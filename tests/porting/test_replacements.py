"""What does not count as a replacement of a coroutine: its calls stay a bare ``await``.

What does count is in ``tests/porting/battery/replacements.txt``.
"""

import pytest

from gencoro.porting.converting import convert
from gencoro.porting.selection import Selection

CLIENT = """\
import abc
import functools
import unittest
from tornado import gen


def register(cls):
    CLASSES.append(cls)
    return cls


CLASSES = []


{decorator}
class Client({bases}):
    @gen.coroutine
    def load_rows(self):
        yield gen.sleep(0.01)
        raise gen.Return([])

    @gen.coroutine
    def run(self, other):
        {statement}
        a = yield self.load_rows()
        b = yield other.load_rows()
        raise gen.Return(a + b)
"""

HARMLESS = {
    "a registry of classes": {"decorator": "@register"},
    "a decorator of unittest": {"decorator": '@unittest.skip("no")'},
    "abstract methods": {"bases": "metaclass=abc.ABCMeta"},
    "its own namespace is shown": {"statement": "print(self.__dict__)"},
    "a namespace is copied": {"statement": "dict(vars(self))"},
    "an attribute of its own": {"statement": "self.rows = other"},
    "a constant name is set": {"statement": 'setattr(self, "rows", 1)'},
    "the class is asked": {"statement": "type(other)"},
    "a sentence": {"statement": 'print("cannot load_rows of that")'},
    "a comparison": {"statement": 'other == "load_rows"'},
    "another keyword": {"statement": "print(end=other)"},
}


@pytest.mark.parametrize("way", HARMLESS)
def test_harmless_code_leaves_a_bare_await(way):
    parts = {"decorator": "", "bases": "object", "statement": "pass"} | HARMLESS[way]
    source = CLIENT.format(**parts).encode()

    done = convert({"client.py": source}, Selection("async")).sources["client.py"]

    assert b"a = await self.load_rows()" in done
    assert b"b = await other.load_rows()" in done
    assert b"_starts_at_once" not in done
