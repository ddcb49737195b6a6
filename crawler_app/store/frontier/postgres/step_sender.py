"""A worker's connection: sends its steps one at a time, and retries each until it is answered.

Rule: a step whose answer did not come may have been carried out.  It is sent again with its
number, and the server carries it out once.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Generator
from typing import Any

import asyncpg

from crawler_app.base.errors import ConfigError, ServerError
from crawler_app.store.frontier.postgres.connecting import (
    AWAY,
    DRIVER_ERRORS,
    cannot_connect,
    connect_worker,
    words_of,
)
from crawler_app.store.frontier.postgres.encoding import decode, encode
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from gencoro import gen

__all__ = ["ALIVE_S", "StepSender"]

logger = logging.getLogger(__name__)

# A worker that sends nothing for this long is taken for dead, and its URLs go to others.
ALIVE_S = 30.0

# Backoff between attempts to reach the server, with a jitter of up to half, so that not all
# workers connect at the same moment.
FIRST_PAUSE_S = 0.05
MAX_PAUSE_S = 5.0

# How long a worker that leaves waits for each answer.
LEAVE_TIMEOUT_S = 10.0

# A transaction that the server gave up for the sake of another; it may be sent again at once.
GIVEN_UP = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)

# The crawl has been deleted.
DELETED = (
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
)


class StepSender:
    """Makes the steps of one worker.

    Args:
        name: Of the worker, for people: a host name and a process id.
        store: Where it stores what it fetches.
        clock: Returns the time of this machine, in seconds since the epoch.
        server_clock: The same for the server; None for the clock that it has.

    Attributes:
        alive_s: After how long without a step a worker is taken for dead.
        is_away: Whether the server did not answer last time.
    """

    alive_s = ALIVE_S

    def __init__(
        self,
        location: CrawlLocation,
        name: str,
        store: StoreLocation,
        clock: Callable[[], float],
        server_clock: Callable[[], float] | None = None,
    ) -> None:
        self.is_away = False
        self._location = location
        self._name = name
        self._store = store
        self._clock = clock
        self._server_clock = server_clock
        self._connection: Any = None
        self._worker: tuple[int, int] | None = None
        self._made_at = ""
        self._step = 0
        self._answering: gen.Future[dict[str, Any]] | None = None
        self._is_leaving = self._has_given_up = False

    @gen.coroutine
    def open(self) -> Generator[Any, Any, None]:
        """Connect, and enter the crawl.

        Raises:
            ConfigError: the server cannot be reached, or the crawl cannot be used.
        """
        try:
            yield self._connect()
            yield self._join()
        except DRIVER_ERRORS as exc:
            self.drop()
            raise cannot_connect(self._location, exc) from None

    @gen.coroutine
    def make_step(self, body: dict[str, Any]) -> Generator[Any, Any, dict[str, Any]]:
        """Return the answer to a step; waits as long as the server is away.

        Its ``sent_at`` is the time of this machine when the step was sent.

        Raises:
            ServerError: the server refuses the step, or does not answer a worker that leaves.
        """
        self._step += 1
        self._answering = self._make_step(body)
        if self._is_leaving:
            self._limit_wait()
        try:
            answer: dict[str, Any] = yield self._answering
            return answer
        except asyncio.CancelledError:
            if not self._has_given_up:
                raise
            self.drop()
            raise ServerError(
                f"{self._location} does not answer; what this worker has not recorded will be "
                "fetched again"
            ) from None

    def hurry(self) -> None:
        """Wait no longer than ``LEAVE_TIMEOUT_S`` for this answer and each further one."""
        self._is_leaving = True
        self._limit_wait()

    def _limit_wait(self) -> None:
        answering = self._answering
        if answering is None or answering.done():
            return

        def give_up() -> None:
            self._has_given_up = True
            answering.cancel()

        timer = asyncio.get_running_loop().call_later(LEAVE_TIMEOUT_S, give_up)
        answering.add_done_callback(lambda _: timer.cancel())

    @gen.coroutine
    def _make_step(self, body: dict[str, Any]) -> Generator[Any, Any, dict[str, Any]]:
        is_replaced = False
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                answer: dict[str, Any] = yield self._send(body)
            except GIVEN_UP:
                continue
            except AWAY as exc:
                self._note_away(exc)
                yield gen.sleep(pause_s * random.uniform(0.5, 1.0))
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
                continue
            except DELETED as exc:
                what = str(exc).partition("\n")[0]
                raise ServerError(f"{self._location} was deleted: {what}") from None
            except (asyncpg.PostgresError, ConfigError) as exc:
                text = self._location.without_secrets(str(exc))
                raise ServerError(f"{self._location} refuses a step: {text}") from None
            self._note_answer()
            if not answer.get("is_replaced"):
                return answer | {"is_replaced": is_replaced}
            # Its lease had ended, and another worker has its number; or the server has been
            # replaced by one that does not have its last steps.  Begin as a new worker.
            is_replaced = True
            self._worker = None
            body = body | {"held": 0}

    @gen.coroutine
    def _send(self, body: dict[str, Any]) -> Generator[Any, Any, dict[str, Any]]:
        if self._connection is None:
            yield self._connect()
        number, epoch = self._worker or (yield self._join())
        sent_at = self._clock()
        answer = yield self._connection.fetchval(
            "SELECT frontier_step($1, $2, $3, $4, $5)",
            number,
            epoch,
            self._step,
            encode(body | {"at": sent_at, "alive_s": self.alive_s}),
            self._server_clock and self._server_clock(),
        )
        found: dict[str, Any] = decode(answer)
        return found | {"sent_at": sent_at}

    @gen.coroutine
    def close(self) -> Generator[Any, Any, None]:
        """Leave the crawl, if the server is there, and close the connection."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if self._worker is not None:
                yield connection.execute(
                    "SELECT frontier_leave($1, $2)",
                    *self._worker,
                    timeout=LEAVE_TIMEOUT_S,
                )
            yield connection.close(timeout=LEAVE_TIMEOUT_S)
        except (*AWAY, asyncpg.PostgresError):
            connection.terminate()

    def drop(self) -> None:
        """Abort the connection without leaving the crawl, as if the process were killed."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    @gen.coroutine
    def _connect(self) -> Generator[Any, Any, None]:
        self._connection = yield connect_worker(self._location)

    @gen.coroutine
    def _join(self) -> Generator[Any, Any, tuple[int, int]]:
        answer = yield self._connection.fetchval(
            "SELECT frontier_join($1, $2, $3, $4, $5, $6)",
            self._name,
            *self._store,
            self.alive_s,
            self._server_clock and self._server_clock(),
        )
        number, epoch, made_at = decode(answer)
        self._worker = number, epoch
        self._made_at = self._made_at or made_at
        if made_at != self._made_at:
            raise ConfigError("it was deleted, and another of that name was made")
        self._step = min(self._step, 1)  # if one is under way, it is the first
        return self._worker

    def _note_away(self, exc: Exception) -> None:
        self.drop()
        if not self.is_away:
            text = words_of(exc, self._location)
            logger.warning("%s does not answer, trying again: %s", self._location, text)
        self.is_away = True

    def _note_answer(self) -> None:
        if self.is_away:
            logger.warning("%s answers again", self._location)
        self.is_away = False
