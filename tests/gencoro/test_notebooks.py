"""docs/notebooks.rst: its cells run one after the other on a running loop."""

import ast
import asyncio
import re
import textwrap
import types
from pathlib import Path

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop

PAGE = Path(__file__).parents[2] / "docs/notebooks.rst"


def _cells():
    blocks = re.findall(
        r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)",
        PAGE.read_text(),
        re.MULTILINE,
    )
    return [textwrap.dedent(block) for block in blocks]


async def _run(cell, names):
    """Run a cell as IPython does; return the value of its last expression."""
    *statements, last = ast.parse(cell).body
    if isinstance(last, ast.Expr):
        last = ast.Assign([ast.Name("_", ast.Store())], last.value)
    module = ast.fix_missing_locations(ast.Module([*statements, last], []))
    names["_"] = None
    code = compile(module, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = types.FunctionType(code, names)()
    if waiting is not None:
        await waiting
    return names["_"]


def test_cells_do_what_the_page_says():
    *cells, with_nest_asyncio = _cells()

    async def main():
        names = {}
        return [await _run(cell, names) for cell in cells]

    assert asyncio.run(main()) == [None, 42, {"two": 4, "ten": 20}, None, 42]
    assert "nest_asyncio.apply()" in with_nest_asyncio


class NestingLoop(asyncio.SelectorEventLoop):
    """A loop that runs inside itself, as nest_asyncio makes any loop do."""

    _nest_patched = True

    def run_forever(self):
        if not self.is_running():
            super().run_forever()
            return
        task = asyncio.current_task(self)
        asyncio.tasks._leave_task(self, task)
        while not self._stopping:
            self._run_once()
        self._stopping = False
        asyncio.tasks._enter_task(self, task)


def test_run_sync_runs_a_loop_inside_itself_if_that_can():
    @gen.coroutine
    def nap(seconds):
        yield gen.sleep(seconds)
        return "rested"

    async def main():
        io_loop = IOLoop.current()
        with pytest.raises(TimeoutError, match="timed out after 0.01 seconds"):
            io_loop.run_sync(lambda: nap(60), timeout=0.01)
        nested = io_loop.run_sync(lambda: nap(0.001))
        return nested, await nap(0.001)

    with asyncio.Runner(loop_factory=NestingLoop) as runner:
        assert runner.run(main()) == ("rested", "rested")
