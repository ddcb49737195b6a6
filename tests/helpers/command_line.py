"""The command line, run in the process of the tests."""

import contextlib
import json
import signal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crawler_app.commands.main import main

__all__ = ["CommandLine", "Ended"]


class Ended(NamedTuple):
    """What a command has left: its exit status, and what it printed."""

    status: int
    out: str
    err: str


class CommandLine:
    """Runs ``gencrawl`` commands, one after the other."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Ended:
        self._capsys.readouterr()  # what was printed before is not the command's
        handlers = _signal_handlers()
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as exc:  # argparse ends so
            assert isinstance(exc.code, int)
            status = exc.code
        assert _signal_handlers() == handlers, "the command has left its own behind"
        return Ended(status, *self._capsys.readouterr())

    def into(self, path: Path, *arguments: object) -> None:
        """Write the output of a command, which must succeed, to a file."""
        with path.open("w") as file, contextlib.redirect_stdout(file):
            ended = self(*arguments)
        assert ended.status == 0, ended.err

    def json(self, *arguments: object) -> Any:
        """Return the document that a command prints, which must succeed."""
        ended = self(*arguments)
        assert ended.status == 0, ended.err
        return json.loads(ended.out)


def _signal_handlers() -> list[Any]:
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
