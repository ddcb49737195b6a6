"""How one claimed URL ends: put back, respelled, tried again or finished.

Pure.  Each is one of the moves out of ``claimed`` in the table of `crawler_app.frontier`;
`crawler_app.crawl` makes it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from crawler_app.errors import FetchError
from crawler_app.http_headers import retry_after_s
from crawler_app.models import Candidate, CrawledPage, Fetched, Outcome, State
from crawler_app.reasons import AnyReason, Reason, Retries, facts_of, reason_of_status
from crawler_app.text.escaping import without_controls

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
    "outcome_of",
    "skipped",
]

# Of a digest.  With eight, a million pages have two that differ and share one in one
# crawl of forty million.
DIGEST_BYTES = 8


@dataclass(slots=True, frozen=True)
class PutBack:
    """Its turn has not come after all: it goes back to the queue as it was.

    Attributes:
        held_until: Nothing more is asked of its host before this time; None if it may be.
    """

    held_until: float | None = None


@dataclass(slots=True, frozen=True)
class Respell:
    """Its server redirects to another spelling of the same URL."""

    url: str


@dataclass(slots=True, frozen=True)
class Retry:
    """It failed, and another try may end better; if none is left, it is finished.

    Attributes:
        asked_for_s: How long the server asked us to wait; None if it did not.
    """

    outcome: Outcome
    asked_for_s: float | None = None


@dataclass(slots=True, frozen=True)
class Finish:
    """It is done, has failed for good, or is skipped.

    Attributes:
        outlinks: What it led to.
        page: What was read; None unless the user's callbacks are to see it.
    """

    outcome: Outcome
    outlinks: Sequence[Candidate] = ()
    page: CrawledPage | None = None


Ending: TypeAlias = PutBack | Respell | Retry | Finish


def outcome_of(state: State, reason: AnyReason, fetched: Fetched) -> Outcome:
    """Return the outcome of a URL that was answered.

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
        took_s=fetched.took_s,
        digest=hashlib.blake2b(fetched.body, digest_size=DIGEST_BYTES).hexdigest(),
    )


def of_error(exc: FetchError) -> Retry | Finish:
    """Return the ending of a URL that was not answered."""
    outcome = Outcome(State.FAILED, exc.reason, error=str(exc))
    return Retry(outcome) if exc.is_passing else Finish(outcome)


def of_status(fetched: Fetched, now: float) -> Retry | Finish:
    """Return the ending of a URL that was answered with an error status."""
    reason = reason_of_status(fetched.status)
    outcome = outcome_of(State.FAILED, reason, fetched)
    if facts_of(reason).retry is not Retries.SOON:
        return Finish(outcome)
    return Retry(outcome, retry_after_s(fetched.headers.get("Retry-After"), now))


def skipped(reason: Reason) -> Finish:
    """Return the ending of a URL that its host or the user does not want fetched."""
    return Finish(Outcome(State.EXCLUDED, reason))


def failed(outcome: Outcome, reason: AnyReason, error: str) -> Finish:
    """Return the ending of a URL whose answer is of no use after all."""
    return Finish(replace(outcome, state=State.FAILED, reason=reason, error=error))


def internal_error(exc: Exception) -> Finish:
    """Return the ending of a URL at which the crawler itself has failed."""
    return Finish(Outcome(State.FAILED, Reason.INTERNAL_ERROR, error=repr(exc)))
