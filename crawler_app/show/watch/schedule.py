"""When a site is checked next, and during which hours no notice is sent.

Pure: the time is an argument, in seconds since the epoch.  Times of day are those of this
machine's time zone, also on the days on which its clocks are changed.
"""

from datetime import datetime, time, timedelta

from crawler_app.base.config.option import Rule, require

__all__ = ["end_of_quiet", "next_check_at", "times"]


def next_check_at(last_at: float | None, every_s: float, at: str, now: float) -> float:
    """Return when to check a site.

    Args:
        last_at: The beginning of its last check; None if there was none.
        at: A time of day, which takes the place of `every_s`; empty for none.

    >>> next_check_at(None, 60.0, "", now=1000.0), next_check_at(990.0, 60.0, "", now=1000.0)
    (1000.0, 1050.0)
    """
    # A check in the future means that the clock was set back.
    if last_at is None or last_at > now:
        return now
    return _next_of(_times(at)[0], last_at) if at else last_at + every_s


def end_of_quiet(hours: str, now: float) -> float:
    """Return when the quiet hours end, or now if there are none at this time.

    >>> noon = datetime(2026, 11, 28, 12).timestamp()
    >>> end_of_quiet("22:00-07:00", noon) == noon
    True
    >>> end_of_quiet("10:00-13:00", noon) - noon
    3600.0
    """
    if not hours:
        return now
    begin, end = (_next_of(each, now) for each in _times(hours))
    return end if end < begin else now


def times(count: int, example: str) -> Rule:
    """Make a rule for times of day with hyphens between them; an empty text is allowed.

    >>> times(1, "a time such as 03:00")("at", "3:00")
    """

    def require_times(name: str, text: str) -> None:
        try:
            is_right = not text or len(set(_times(text))) == count
        except ValueError:
            is_right = False
        require(name, text, is_right, example)

    return require_times


def _times(text: str) -> list[time]:
    return [datetime.strptime(t.strip(), "%H:%M").time() for t in text.split("-")]


def _next_of(when: time, after: float) -> float:
    """Return the first moment after another that has a time of day."""
    day = datetime.fromtimestamp(after)
    while (moment := datetime.combine(day, when).timestamp()) <= after:
        day += timedelta(days=1)
    return moment
