"""Draws what a trace shows as SVG: time runs down, with a column for each coroutine.

Pure: a trace in, text out.  Each picture has its own background, in light and in dark, and
says in words what it shows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from recorder import Event, Trace

__all__ = ["draw_runners", "draw_turns"]

WIDTH = 760
MARGIN = 16
TIME_WIDTH = 62
CALLS_WIDTH = 256
LINE = 22
HEAD_HEIGHT = 80

# What coroutines do, and how a box says it.
COROUTINE_KINDS = ("starts", "goes on", "error", "waits", "ends")

STYLE = """
  .ground { fill: #ffffff; stroke: #d5d8dd }
  text { font: 12.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
         fill: #16181b }
  .title { font-size: 17px; font-weight: 600 }
  .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 11.5px }
  .quiet { fill: #5a616b }
  .turn { stroke: #d5d8dd }
  .pause { fill: #f0f1f4 }
  .waits { stroke: #5a616b; stroke-dasharray: 2 4 }
  .runs { fill: #d7e6fa; stroke: #3567a8 }
  .ends { fill: #3567a8; stroke: #3567a8 }
  .in { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #16181c; stroke: #3a3f48 }
    text { fill: #f3f4f6 }
    .quiet { fill: #a9b0ba }
    .turn { stroke: #3a3f48 }
    .pause { fill: #22262d }
    .waits { stroke: #a9b0ba }
    .runs { fill: #1f3a5f; stroke: #6d9fe0 }
    .ends { fill: #8ab4ea; stroke: #8ab4ea }
    .in { fill: #10131a }
  }
"""


@dataclass
class Row:
    """One line of a picture.

    Attributes:
        turn, time: Which turn of the loop begins here, if one does, and when.
        call: What the loop calls.
        texts: What each column does here.
        pause: What happens while nothing runs, instead of everything else.
    """

    turn: str = ""
    time: str = ""
    call: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    pause: str = ""


def draw_turns(trace: Trace, title: str) -> str:
    """Return what each callback of the loop did, and who ran in it."""
    events = [e for e in trace.events if e.kind not in ("enters", "leaves")]
    return _draw(title, list(_rows_of_calls(events)))


def draw_runners(trace: Trace, title: str) -> str:
    """Return each step of the Runners and of their coroutines, in a row of its own."""
    events = [e for e in trace.events if (e.kind, e.text) != ("leaves", "None")]
    return _draw(title, list(_rows_of_steps(events)))


def _rows_of_calls(events: Iterable[Event]) -> Iterator[Row]:
    turn, row = 0, None
    for event in events:
        if event.kind in COROUTINE_KINDS and row is not None:
            before = row.texts.get(event.who, "")
            row.texts[event.who] = _joined(before, event.kind)
            continue
        if row is not None:
            yield row
        row = _row_of(event, turn)
        turn = event.turn
    if row is not None:
        yield row


def _joined(before: str, kind: str) -> str:
    """Add what happens next; a coroutine that goes on with an error gets that.

    >>> _joined("goes on", "waits"), _joined("goes on", "error"), _joined("", "starts")
    ('goes on, waits', 'error', 'starts')
    """
    if kind == "error":
        before = before.removesuffix("goes on").rstrip(", ")
    return f"{before}, {kind}" if before else kind


def _rows_of_steps(events: Iterable[Event]) -> Iterator[Row]:
    turn = 0
    for event in events:
        row = _row_of(event, turn)
        turn = event.turn
        if event.kind in COROUTINE_KINDS:
            row.texts[event.who] = event.kind
        elif event.kind == "enters":
            row.texts[event.who] = f"{event.text}()"
        elif event.kind == "leaves":
            is_future = event.text.startswith("<")
            row.texts[event.who] = f"\u2192 {'a Future' if is_future else event.text}"
        yield row


def _row_of(event: Event, turn: int) -> Row:
    if event.kind == "passes":
        return Row(pause=event.text)
    is_new = event.turn != turn
    return Row(
        turn=f"turn {event.turn}" if is_new else "",
        time=f"{event.at_s:g} s" if is_new else "",
        call=event.text if event.kind == "calls" else "",
    )


def _draw(title: str, rows: list[Row]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row.texts))
    height = HEAD_HEIGHT + LINE * len(rows) + MARGIN
    parts = [*_head(title, columns), *_lives(rows, columns)]
    for number, row in enumerate(rows):
        parts += _row(row, HEAD_HEIGHT + LINE * number, columns)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-labelledby="title description">\n'
        f'<title id="title">{escape(title)}</title>\n'
        f'<desc id="description">{escape(_in_words(rows))}</desc>\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" '
        f'height="{height - 1}" rx="6"/>\n{body}\n</svg>\n'
    )


def _in_words(rows: list[Row]) -> str:
    sentences = []
    for row in rows:
        if row.pause:
            sentences.append(row.pause)
            continue
        doing = "; ".join(f"{name}: {text}" for name, text in row.texts.items())
        place = ", ".join(text for text in (row.turn, row.time) if text)
        call = f"the loop calls {row.call}" if row.call else ""
        words = ": ".join(text for text in (place, call, doing) if text)
        sentences.append(f"{words}.")
    return " ".join(sentences)


def _head(title: str, columns: list[str]) -> list[str]:
    y = HEAD_HEIGHT - 14
    head = [
        _text(MARGIN, 30, title, "title"),
        _text(MARGIN + TIME_WIDTH, y, "The loop calls", "quiet"),
    ]
    for column in columns:
        owner, is_of, name = column.partition(" of ")
        x = _left(columns, column)
        if is_of:
            head.append(_text(x, y - 15, f"{owner} of", "quiet"))
        head.append(_text(x, y, name or column, "code"))
    return head


def _row(row: Row, top: int, columns: list[str]) -> list[str]:
    if row.pause:
        size = f'width="{WIDTH - 2}" height="{LINE - 4}"'
        return [
            f'<rect class="pause" x="1" y="{top + 2}" {size}/>',
            _text(MARGIN + TIME_WIDTH, top + 16, row.pause, "quiet"),
        ]
    parts = []
    if row.turn:
        end = WIDTH - MARGIN
        parts.append(
            f'<line class="turn" x1="{MARGIN}" x2="{end}" y1="{top}" y2="{top}"/>'
        )
        parts.append(_text(MARGIN, top + 16, row.turn, "quiet"))
    if row.call:
        parts.append(_text(MARGIN + TIME_WIDTH, top + 16, row.call, "code"))
    for column, text in row.texts.items():
        parts += _box(_left(columns, column), top, _width(columns), text)
    return parts


def _box(left: float, top: int, width: float, text: str) -> list[str]:
    is_over = text.endswith("ends")
    kind = "ends" if is_over else "runs"
    size = f'width="{width - 6:.1f}" height="{LINE - 4}"'
    return [
        f'<rect class="{kind}" x="{left - 6:.1f}" y="{top + 2}" {size} rx="4"/>',
        _text(left, top + 16, text, "in" if is_over else ""),
    ]


def _lives(rows: list[Row], columns: list[str]) -> Iterator[str]:
    """Draw a line in each column, from one box to the next, where something waits."""
    for column in columns:
        places = [number for number, row in enumerate(rows) if column in row.texts]
        x = _left(columns, column) + 6
        for above, below in pairwise(places):
            y1, y2 = (HEAD_HEIGHT + LINE * n for n in (above + 1, below))
            if y1 < y2:
                yield f'<line class="waits" x1="{x}" x2="{x}" y1="{y1}" y2="{y2}"/>'


def _width(columns: list[str]) -> float:
    return (WIDTH - 2 * MARGIN - TIME_WIDTH - CALLS_WIDTH) / len(columns)


def _left(columns: list[str], column: str) -> float:
    left = MARGIN + TIME_WIDTH + CALLS_WIDTH
    return round(left + _width(columns) * columns.index(column), 1)


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{attribute}>{escape(text)}</text>'
