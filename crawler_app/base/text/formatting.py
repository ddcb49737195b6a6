"""Formats numbers, times, sizes and URLs for display.

Pure.  Text from a site is shortened, with its control characters escaped.
"""

import datetime

from crawler_app.base.text.escaping import printable

__all__ = [
    "ELLIPSIS",
    "bar_percent",
    "cut",
    "cut_middle",
    "duration",
    "error_words",
    "iso_time",
    "number",
    "seconds",
    "sentence",
    "shown_url",
    "size",
    "time_of_day",
    "without_middle",
]

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def number(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun.

    >>> number(1, "page"), number(1200, "page"), number(2, "copy", "copies")
    ('1 page', '1,200 pages', '2 copies')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def sentence(words: str) -> str:
    """Return words with a capital first letter.

    >>> sentence("the host does not answer")
    'The host does not answer'
    """
    return words[:1].upper() + words[1:]


def error_words(error: Exception, path: object = "") -> str:
    """Return the message of an error, without the number at the start of an `OSError`.

    Args:
        path: Omitted if the error is about it, because the message names it already.

    >>> full = OSError(28, "No space left on device", "docs/lock")
    >>> error_words(full), error_words(full, "docs/lock"), error_words(ValueError("no"))
    ('docs/lock: No space left on device', 'No space left on device', 'no')
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    about = str(error.filename or "")
    return (
        f"{about}: {error.strerror}" if about not in ("", str(path)) else error.strerror
    )


def cut(text: str, most: int) -> str:
    """Return a text shortened at its end to `most` characters.

    >>> cut("The end of the text", 12)
    'The end of…'
    """
    text = printable(text)
    return text if len(text) <= most else text[: most - 1].rstrip() + ELLIPSIS


def cut_middle(text: str, most: int) -> str:
    """Return a text shortened in its middle to `most` characters.

    >>> cut_middle("http://a.test/very/long/path.html", 21)
    'http://a.t…/path.html'
    """
    return without_middle(printable(text), most)


def without_middle(text: str, most: int, mark: str = ELLIPSIS) -> str:
    """Return a text shortened in its middle, not escaped: a URL's ends matter most.

    >>> without_middle("http://a.test/one/two/three.html", 20, "...")
    'http://a....ree.html'
    """
    if len(text) <= most:
        return text
    kept = max(most - len(mark), 0)
    end = kept // 2
    return (text[: kept - end] + mark + text[len(text) - end :])[:most]


def shown_url(url: str, home: str, most: int) -> str:
    """Return a URL for display, without the origin of the site itself.

    Args:
        home: The origin to leave out.

    >>> shown_url("http://a.test/x", "http://a.test", 30)
    '/x'
    >>> shown_url("https://b.test/x", "http://a.test", 30)
    'https://b.test/x'
    """
    if url.startswith(f"{home}/"):
        url = url[len(home) :]
    return cut_middle(url, most)


def size(size_bytes: float) -> str:
    """Format a number of bytes.

    >>> size(999), size(1000), size(53_600_000), size(3e12)
    ('999 B', '1.0 KB', '53.6 MB', '3.0 TB')
    """
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size_bytes < 999.95 or unit == "TB":
            break
        size_bytes /= 1000
    return f"{size_bytes:.0f} B" if unit == "B" else f"{size_bytes:.1f} {unit}"


def seconds(took_s: float) -> str:
    """Format the time of a fetch.

    >>> seconds(0.0123), seconds(2.5)
    ('12 ms', '2.50 s')
    """
    return f"{took_s * 1000:.0f} ms" if took_s < 0.9995 else f"{took_s:.2f} s"


def duration(took_s: float) -> str:
    """Format the duration of a crawl.

    >>> duration(8.2), duration(75), duration(7500)
    ('8 s', '1 min 15 s', '2 h 5 min')
    """
    minutes, rest_s = divmod(round(took_s), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {rest_s} s" if minutes else f"{rest_s} s"


def bar_percent(part: float, whole: float) -> float:
    """Return the length of a bar in percent; at least 0.5 if part is not 0.

    >>> bar_percent(1, 4), bar_percent(1, 1_000_000), bar_percent(0, 0)
    (25.0, 0.5, 0.0)
    """
    return max(round(100 * part / whole, 1), 0.5) if part else 0.0


def iso_time(at: float | None) -> str | None:
    """Return a time as ISO 8601 in UTC; None if there is none.

    >>> iso_time(1_700_000_000.25)
    '2023-11-14T22:13:20Z'
    """
    if at is None:
        return None
    return (
        f"{datetime.datetime.fromtimestamp(int(at), datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
    )


def time_of_day(at: float) -> str:
    """Format a time in UTC.

    >>> time_of_day(0.0)
    '1970-01-01 00:00 UTC'
    """
    return f"{datetime.datetime.fromtimestamp(at, datetime.UTC):%Y-%m-%d %H:%M} UTC"
