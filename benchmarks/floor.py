"""The floor: the minimum that coroutines in Python need, for comparison only.

A Future and a context for each coroutine, a generator and its ``send``, and a callback
on the loop for each wake-up.  It has no cancelling, no conversion of types and no checks.
"""

import asyncio
import contextvars
from types import SimpleNamespace

from shapes import GENERATOR_SHAPES, LIST_CHILDREN, child_waiting_once

__all__ = ["FLOOR_SHAPES", "gen"]


class SuspendedFuture(asyncio.Future):
    """The Future of a suspended coroutine, with the state needed to resume it."""

    __slots__ = ("context", "generator")

    def wake(self, awaited):
        try:
            while awaited.done():
                error = awaited.exception()
                if error is None:
                    awaited = self.generator.send(awaited.result())
                else:
                    awaited = self.generator.throw(error)
        except StopIteration as stop:
            self.set_result(stop.value)
        except Exception as raised:
            # Our frame refers to the Future: collecting this cycle would cost more.
            raised.__traceback__ = raised.__traceback__.tb_next
            self.set_exception(raised)
        else:
            awaited.add_done_callback(self.wake, context=self.context)


def coroutine(body):
    def call(*args):
        context = contextvars.copy_context()
        generator = body(*args)
        try:
            awaited = context.run(generator.send, None)
        except StopIteration as stop:
            future = asyncio.Future()
            future.set_result(stop.value)
            return future
        future = SuspendedFuture()
        future.generator = generator
        future.context = context
        if awaited.done():
            context.run(future.wake, awaited)
        else:
            awaited.add_done_callback(future.wake, context=context)
        return future

    return call


gen = SimpleNamespace(coroutine=coroutine)


def many(gen, soon):
    """Wait for one child after another, without a callback for those already done."""
    child = child_waiting_once(gen, soon)

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            children = [child() for _ in range(LIST_CHILDREN)]
            values = []
            for each in children:
                if not each.done():
                    yield each
                values.append(each.result())

    return repeat


def switch(gen, soon):
    """A callback on the loop and a ``send`` for each turn."""

    def repeat(times):
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        context = contextvars.copy_context()
        generator = (None for _ in range(times))

        def turn():
            try:
                generator.send(None)
            except StopIteration:
                future.set_result(None)
            else:
                loop.call_soon(turn, context=context)

        turn()
        return future

    return repeat


FLOOR_SHAPES = GENERATOR_SHAPES | {"many": many, "switch": switch}
