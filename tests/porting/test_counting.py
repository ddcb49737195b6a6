"""The counting that docs/conversions.rst rests on."""

import pytest

from tests.porting.counting import coroutines_in, fate_of, functions_in

BEFORE = """\
import asyncio
from tornado import gen
from tornado.testing import gen_test

class Shop:
    @gen.coroutine
    def get(self):
        yield self.open()

    @asyncio.coroutine
    def other(self):
        yield from self.open()

    @gen_test(timeout=3)
    def test_get(self):
        yield self.get()
"""


def fates(before: str, after: str) -> dict[str, str]:
    functions = functions_in(after)
    return {
        key[0]: fate_of(coroutine, functions.get(key))
        for key, coroutine in coroutines_in(before).items()
    }


def test_coroutine_of_asyncio_is_not_counted():
    assert set(coroutines_in(BEFORE)) == {("Shop.get", 0), ("Shop.test_get", 0)}


@pytest.mark.parametrize(
    ("new", "fate"),
    [
        ("async def get", "generator"),
        ("@gen.coroutine\n    def get", "left"),
        ("async def get(self):\n        await self.open()\n\n    def old_get", "bare"),
        (
            "@at_once\n    async def get(self):\n        await self.open()\n\n    def old",
            "wrapped",
        ),
        ("def fetch", "gone"),
    ],
)
def test_fate_of_a_coroutine(new, fate):
    after = BEFORE.replace("@gen.coroutine\n    def get", new)

    assert fates(BEFORE, after)["Shop.get"] == fate


def test_test_keeps_its_decorator():
    after = BEFORE.replace("def test_get", "async def test_get")

    assert fates(BEFORE, after.replace("yield self.get", "await self.get")) == {
        "Shop.get": "left",
        "Shop.test_get": "bare",
    }


@pytest.mark.parametrize(
    "source",
    [
        "from shop.testing import gen_test\n\n@gen_test\ndef test_it():\n    yield\n",
        "import pytest\n\n@pytest.mark.gen_test\ndef test_it():\n    yield\n",
    ],
)
def test_another_gen_test_is_not_counted(source):
    assert coroutines_in(source) == {}


def test_function_that_is_defined_twice_is_counted_twice():
    twice = "@gen.coroutine\ndef f():\n    yield\n" * 2

    assert set(coroutines_in(twice)) == {("f", 0), ("f", 1)}
