"""A caching DNS resolver.

The system's resolver runs in a thread and costs as much as parsing a small page, for an
answer that rarely changes.
"""

import math
import socket
import time
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from tornado.netutil import Resolver

from gencoro import gen

__all__ = ["CachingResolver"]

Addresses: TypeAlias = list[tuple[int, Any]]
Question: TypeAlias = tuple[str, int, socket.AddressFamily]

# getaddrinfo does not return the time to live of the records.  Precedents: browsers 60.
TTL_S = 60.0

# A host that has no address now may have one soon; but a thousand links to it must not
# cause a thousand look-ups.
NEGATIVE_TTL_S = 10.0

# A few megabytes.
MAX_ANSWERS = 10_000


class CachingResolver(Resolver):
    """Caches the answers of another resolver, errors included.

    Concurrent look-ups of one name are combined.
    """

    def initialize(
        self,
        resolver: Resolver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolver = Resolver() if resolver is None else resolver
        self._clock = clock
        # Each with its expiry time.
        self._answers: dict[Question, tuple[gen.Future[Addresses], float]] = {}

    def close(self) -> None:
        self._resolver.close()

    def resolve(
        self,
        host: str,
        port: int,
        family: socket.AddressFamily = socket.AF_UNSPEC,
    ) -> "gen.Future[Addresses]":
        """Return a Future for the addresses, as `tornado.netutil.Resolver` does.

        Raises:
            OSError: the name has no address.
        """
        question = (host, port, family)
        answer, until = self._answers.get(question, (None, 0.0))
        if answer is None or self._clock() >= until:
            answer = self._ask(question)
        # One Future per caller, so that each can be cancelled separately.
        copy: gen.Future[Addresses] = gen.Future()
        gen.chain_future(answer, copy)
        return copy

    def _ask(self, question: Question) -> "gen.Future[Addresses]":
        def remember(answer: "gen.Future[Addresses]") -> None:
            has_failed = answer.cancelled() or answer.exception()
            ttl_s = NEGATIVE_TTL_S if has_failed else TTL_S
            self._answers[question] = (answer, self._clock() + ttl_s)

        if len(self._answers) >= MAX_ANSWERS:
            self._answers.clear()
        answer = _literal(*question) or self._look_up(*question)
        self._answers[question] = (answer, math.inf)
        gen.future_add_done_callback(answer, remember)
        return answer

    @gen.coroutine
    def _look_up(
        self, host: str, port: int, family: socket.AddressFamily
    ) -> Generator[Any, Any, Addresses]:
        try:
            addresses: Addresses = yield self._resolver.resolve(host, port, family)
        except UnicodeError as exc:  # a label is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, f"{host}: {exc}") from None
        return addresses


def _literal(
    host: str, port: int, family: socket.AddressFamily
) -> "gen.Future[Addresses] | None":
    """Return the answer for a host that is an address, which needs no thread."""
    try:
        found = socket.getaddrinfo(
            host, port, family, socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
    except (OSError, UnicodeError):
        return None
    answer: gen.Future[Addresses] = gen.Future()
    answer.set_result([(each[0], each[4]) for each in found])
    return answer
