"""Parses and formats durations and sizes: ``1h30m``, ``250ms``, ``10MB``, ``1.5GiB``.

Pure.  Rule: a bare number is a number of seconds or of bytes, and what is rendered is
parsed to the same value.  A ``k`` is 1,000, as in the sizes that are shown; ``Ki`` is 1,024.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = [
    "BYTES",
    "SECONDS",
    "Unit",
    "parse_duration",
    "parse_size",
    "render_duration",
    "render_size",
]

MS_BY_UNIT = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
BYTES_BY_PREFIX: Mapping[str, int] = {
    "": 1,
    **{letter: 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("kmgt", 1)},
}

# Longer numbers are mistakes, and converting them takes long.
_NUMBER = r"[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30}"
_WORD = r"ms|s(?:ecs?|econds?)?|m(?:ins?|inutes?)?|h(?:ours?)?|d(?:ays?)?"
_PART = re.compile(
    rf"\s*((?:{_NUMBER})(?:e-[0-9]{{1,3}})?)\s*({_WORD})(?![a-z])\s*", re.ASCII
)
_SIZE = re.compile(rf"\s*({_NUMBER})\s*([kmgt]i?)?b?\s*", re.IGNORECASE)


def parse_duration(text: str) -> float:
    """Return a duration in seconds.

    Raises:
        ValueError: it is not a duration.

    >>> parse_duration("1h30m"), parse_duration("250ms"), parse_duration("90")
    (5400.0, 0.25, 90.0)
    """
    if (seconds := _bare_number(text)) is not None:
        return seconds
    total, end, smallest = Fraction(), 0, math.inf
    while end < len(text) and (part := _PART.match(text, end)):
        ms = MS_BY_UNIT["ms" if part[2] == "ms" else part[2][0]]
        if ms >= smallest:  # such as 5s1m, which may be a slip
            break
        total += Fraction(part[1]) * ms
        end, smallest = part.end(), ms
    if not end or end < len(text):
        raise ValueError(f"not a duration: {text!r}")
    return float(total / 1000)


def parse_size(text: str) -> int:
    """Return a size in bytes, rounded.

    Raises:
        ValueError: it is not a size.

    >>> parse_size("10MB"), parse_size("1.5 KiB"), parse_size("500k"), parse_size("90")
    (10000000, 1536, 500000, 90)
    """
    found = _SIZE.fullmatch(text)
    if not found or not found[2] and "." in found[1]:
        return int(text)  # may be negative, which the range of the option refuses
    return round(Fraction(found[1]) * BYTES_BY_PREFIX[(found[2] or "").lower()])


def render_duration(took_s: float) -> str:
    """Return a duration in the units in which it can be written shortest.

    >>> render_duration(86_400.0), render_duration(5400), render_duration(0.25)
    ('1d', '1h30m', '250ms')
    >>> render_duration(0), render_duration(20.5)
    ('0', '20.5s')
    """
    if not took_s or not abs(took_s) < math.inf:
        return f"{took_s:g}"
    if took_s < 0 or took_s != int(took_s):
        is_short = 0 < took_s < 1 and took_s == round(took_s, 3)
        shown = repr(took_s).removesuffix(".0")
        return f"{took_s * 1000:.0f}ms" if is_short else f"{shown}s"
    rest, parts = int(took_s) * 1000, []
    for unit, ms in MS_BY_UNIT.items():
        count, rest = divmod(rest, ms)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def render_size(size_bytes: int) -> str:
    """Return a size in the unit in which it can be written shortest.

    >>> render_size(16 * 1024 * 1024), render_size(10_000_000), render_size(700)
    ('16MiB', '10MB', '700B')
    """
    forms = [
        f"{size_bytes // unit}{_name(prefix)}B"
        for prefix, unit in BYTES_BY_PREFIX.items()
        if size_bytes % unit == 0
    ]
    return min(forms, key=len)


def _bare_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        raise ValueError(f"not a duration: {text!r}")
    return number


def _name(prefix: str) -> str:
    """Return a prefix as it is usually written: kB, but KiB and MB."""
    return prefix if prefix == "k" else prefix.capitalize()


@dataclass(frozen=True)
class Unit:
    """The unit of an option.

    Attributes:
        metavar: The placeholder of its values in ``--help``.
        noun: What such a value is called, with examples.
    """

    metavar: str
    noun: str
    parse: Callable[[str], float]
    render: Callable[[Any], str]


SECONDS = Unit(
    "DURATION",
    "a duration such as 250ms, 30s, 5m or 1h30m",
    parse_duration,
    render_duration,
)
BYTES = Unit("SIZE", "a size such as 500kB, 10MB or 1.5GiB", parse_size, render_size)
