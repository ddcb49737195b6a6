"""gencoro's coroutines beside Tornado's; `test_tornado_suites` runs Tornado's own tests."""

from datetime import timedelta

import pytest
import tornado.gen

from gencoro import gen


@pytest.mark.parametrize("waits", [False, True])
def test_return_of_tornado_is_a_return(loop, waits):
    @gen.coroutine
    def half_ported():
        if waits:
            yield gen.moment
        raise tornado.gen.Return(42)
        yield

    assert loop.run_sync(half_ported) == 42


# Beside coroutines of Tornado.


def test_moments_of_both_packages_can_be_yielded_in_both(loop):
    @gen.coroutine
    def ours():
        yield tornado.gen.moment
        return (yield theirs())

    @tornado.gen.coroutine
    def theirs():
        yield gen.moment
        yield tornado.gen.with_timeout(timedelta(seconds=5), gen.sleep(0.001))
        return 42

    assert loop.run_sync(ours) == 42
