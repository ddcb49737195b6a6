"""The text of a converted coroutine."""

import ast

import pytest

from gencoro.porting.conversion import convert
from tests.helpers.porting.converting import HEAD, converted

BODIES = [
    # What a yield gets.
    ("yield f()", "await f()"),
    ("x = yield f()", "x = await f()"),
    ("x = (yield f())", "x = await f()"),
    ("yield [f(), g()]", "await gen.multi([f(), g()])"),
    ("yield {1: f()}", "await gen.multi({1: f()})"),
    ("yield ([f() for x in y])", "await gen.multi([f() for x in y])"),
    ("yield None", "await asyncio.sleep(0)"),
    ("yield", "await asyncio.sleep(0)"),
    ("yield gen.moment", "await asyncio.sleep(0)"),
    # Parentheses that only a yield needs go.
    ("print((yield f()))", "print(await f())"),
    ("print((yield f()), k=(yield g()))", "print(await f(), k=await g())"),
    (
        "if (yield f()) and not (yield g()): pass",
        "if await f() and not await g(): pass",
    ),
    ("x = (yield f()) + (yield g())", "x = await f() + await g()"),
    ("with (yield f()) as x: pass", "with await f() as x: pass"),
    ("for x in (yield f()): pass", "for x in await f(): pass"),
    ("x = [(yield f()), (yield g())]", "x = [await f(), await g()]"),
    ("return(yield f())", "return await f()"),
    # And those that an await needs stay, or come.
    ("x = (yield f()).body", "x = (await f()).body"),
    ("x = (yield f())[0]", "x = (await f())[0]"),
    ("x = (yield f())(1)", "x = (await f())(1)"),
    ("yield f() or g()", "await (f() or g())"),
    ("yield (f() or g())", "await (f() or g())"),
    ("yield f() if x else g()", "await (f() if x else g())"),
    ("yield (yield f())", "await (await f())"),
    # gen.Return.
    ("raise gen.Return(1)", "return 1"),
    ("raise gen.Return()", "return"),
    ("raise gen.Return", "return"),
    ("raise gen.Return(value=1)", "return 1"),
    ("raise gen.Return((yield f()))", "return await f()"),
    ("raise gen.Return((1, 2))", "return (1, 2)"),
    ("raise gen.Return(x for x in y)", "return (x for x in y)"),
    ("raise gen.Return(1,)", "return 1"),
]


@pytest.mark.parametrize(("before", "after"), BODIES)
def test_statement(before, after):
    source = f"{HEAD}@gen.coroutine\ndef main(f, g, x, y):\n    {before}\n"

    text = converted(source)

    assert text.endswith(f"async def main(f, g, x, y):\n    {after}\n")
    ast.parse(text)


def test_decorator_goes_and_comments_stay():
    text = converted(
        HEAD,
        """\
        # Above.
        @gen.coroutine  # why
        # Between.
        def main():  # here
            yield gen.sleep(1)  # wait
        """,
    )

    assert text == HEAD + (
        "# Above.\n# why\n# Between.\nasync def main():  # here\n"
        "    await gen.sleep(1)  # wait\n"
    )


def test_lines_that_were_aligned_stay_aligned():
    text = converted(
        HEAD,
        """\
        @gen.coroutine
        def main(a,
                 b):
            yield [f(a,
                     b),
                   f(b)]
            raise gen.Return({1: a,
                              2: b})
        """,
    )

    assert text == HEAD + (
        "async def main(a,\n"
        "               b):\n"
        "    await gen.multi([f(a,\n"
        "                       b),\n"
        "                     f(b)])\n"
        "    return {1: a,\n"
        "            2: b}\n"
    )


def test_value_of_several_lines_keeps_its_parentheses():
    text = converted(
        HEAD,
        """\
        @gen.coroutine
        def main(a):
            yield gen.sleep(1)
            raise gen.Return(
                a +
                1,
            )
        """,
    )

    assert text.endswith("    return (\n        a +\n        1\n    )\n")


def test_handler_for_return_goes():
    text = converted(
        HEAD,
        """\
        @gen.coroutine
        def main():
            try:
                raise gen.Return((yield gen.sleep(1)))
            except gen.Return:
                raise
            except Exception:
                pass
        """,
    )

    assert "except gen.Return" not in text
    assert "        return await gen.sleep(1)\n    except Exception:\n" in text


def test_tests_keep_their_decorator():
    text = converted(
        """\
        from tornado.testing import AsyncTestCase, gen_test

        class Test(AsyncTestCase):
            @gen_test(timeout=5)
            def test(self):
                yield self.get()
        """
    )

    assert "    @gen_test(timeout=5)\n    async def test(self):\n" in text


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_offsets_count_bytes(encoding):
    mark = "# coding: latin-1\n" if encoding == "latin-1" else ""
    source = f"{mark}{HEAD}@gen.coroutine\ndef main():\n    print('ä', (yield gen.sleep(1)))\n"

    [text] = convert({"m.py": source.encode(encoding)}).sources.values()

    assert text.decode(encoding).endswith("    print('ä', await gen.sleep(1))\n")
