"""Asks about each coroutine: its diff, and yes, no, all of the rest, or quit.

Used by `gencoro.porting.command`.
"""

from collections.abc import Callable

from gencoro.porting.decisions import Decision
from gencoro.porting.report import diff_of, sentence_of

__all__ = ["Asking", "Quit"]

_HELP = "y: convert it; n: leave it; a: convert it and all others; q: change nothing\n"


class Quit(Exception):
    """The user wants nothing to be changed."""


class Asking:
    """Asks a user about one coroutine after the other.

    Args:
        ask: Returns the answer to a question; raises EOFError if there is none.
        show: Shows a text.
    """

    def __init__(self, ask: Callable[[str], str], show: Callable[[str], None]) -> None:
        self._ask = ask
        self._show = show
        self._is_all = False

    def __call__(self, decision: Decision, source: bytes) -> bool:
        """Return whether a coroutine is to be converted.

        Args:
            source: What its module would be with it alone.

        Raises:
            Quit: nothing is to be changed.
        """
        if self._is_all:
            return True
        module = decision.function.module
        self._show(diff_of({module.path: module.source}, {module.path: source}))
        for finding in decision.listed:
            self._show(f"{finding.file}:{finding.line}: {sentence_of(finding)}\n")
        while True:
            answer = self._answer(f"Convert {decision.function.name}? [y/n/a/q] ")
            if answer in ("q", "quit"):
                raise Quit
            if answer in ("y", "yes", "n", "no", "a", "all"):
                self._is_all = answer[0] == "a"
                return answer[0] != "n"
            self._show(_HELP)

    def _answer(self, question: str) -> str:
        try:
            return self._ask(question).strip().lower()
        except EOFError:
            raise Quit from None
