"""When a site is checked next, and during which hours no notice is sent.

Pure: the time is an argument, in seconds since the epoch.  Times of day are those of this
machine's time zone, also on the days on which its clocks are changed.
"""

from datetime import datetime, time, timedelta

from crawler_app.base.config.option import require

__all__ = ["end_of_quiet", "next_check_at", "require_hours", "require_time"]


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
    return _next_of(_time(at), last_at) if at else last_at + every_s


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
    begin, end = map(_time, hours.split("-"))
    local = datetime.fromtimestamp(now).time()
    if begin <= end:
        is_quiet = begin <= local < end
    else:
        is_quiet = local >= begin or local < end
    return _next_of(end, now) if is_quiet else now


def _time(text: str) -> time:
    return datetime.strptime(text.strip(), "%H:%M").time()


def _next_of(when: time, after: float) -> float:
    """Return the first moment after another that has a time of day."""
    day = datetime.fromtimestamp(after)
    while (moment := datetime.combine(day, when).timestamp()) <= after:
        day += timedelta(days=1)
    return moment


def require_time(name: str, text: str) -> None:
    """Raise ConfigError unless a text is a time of day, or empty."""
    require(name, text, not text or _are_times(text), "a time such as 03:00")


def require_hours(name: str, text: str) -> None:
    """Raise ConfigError unless a text is a part of the day, or empty."""
    begin, _, end = text.partition("-")
    is_right = not text or (_are_times(begin, end) and _time(begin) != _time(end))
    require(name, text, is_right, "two times such as 22:00-07:00")


def _are_times(*texts: str) -> bool:
    try:
        return bool([_time(text) for text in texts])
    except ValueError:
        return False
