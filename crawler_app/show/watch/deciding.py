"""When a finding is told: the states of a finding from check to check.

Pure: the time is an argument.  A finding is *fine* until it has failed often enough; then it is
*dead*, which is told, and when it works again it is fine, which is told too.  One that dies again
soon after that is *flapping*: it is told once, and then not until it has not changed for a while.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["Change", "Known", "Rule", "State", "decide"]

# The results of checks that are kept for each finding.
MAX_RECENT = 60

FAILED, WORKED = "x", "."


class State(StrEnum):
    """What was told of a finding last."""

    FINE = "fine"
    """Nothing, or that it is mended."""
    DEAD = "dead"
    FLAPPING = "flapping"


class Change(StrEnum):
    """What is to be told."""

    DEAD = "dead"
    MENDED = "mended"
    FLAPPING = "flapping"


@dataclass(frozen=True, slots=True)
class Rule:
    """When a finding is dead.

    Attributes:
        runs: Checks in which it must have failed ...
        of: ... among this number of the last ones.
        over_s: The least time since the first of these failures.
        flapping_s: One that dies again within this time is flapping, until it has not
            changed for as long.
    """

    runs: int = 1
    of: int = 1
    over_s: float = 0.0
    flapping_s: float = 14 * 86400.0


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a finding.

    Attributes:
        recent: Its last results, the newest at the end: ``x`` if it failed, ``.`` if not.
        failing_since: When it first failed among the last results; None if it did not.
        steady_since: The first of the results that are the same as the newest.
        mended_at: When it was told to be mended; None if it was not.
    """

    state: State = State.FINE
    recent: str = ""
    failing_since: float | None = None
    steady_since: float = 0.0
    mended_at: float | None = None

    @property
    def is_suspected(self) -> bool:
        """Whether it has failed, and may be told soon."""
        return self.state is State.FINE and self.failing_since is not None


def decide(
    known: Known, failed: bool, now: float, rule: Rule
) -> tuple[Known, Change | None]:
    """Return what is known of a finding after a check, and what is to be told.

    >>> rule = Rule(runs=2, of=3)
    >>> known, change = decide(Known(), True, 0.0, rule)
    >>> change is None, decide(known, True, 86400.0, rule)[1]
    (True, <Change.DEAD: 'dead'>)
    """
    known = _with_result(known, failed, now, rule)
    is_steady = now - known.steady_since >= rule.flapping_s
    if known.state is State.FLAPPING:
        if not is_steady:
            return known, None
        if failed:
            return replace(known, state=State.DEAD), Change.DEAD
        return replace(known, state=State.FINE, mended_at=None), Change.MENDED
    if known.state is State.DEAD:
        if not known.recent.endswith(WORKED * rule.runs):
            return known, None
        return replace(known, state=State.FINE, mended_at=now), Change.MENDED
    if not _is_dead(known, now, rule):
        return known, None
    if known.mended_at is not None and now - known.mended_at < rule.flapping_s:
        return replace(known, state=State.FLAPPING), Change.FLAPPING
    return replace(known, state=State.DEAD), Change.DEAD


def _with_result(known: Known, failed: bool, now: float, rule: Rule) -> Known:
    result = FAILED if failed else WORKED
    recent = (known.recent + result)[-MAX_RECENT:]
    since: float | None = now if known.failing_since is None else known.failing_since
    if FAILED not in recent[-rule.of :]:
        since = None
    is_same = known.recent.endswith(result)
    return replace(
        known,
        recent=recent,
        failing_since=since,
        steady_since=known.steady_since if is_same else now,
    )


def _is_dead(known: Known, now: float, rule: Rule) -> bool:
    """Return whether it has failed often and long enough, and does so now.

    One that works every other time does not count: its last two results must be failures.
    """
    if known.failing_since is None or now - known.failing_since < rule.over_s:
        return False
    is_failing = known.recent.endswith(FAILED * min(rule.runs, 2))
    return is_failing and known.recent[-rule.of :].count(FAILED) >= rule.runs
