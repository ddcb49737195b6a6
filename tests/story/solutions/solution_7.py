"""Exercise 7: the Future of a coroutine passes a cancel on to what the body waits for."""

import asyncio
import functools

from check import fresh

runner = fresh("runner")
Return, BadYieldError = runner.Return, runner.BadYieldError


class CoroutineFuture(asyncio.Future):
    runner = None

    def cancel(self, msg=None):
        if self.runner is None:
            return super().cancel(msg)
        if self.done():
            return False
        if not self.runner.future.cancel(msg):
            # It is done already, or the body is running: raised when it resumes or waits.
            self.runner.is_cancelled = True
        return True


class Runner(runner.Runner):
    is_cancelled = False

    def __init__(self, generator, result):
        result.runner = self
        super().__init__(generator, result)

    def resume(self):
        try:
            if not self.is_cancelled:
                return super().resume()
            self.is_cancelled = False
            return self.generator.throw(asyncio.CancelledError())
        except asyncio.CancelledError:
            self.result.runner = None  # from now on a cancel is the outcome
            raise

    def handle_yield(self, yielded):
        can_go_on = super().handle_yield(yielded)
        if self.is_cancelled and not can_go_on:
            self.is_cancelled = not self.future.cancel()
        return can_go_on


def coroutine(function):
    @functools.wraps(function)
    def start(*args, **kwargs):
        result = CoroutineFuture()
        Runner(runner.body_of(function, args, kwargs), result)
        return result

    return start
