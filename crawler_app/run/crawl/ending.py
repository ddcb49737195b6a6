"""How a claim ends: the URL is put back, respelled, retried or finished.

Pure.  `crawler_app.run.crawl` makes the move out of ``claimed`` that an ending asks for.  Instead
of a retry, it finishes a URL that has no try left, and puts it back if its host is down.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TypeAlias

from crawler_app.base.errors import FetchError
from crawler_app.base.http_headers import retry_after_s
from crawler_app.base.models import (
    DIGEST_BYTES,
    Candidate,
    CrawledPage,
    Fetched,
    Outcome,
    State,
)
from crawler_app.base.reasons import (
    AnyReason,
    Reason,
    Retries,
    reason_of_status,
    traits_of,
)
from crawler_app.base.text.escaping import without_controls

__all__ = [
    "Ending",
    "Finish",
    "PutBack",
    "Respell",
    "Retry",
    "failed",
    "internal_error",
    "of_error",
    "of_status",
    "of_wall",
    "outcome_of",
    "robots_unreachable",
    "skipped",
]


@dataclass(slots=True, frozen=True)
class PutBack:
    """The URL cannot be fetched yet and goes back to the queue unchanged.

    Attributes:
        held_until: No request is sent to its host before this time; None for no hold.
    """

    held_until: float | None = None


@dataclass(slots=True, frozen=True)
class Respell:
    """The server redirects to another spelling of the same URL, or has set a cookie."""

    url: str


@dataclass(slots=True, frozen=True)
class Retry:
    """The fetch failed and may be retried; if no try is left, the URL is finished.

    Attributes:
        asked_for_s: The wait that the server asked for, in seconds; None if it did not.
    """

    outcome: Outcome
    asked_for_s: float | None = None


@dataclass(slots=True, frozen=True)
class Finish:
    """The URL is done, has failed permanently, or is skipped.

    Attributes:
        outlinks: The candidates found in the response.
        again: The id of a redirect that led to it, to be fetched again.
        page: The page; None unless the user's callbacks need it.
        on_recorded: Called when the frontier has the outcome and the outlinks.
    """

    outcome: Outcome
    outlinks: Sequence[Candidate] = ()
    again: int | None = None
    page: CrawledPage | None = None
    on_recorded: Callable[[], None] | None = None


Ending: TypeAlias = PutBack | Respell | Retry | Finish


def outcome_of(state: State, reason: AnyReason, fetched: Fetched) -> Outcome:
    """Return the outcome of a URL that got a response.

    >>> outcome_of(State.DONE, Reason.OK, Fetched("http://a.test/", 200, {}, b"x", 0.1))
    ... # doctest: +ELLIPSIS
    Outcome(..., reason=<Reason.OK: 'ok'>, status=200, ..., size_bytes=1, took_s=0.1, ...)
    """
    return Outcome(
        state,
        reason,
        fetched.status,
        content_type=without_controls(fetched.headers.get("Content-Type", "")),
        size_bytes=len(fetched.body),
        took_s=round(fetched.took_s, 6),  # clocks tell no more
        digest=fetched.digest()[:DIGEST_BYTES].hex(),
        note="; ".join(fetched.notes),
    )


def of_error(exc: FetchError) -> Retry | Finish:
    """Return the ending of a URL that got no response."""
    if exc.reason is Reason.LOGS_OUT:
        return skipped(exc.reason)
    outcome = Outcome(State.FAILED, exc.reason, error=str(exc))
    return Retry(outcome) if exc.is_passing else Finish(outcome)


def of_status(fetched: Fetched, now: float) -> Retry | Finish:
    """Return the ending of a URL whose response has an error status."""
    reason: AnyReason = reason_of_status(fetched.status)
    if fetched.status == HTTPStatus.TOO_MANY_REQUESTS:
        reason = Reason.RATE_LIMITED
    outcome = outcome_of(State.FAILED, reason, fetched)
    if traits_of(reason).retry is not Retries.SOON:
        return Finish(outcome)
    return Retry(outcome, retry_after_s(fetched.headers.get("Retry-After"), now))


def of_wall(fetched: Fetched) -> Finish:
    """Return the ending of a URL for which a bot wall has answered."""
    return Finish(outcome_of(State.FAILED, Reason.BLOCKED, fetched))


def skipped(reason: Reason) -> Finish:
    """Return the ending of a URL that robots.txt or the user forbids to fetch."""
    return Finish(Outcome(State.EXCLUDED, reason))


def failed(outcome: Outcome, reason: AnyReason, error: str) -> Finish:
    """Return the ending of a URL whose response cannot be used."""
    return Finish(replace(outcome, state=State.FAILED, reason=reason, error=error))


def robots_unreachable() -> Finish:
    """Return the ending of a URL whose host answers requests for robots.txt with errors."""
    text = "requests for robots.txt are answered with errors, so nothing may be fetched"
    return Finish(Outcome(State.FAILED, Reason.ROBOTS_UNREACHABLE, error=text))


def internal_error(exc: Exception) -> Finish:
    """Return the ending of a URL that the crawler failed to process."""
    return Finish(Outcome(State.FAILED, Reason.INTERNAL_ERROR, error=repr(exc)))
