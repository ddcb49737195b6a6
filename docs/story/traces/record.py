"""Records the programs, and writes their pictures and the page that steps through them.

``python docs/story/traces/record.py [FOLDER]``, by default into this folder.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import programs
from page import render
from pictures import draw_runners, draw_turns
from recorder import Trace

__all__ = ["main", "results"]

TITLES = {
    "three_naps": "run_sync of three coroutines that sleep",
    "two_fetches": "Two fetches on the loop of stage 4",
    "readers_runner": "One yielded Future, with the Runner of stage 7",
    "one_yield": "One yielded Future, with the Runner of gencoro",
    "one_cancel": "Where a cancel goes",
}

DRAWN: dict[str, Callable[[Trace, str], str]] = {
    "three_naps": draw_turns,
    "two_fetches": draw_turns,
    "one_yield": draw_runners,
    "one_cancel": draw_turns,
}


def results() -> dict[str, str]:
    """Return the text of each file, by its name."""
    traces = {name: programs.RECORDINGS[name]() for name in TITLES}
    files = {
        f"{name}.svg": draw(traces[name], TITLES[name]) for name, draw in DRAWN.items()
    }
    return {**files, "stepper.html": render(traces, TITLES)}


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, text in results().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
