"""When a finding is told: its states from check to check.

Pure: the time is an argument.  A finding is *fine* until enough checks have failed; then it is
*dead*, and when as many in a row have found it working, fine again.  One that dies again soon after
that is *flapping*, until it has not changed for a while.  Each change of state is told.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["DAY_S", "FAILED", "MAX_RECENT", "Known", "Rule", "State", "decide"]

DAY_S = 86400.0

# One that dies again within this time is flapping, until it has not changed for as long.
FLAPPING_S = 14 * DAY_S

# The results of checks that are kept for each finding.
MAX_RECENT = 90

FAILED, WORKED = "x", "."


class State(StrEnum):
    """What was told of a finding last."""

    FINE = "fine"
    """Nothing, or that it is mended."""
    DEAD = "dead"
    FLAPPING = "flapping"


@dataclass(frozen=True, slots=True)
class Rule:
    """When a finding is dead.

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
        mended_at: When it was told to be mended; None if it was not.
    """

    state: State = State.FINE
    recent: str = ""
    since: float = 0.0
    failing_since: float = 0.0
    mended_at: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether it works, and no one need be told."""
        return self.state is State.FINE and self.recent.endswith(WORKED)

    @property
    def is_suspected(self) -> bool:
        """Whether it has failed, and may be told soon."""
        return self.state is State.FINE and self.recent.endswith(FAILED)


def decide(known: Known, failed: bool, now: float, rule: Rule) -> Known:
    """Return what is known of a finding after a check.

    >>> first = decide(Known(), True, 0.0, Rule(runs=2))
    >>> first.state, decide(first, True, 86400.0, Rule(runs=2)).state
    (<State.FINE: 'fine'>, <State.DEAD: 'dead'>)
    """
    result = FAILED if failed else WORKED
    recent = (known.recent + result)[-MAX_RECENT:]
    since = known.since if known.recent.endswith(result) else now
    number = max(rule.runs, rule.of, 2)
    is_first = failed and FAILED not in known.recent[1 - number :]
    failing_since = now if is_first else known.failing_since
    known = replace(known, recent=recent, since=since, failing_since=failing_since)
    if known.state is State.FLAPPING:
        if now - since < FLAPPING_S:
            return known
        state = State.DEAD if failed else State.FINE
        return replace(known, state=state, mended_at=None)
    if known.state is State.DEAD:
        is_mended = recent.endswith(WORKED * rule.runs)
        return replace(known, state=State.FINE, mended_at=now) if is_mended else known
    # One that works every other time is not dead.
    is_failing = recent.endswith(FAILED * min(rule.runs, 2))
    is_often = recent[-number:].count(FAILED) >= rule.runs
    if not (is_failing and is_often and now - failing_since >= rule.over_s):
        return known
    is_again = known.mended_at is not None and now - known.mended_at < FLAPPING_S
    return replace(known, state=State.FLAPPING if is_again else State.DEAD)
