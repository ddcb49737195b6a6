"""The previous crawl of a directory whose crawls have a server of their own.

Its schema is renamed, and the next crawl gets a new one, so the two are compared by queries and
nothing is noted during a crawl.  A crawl on a server of others has no previous one.
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.base.reasons import (
    CONTENT,
    RETRYABLE,
    is_broken,
    reason_of_word,
)
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    connect_to_server,
    words_of,
)
from crawler_app.store.frontier.postgres.encoding import decode_text, encode_text
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.previous_crawl import Differences, PreviousCrawl
from gencoro import gen

__all__ = ["PreviousSchema", "begin_anew"]

CONTENT_WORDS = ", ".join(f"'{reason}'" for reason in sorted(CONTENT))

# Whether it had finished, and whether it has fetched anything.
STATE = """
SELECT NOT EXISTS (SELECT 1 FROM queue) AND NOT EXISTS (SELECT 1 FROM claim),
    EXISTS (SELECT 1 FROM outcome WHERE state = 'done'), EXISTS (SELECT 1 FROM url)
"""
NOTES = """
CREATE TABLE note (was_whole boolean NOT NULL);
CREATE TABLE loop (url text NOT NULL);
"""

# A page or a file of the previous crawl, at the URL of a row of this one.
BEFORE = (
    "SELECT 1 FROM {0}.url AS u JOIN {0}.outcome AS o USING (id, part)"
    f" WHERE u.digest = url.digest AND o.reason IN ({CONTENT_WORDS})"
)
ENDED = "SELECT url.url, reason FROM url JOIN outcome USING (id, part) WHERE"
NEW = f"{ENDED} reason IN ({CONTENT_WORDS}) AND NOT EXISTS ({BEFORE}) ORDER BY id"
CHANGED = (
    f"{ENDED} reason IN ({CONTENT_WORDS}) AND EXISTS ({BEFORE})"
    f" AND NOT EXISTS ({BEFORE} AND o.digest = outcome.digest) ORDER BY id"
)
GONE = f"{ENDED} reason NOT IN ({CONTENT_WORDS}) AND EXISTS ({BEFORE}) ORDER BY id"
UNMET = (
    "SELECT u.url FROM {0}.url AS u JOIN {0}.outcome AS o USING (id, part)"
    f" WHERE o.reason IN ({CONTENT_WORDS})"
    " AND NOT EXISTS (SELECT 1 FROM url WHERE url.digest = u.digest) ORDER BY id"
)
FAILED_BEFORE = (
    "SELECT u.url, o.reason FROM {0}.url AS u JOIN {0}.outcome AS o USING (id, part)"
    " WHERE o.state = 'failed' ORDER BY id"
)
FETCHED = f"SELECT count(*) FROM outcome WHERE reason IN ({CONTENT_WORDS})"


def _name_of(location: CrawlLocation) -> str:
    """Return the name of the schema of the previous crawl, which that of no crawl can be."""
    return f"previous_{location.schema}"


@gen.coroutine
def begin_anew(
    location: CrawlLocation, loops: Callable[[], Iterable[str]]
) -> Generator[Any, Any, bool]:
    """Make the last crawl the previous one; return whether it had finished.

    If it had not, or had fetched nothing, and there already is a previous one, that is kept and
    the last one is dropped, as `crawler_app.run.directory.stores.begin_recrawl` does.  All of it
    is one transaction.  The server must be one of the crawl's own.

    Args:
        loops: Returns the URLs of the redirect loops of the last crawl.

    Raises:
        ConfigError: the server cannot be used.
    """
    connection = yield connect_to_server(location)
    last, previous = f'"{location.schema}"', f'"{_name_of(location)}"'
    exists = "SELECT to_regnamespace($1) IS NOT NULL"
    try:
        if not (yield connection.fetchval(exists, last)):
            return True
        yield connection.execute(f"SET search_path = {last}")
        is_finished, has_fetched, has_urls = yield connection.fetchrow(STATE)
        if not has_urls:
            return True
        has_previous = yield connection.fetchval(exists, previous)
        transaction = connection.transaction()
        yield transaction.start()
        if has_previous and not (is_finished and has_fetched):
            yield connection.execute(f"DROP SCHEMA {last} CASCADE")
        else:
            yield connection.execute(f"DROP SCHEMA IF EXISTS {previous} CASCADE")
            yield connection.execute(NOTES)
            yield connection.execute("INSERT INTO note VALUES ($1)", is_finished)
            rows = [(encode_text(url),) for url in loops()]
            yield connection.copy_records_to_table("loop", records=rows)
            yield connection.execute(f"ALTER SCHEMA {last} RENAME TO {previous}")
        yield transaction.commit()
    except DRIVER_ERRORS as exc:
        text = words_of(exc, location)
        raise ConfigError(f"cannot begin the crawl {location} again: {text}") from None
    finally:
        yield connection.close()
    return bool(is_finished)


class PreviousSchema(PreviousCrawl):
    """The previous crawl of several processes.

    Args:
        fetch: Returns the rows of a query.
    """

    def __init__(self, location: CrawlLocation, fetch: Callable[..., Any]) -> None:
        self._schema = f'"{_name_of(location)}"'
        self._fetch = fetch

    @property
    def exists(self) -> bool:
        rows = self._fetch("SELECT to_regnamespace($1) IS NOT NULL", self._schema)
        return bool(rows[0][0])

    def differences(self) -> Differences | None:
        if not self.exists:
            return None
        ((was_whole,),) = self._rows("SELECT was_whole FROM {0}.note")
        ((content,),) = self._rows(FETCHED)
        new, changed = self._urls(NEW), self._urls(CHANGED)
        ended = [
            (decode_text(url), reason_of_word(word)) for url, word in self._rows(GONE)
        ]
        gone = [(url, reason) for url, reason in ended if reason not in RETRYABLE]
        passing = [url for url, reason in ended if reason in RETRYABLE]
        unchanged = content - len(new) - len(changed)
        return Differences(new, changed, unchanged, gone, passing, bool(was_whole))

    def unmet(self) -> list[str]:
        return self._urls(UNMET) if self.exists else []

    def broken_before(self) -> list[str]:
        if not self.exists:
            return []
        failed = self._rows(FAILED_BEFORE)
        broken = [
            decode_text(url) for url, word in failed if is_broken(reason_of_word(word))
        ]
        return broken + self._urls("SELECT url FROM {0}.loop")

    def _rows(self, query: str) -> Any:
        return self._fetch(query.format(self._schema))

    def _urls(self, query: str) -> list[str]:
        return [decode_text(row[0]) for row in self._rows(query)]
