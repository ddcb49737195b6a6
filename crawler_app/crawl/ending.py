"""What came of one claimed URL, before it is recorded."""

import hashlib
from dataclasses import dataclass, field, replace

from crawler_app.errors import FetchError
from crawler_app.http_dates import retry_after_s
from crawler_app.models import Candidate, CrawledPage, Fetched, Outcome, State
from crawler_app.reasons import AnyReason, Reason, Retry, facts_of, reason_of_status
from crawler_app.text.escaping import without_controls

__all__ = [
    "Ending",
    "excluded",
    "failed",
    "internal_error",
    "of_error",
    "of_status",
    "outcome_of",
    "put_back",
]

# Of a digest.  With eight, a million pages have two that differ and share one in one
# crawl of forty million.
DIGEST_BYTES = 8


@dataclass(slots=True)
class Ending:
    """How a URL is to be recorded.

    Attributes:
        outcome: None if it was not fetched and goes back to the queue as it was.
        outlinks: What it led to.
        is_passing: Whether another try may end better.
        asked_for_s: How long the server asked us to wait before it.
        respelled: The URL as its server spells it; empty if that is how we did.
        held_until: Before this time nothing more is asked of its host.
        page: What was read, if somebody wants to see it.
    """

    outcome: Outcome | None
    outlinks: list[Candidate] = field(default_factory=list)
    is_passing: bool = False
    asked_for_s: float | None = None
    respelled: str = ""
    held_until: float = 0.0
    page: CrawledPage | None = None


def put_back(held_until: float = 0.0) -> Ending:
    """Return the ending of a URL whose turn has not come after all."""
    return Ending(None, held_until=held_until)


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


def of_error(exc: FetchError) -> Ending:
    """Return the ending of a URL that was not answered."""
    outcome = Outcome(State.FAILED, exc.reason, error=str(exc))
    return Ending(outcome, is_passing=exc.is_passing)


def excluded(reason: Reason) -> Ending:
    """Return the ending of a URL that its host does not want to be asked for."""
    return Ending(Outcome(State.EXCLUDED, reason))


def of_status(fetched: Fetched, now: float) -> Ending:
    """Return the ending of a URL that was answered with an error status."""
    reason = reason_of_status(fetched.status)
    return Ending(
        outcome_of(State.FAILED, reason, fetched),
        is_passing=facts_of(reason).retry is Retry.SOON,
        asked_for_s=retry_after_s(fetched.headers.get("Retry-After"), now),
    )


def failed(outcome: Outcome, reason: Reason, error: str) -> Ending:
    """Return the ending of a URL whose answer is of no use."""
    failure = replace(outcome, state=State.FAILED, reason=reason, error=error)
    return Ending(failure)


def internal_error(exc: Exception) -> Ending:
    """Return the ending of a URL at which the crawler itself has failed."""
    return Ending(Outcome(State.FAILED, Reason.INTERNAL_ERROR, error=repr(exc)))
