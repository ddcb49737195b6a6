"""Look-ups of host names are cached for a while."""

import asyncio
import socket

import pytest
from tornado.netutil import Resolver

from crawler_app.web.fetcher.resolver import (
    MAX_ANSWERS,
    NEGATIVE_TTL_S,
    TTL_S,
    CachingResolver,
)
from gencoro import gen


class CountingResolver(Resolver):
    """Resolves every name except those under .invalid, and counts the look-ups."""

    def initialize(self):
        self.questions = []
        self.gate = None
        self.is_closed = False

    @gen.coroutine
    def resolve(self, host, port, family=socket.AF_UNSPEC):
        self.questions.append((host, port))
        if self.gate is not None:
            yield self.gate
        if host.endswith(".invalid"):
            raise socket.gaierror(f"no {host}")
        return [(socket.AF_INET, ("127.0.0.1", port))]

    def close(self):
        self.is_closed = True


@pytest.fixture
def below():
    return CountingResolver()


@pytest.fixture
def resolver(below, clock):
    return CachingResolver(below, clock)


def test_answer_is_cached_until_it_expires(resolver, below, clock):
    async def main():
        first = await resolver.resolve("a.test", 80)
        clock.now += TTL_S - 1
        second = await resolver.resolve("a.test", 80)
        asked_meanwhile = len(below.questions)
        clock.now += 1
        await resolver.resolve("a.test", 80)
        return first, second, asked_meanwhile

    first, second, asked_meanwhile = asyncio.run(main())

    assert first == second == [(socket.AF_INET, ("127.0.0.1", 80))]
    assert (asked_meanwhile, len(below.questions)) == (1, 2)


def test_error_is_cached_for_a_shorter_time(resolver, below, clock):
    async def main():
        for wait_s in (0.0, NEGATIVE_TTL_S - 1, 1.0):
            clock.now += wait_s
            with pytest.raises(socket.gaierror, match=r"a\.invalid"):
                await resolver.resolve("a.invalid", 80)

    asyncio.run(main())

    assert len(below.questions) == 2


def test_concurrent_look_ups_are_combined(resolver, below):
    async def main():
        below.gate = gen.Future()
        waiting = [resolver.resolve("a.test", 80) for _ in range(5)]
        below.gate.set_result(None)
        return await asyncio.gather(*waiting)

    answers = asyncio.run(main())

    assert len(answers) == 5
    assert below.questions == [("a.test", 80)]


def test_cancelling_one_caller_does_not_affect_others(resolver, below):
    async def main():
        below.gate = gen.Future()
        first, second = (resolver.resolve("a.test", 80) for _ in range(2))
        first.cancel()
        below.gate.set_result(None)
        return await second

    assert asyncio.run(main()) == [(socket.AF_INET, ("127.0.0.1", 80))]


def test_hosts_and_ports_are_cached_separately(resolver, below):
    async def main():
        await resolver.resolve("a.test", 80)
        await resolver.resolve("a.test", 81)
        await resolver.resolve("b.test", 80)

    asyncio.run(main())

    assert below.questions == [("a.test", 80), ("a.test", 81), ("b.test", 80)]


def test_memory_is_bounded(resolver):
    async def main():
        for port in range(MAX_ANSWERS + 10):
            await resolver.resolve("a.test", port)

    asyncio.run(main())

    assert len(resolver._answers) == 10


def test_closing_closes_the_resolver_below(resolver, below):
    resolver.close()

    assert below.is_closed


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_address_is_not_looked_up(resolver, below, host):
    async def main():
        return await resolver.resolve(host, 80)

    ((_, address),) = asyncio.run(main())

    assert address[:2] == (host, 80)
    assert below.questions == []
