"""The log of every request and decision, one line each, for ``--verbose``.

Rule: it is written at level DEBUG, contains neither headers nor passwords, and costs a
crawl nothing that could be measured if the level is not enabled.
"""

import logging

from crawler_app.base.http_headers import extracted_type
from crawler_app.base.models import Candidate, Fetched, Outcome, State
from crawler_app.base.reasons import Reason
from crawler_app.base.text.formatting import seconds, size

__all__ = ["note_end", "note_hold", "note_refusal", "note_response", "note_retry"]

logger = logging.getLogger(__name__)


def note_response(method: str, fetched: Fetched) -> None:
    """Log one exchange."""
    if logger.isEnabledFor(logging.DEBUG):
        kind = extracted_type(fetched.headers.get("Content-Type", "")) or "no type"
        logger.debug(
            "%s %s -> %d, %s, %s, %s",
            method,
            fetched.url,
            fetched.status,
            kind,
            size(len(fetched.body)),
            seconds(fetched.took_s),
        )


def note_end(url: str, outcome: Outcome) -> None:
    """Log how a URL ended, unless the response says it."""
    if outcome.reason == Reason.REDIRECT:
        logger.debug("redirected %s -> %s", url, outcome.redirect_to)
    elif outcome.state is not State.DONE:
        error = outcome.error and f": {outcome.error}"
        logger.debug("%s %s (%s%s)", outcome.state.label, url, outcome.reason, error)


def note_refusal(candidate: Candidate, base: str) -> None:
    """Log a URL that will not be fetched, and where it was found."""
    where = base or "the command line"
    logger.debug("skipped %s (%s) on %s", candidate.url, candidate.refusal, where)


def note_retry(url: str, outcome: Outcome, pause_s: float) -> None:
    """Log a fetch that will be repeated."""
    logger.debug("retrying %s in %.1f s (%s)", url, pause_s, outcome.reason)


def note_hold(host: str, pause_s: float) -> None:
    """Log that nothing is fetched from a host for some time."""
    logger.debug("waiting %.1f s for %s", pause_s, host)
