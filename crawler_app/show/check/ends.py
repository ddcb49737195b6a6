"""How URLs have ended, by the hashes of their keys, which take less memory.  Pure."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crawler_app.base.models import Outcome, Role, State
from crawler_app.base.reasons import RETRYABLE, Reason, is_broken, meaning_of
from crawler_app.base.text.formatting import number
from crawler_app.base.urls import dedup_key

__all__ = ["LOOP", "End", "Ends", "is_unchecked", "key_of", "skipped"]

LOOP = Outcome(State.FAILED, Reason.REDIRECT_LOOP)

# Pages that another check might read, with a longer wait, more room or another limit.
MISSED = RETRYABLE | {Reason.TOO_MANY_ALIKE}


class End(NamedTuple):
    """The outcome of a URL that does not simply work."""

    outcome: Outcome
    role: Role


class Ends(dict[int, End | None]):
    """The ends by the keys of their URLs; None for a URL that works."""

    def unchecked(self) -> Iterator[End]:
        """Yield the ends that do not tell whether the URL works."""
        return (end for end in self.values() if end and is_unchecked(end.outcome))

    def is_there(self, url: str, served_at: Callable[[str], str]) -> bool:
        """Return whether a URL works, if need be through redirects.

        Args:
            served_at: Returns where a URL is served.
        """
        seen: set[int] = set()
        while (key := key_of(url)) in self and key not in seen:
            end = self[key]
            if end is None:
                return True
            if end.outcome.reason != Reason.REDIRECT:
                return False
            seen.add(key)
            url = served_at(end.outcome.redirect_to)
        return False

    def missed_pages(self) -> list[str]:
        """Return how many pages of the site were missed, by reason."""
        count_by_meaning = Counter(
            meaning_of(end.outcome.reason)
            for end in self.unchecked()
            if end.outcome.reason in MISSED and not end.role.is_non_page
        )
        return [
            f"{number(count, 'page')} of the site could not be read: {meaning}"
            for meaning, count in count_by_meaning.most_common()
        ]


def key_of(url: str) -> int:
    """Return the hash of the key of a URL."""
    return hash(dedup_key(url))


def is_unchecked(outcome: Outcome) -> bool:
    """Return whether a URL has ended without a result that tells whether it works."""
    if outcome.state is State.EXCLUDED:
        return True
    return outcome.state is State.FAILED and not is_broken(outcome.reason)


@functools.cache  # one for the many URLs of a trap
def skipped(refusal: Reason) -> Outcome:
    """Return the outcome of a URL that was skipped."""
    return Outcome(State.EXCLUDED, refusal)
