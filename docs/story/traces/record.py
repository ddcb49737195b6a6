"""Records the programs, and writes their pictures and the page that steps through them.

``python docs/story/traces/record.py [FOLDER]``, by default into this folder.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import programs
from page import render
from pictures import draw_runners, draw_turns
from recorder import Trace

__all__ = ["main", "results"]


class Recording(NamedTuple):
    """A program, and how its trace is drawn."""

    title: str
    record: Callable[[], Trace]
    draw: Callable[[Trace, str], str]


# By the name of the picture, in the order in which a reader may choose them.
RECORDINGS = {
    "three_naps": Recording(
        "run_sync of three coroutines that sleep",
        programs.run_sync_of_three_naps,
        draw_turns,
    ),
    "two_fetches": Recording(
        "Two fetches on the loop of stage 4",
        programs.two_fetches_of_stage_4,
        draw_turns,
    ),
    "readers_runner": Recording(
        "One yielded Future, with the Runner of stage 7",
        programs.one_yield_of_stage_7,
        draw_runners,
    ),
    "one_yield": Recording(
        "One yielded Future, with the Runner of gencoro",
        programs.one_yield_of_gencoro,
        draw_runners,
    ),
    "one_cancel": Recording(
        "Where a cancel goes", programs.one_cancel_of_gencoro, draw_turns
    ),
    "three_pages": Recording(
        "Three pages in crawler_app", programs.three_pages_of_crawler_app, draw_turns
    ),
}


def results() -> dict[str, str]:
    """Return the text of each file, by its name."""
    files, traces = {}, {}
    for name, (title, record, draw) in RECORDINGS.items():
        traces[name] = title, record()
        files[f"{name}.svg"] = draw(traces[name][1], title)
    return {**files, "stepper.html": render(traces)}


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, text in results().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
