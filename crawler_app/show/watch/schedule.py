"""When a site is checked next, and during which hours no notice is sent.

Pure: the time is an argument, in seconds since the epoch.  Times of day are those of this
machine's time zone, also on the days on which its clocks are changed.
"""

import re
from datetime import datetime, time, timedelta

from crawler_app.base.config.option import require

__all__ = [
    "end_of_quiet",
    "next_check_at",
    "parse_time",
    "require_hours",
    "require_time",
]

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


def parse_time(text: str) -> time:
    """Return a time of day.

    Raises:
        ValueError: it is not one.

    >>> parse_time("03:00")
    datetime.time(3, 0)
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return time(int(found[1]), int(found[2]))


def next_check_at(last_at: float | None, every_s: float, at: str, now: float) -> float:
    """Return when to check a site.

    Args:
        last_at: The beginning of its last check; None if there was none.
        at: A time of day, which takes the place of `every_s`; empty for none.

    >>> next_check_at(None, 60.0, "", now=1000.0), next_check_at(990.0, 60.0, "", now=1000.0)
    (1000.0, 1050.0)
    """
    if last_at is None:
        return now
    if not at:
        return last_at + every_s
    return _next_of(parse_time(at), last_at)


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
    begin, end = map(parse_time, hours.split("-"))
    local = datetime.fromtimestamp(now).time()
    if begin <= end:
        is_quiet = begin <= local < end
    else:
        is_quiet = local >= begin or local < end
    return _next_of(end, now) if is_quiet else now


def _next_of(when: time, after: float) -> float:
    """Return the first moment after another that has a time of day."""
    day = datetime.fromtimestamp(after)
    # On a day whose clocks jump over that time, the next day has it.
    for _ in range(3):
        moment = datetime.combine(day, when).timestamp()
        if moment > after:
            return moment
        day += timedelta(days=1)
    raise AssertionError("each day has every time but one hour")


def require_time(name: str, text: str) -> None:
    """Raise ConfigError unless a text is a time of day, or empty."""
    is_right = not text or _TIME.fullmatch(text.strip()) is not None
    require(name, text, is_right, "a time such as 03:00")


def require_hours(name: str, text: str) -> None:
    """Raise ConfigError unless a text is a part of the day, or empty."""
    parts = text.split("-")
    is_right = not text or (
        len(parts) == 2
        and all(_TIME.fullmatch(part.strip()) for part in parts)
        and parse_time(parts[0]) != parse_time(parts[1])
    )
    require(name, text, is_right, "two times such as 22:00-07:00")
