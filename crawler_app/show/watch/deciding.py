"""When a finding is told: its states from check to check.

Pure: the time is an argument.  A finding is *fine* until enough checks have failed; then it is
*broken*, and when as many in a row have found it working, fine again.  One that breaks again soon
after that is *flapping*, until it has not changed for a while.  Each change of state is told.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "DAY_S",
    "FAILED",
    "MAX_RECENT",
    "MENDED",
    "SUSPECTED",
    "Known",
    "Rule",
    "Told",
    "decide",
]

DAY_S = 86400.0

# One that breaks again within this time is flapping, until it has not changed for as long.
FLAPPING_S = 14 * DAY_S

# The results of checks that are kept for each finding.
MAX_RECENT = 90

FAILED, WORKED = "x", "."

SUSPECTED, MENDED = "to be confirmed", "mended"


class Told(StrEnum):
    """What was told of a finding last."""

    FINE = "fine"
    """Nothing, or that it is mended."""
    BROKEN = "broken"
    FLAPPING = "flapping"


@dataclass(frozen=True, slots=True)
class Rule:
    """When a finding is broken.

    Attributes:
        runs: Checks in which it must have failed.
        over_s: The least time since the first of these failures.
        of: They are among this number of the last checks, and end with two in a row; if it is
            not above `runs`, all are in a row.
    """

    runs: int = 1
    over_s: float = 0.0
    of: int = 0


@dataclass(frozen=True)
class Known:
    """What is known of a finding.

    Attributes:
        recent: Its last results, the newest at the end: ``x`` if it failed, ``.`` if not.
        since: The first of the results that are the same as the newest.
        failing_since: When the last failures began that a rule counts together.
        told_at: When its state was told; None if it never was.
    """

    state: Told = Told.FINE
    recent: str = ""
    since: float = 0.0
    failing_since: float = 0.0
    told_at: float | None = None

    @property
    def is_failing(self) -> bool:
        """Whether it has failed in the last check that knows."""
        return self.recent.endswith(FAILED)

    @property
    def word(self) -> str:
        """Its state for people: "broken", "flapping", "to be confirmed" or "mended"."""
        if self.state is not Told.FINE:
            return self.state.value
        return SUSPECTED if self.is_failing else MENDED


def decide(known: Known, failed: bool, now: float, rule: Rule) -> Known:
    """Return what is known of a finding after a check.

    >>> first = decide(Known(), True, 0.0, Rule(runs=2))
    >>> first.word, decide(first, True, 86400.0, Rule(runs=2)).word
    ('to be confirmed', 'broken')
    """
    result = FAILED if failed else WORKED
    recent = (known.recent + result)[-MAX_RECENT:]
    window = max(rule.runs, rule.of, 2)
    since = known.since if known.recent.endswith(result) else now
    is_first = failed and FAILED not in known.recent[1 - window :]
    failing_since = now if is_first else known.failing_since
    is_lately = known.told_at is not None and now - known.told_at < FLAPPING_S
    state = known.state
    if state is Told.FLAPPING:
        if now - since >= FLAPPING_S:
            state = Told.BROKEN if failed else Told.FINE
    elif state is Told.BROKEN:
        if recent.endswith(WORKED * rule.runs):
            state = Told.FINE
    elif (
        recent[-window:].count(FAILED) >= rule.runs
        # One that works every other time is not broken.
        and recent.endswith(FAILED * min(rule.runs, 2))
        and now - failing_since >= rule.over_s
    ):
        state = Told.FLAPPING if is_lately else Told.BROKEN
    told_at = known.told_at if state is known.state else now
    return Known(state, recent, since, failing_since, told_at)
