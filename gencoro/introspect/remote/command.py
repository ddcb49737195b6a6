"""The commands ``python -m gencoro pstree PID`` and ``python -m gencoro ps PID``."""

import argparse
import json
import math
import sys
from collections.abc import Callable
from typing import TypeVar

from gencoro.introspect.drawing import printable
from gencoro.introspect.remote.errors import RemoteError
from gencoro.introspect.remote.listing import graph_document, list_document, table
from gencoro.introspect.remote.attach import Sight, look_at
from gencoro.introspect.snapshot import Snapshot

__all__ = ["add_commands", "show_process"]

N = TypeVar("N", int, float)

# The maximum number of coroutines, Tasks and Futures to examine, by default.  The process
# is paused for about 0.1 s then.
LIMIT = 10_000

TIMEOUT_S = 2.0

FAILED = 1

HELP = {
    "pstree": "show the wait tree of the coroutines and Tasks of a running process",
    "ps": "list the coroutines and Tasks of a running process",
}


def add_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add the commands to a parser."""
    for name, what in HELP.items():
        command = commands.add_parser(
            name, help=what, description=f"{what}.".capitalize()
        )
        command.add_argument(
            "pid", type=_positive(int), metavar="PID", help="the process"
        )
        command.add_argument("--json", action="store_true", help="print JSON")
        command.add_argument(
            "--limit",
            type=_positive(int),
            default=LIMIT,
            metavar="N",
            help="examine at most N coroutines, Tasks and Futures (default: %(default)s)",
        )
        command.add_argument(
            "--timeout",
            type=_positive(float),
            default=TIMEOUT_S,
            metavar="SECONDS",
            help="(default: %(default)s)",
        )


def show_process(args: argparse.Namespace) -> int:
    """Run one of the commands; return the exit status."""
    try:
        sight = look_at(args.pid, args.limit, args.timeout)
    except RemoteError as exc:
        return _complain(args.command, str(exc))
    show = _show_json if args.json else _show_text
    # Names may have letters that the terminal's encoding lacks.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    print(show(args.command, sight), flush=True)
    return _complain(args.command, sight.problem) if sight.problem else 0


def _show_json(command: str, sight: Sight) -> str:
    document = list_document if command == "ps" else graph_document
    problem = {"problem": sight.problem or None}
    return json.dumps(document(sight.snapshot) | problem, indent=2)


def _show_text(command: str, sight: Sight) -> str:
    snapshot = sight.snapshot
    draw = table if command == "ps" else Snapshot.tree
    parts = snapshot.heading()
    if snapshot.nodes_by_loop or not (sight.problem or snapshot.left_out):
        parts.append(draw(snapshot))
    text = "\n\n".join(parts)
    if snapshot.left_out:
        text += (
            f"\n\n{snapshot.left_out} more coroutines and Tasks were not examined, and may "
            "be what these wait for, or wait for these; see --limit and --timeout"
        )
    return text


def _complain(command: str, problem: str) -> int:
    lines = [printable(line) for line in problem.splitlines()]
    print(f"gencoro {command}:", "\n".join(lines), file=sys.stderr)
    return FAILED


def _positive(number: Callable[[str], N]) -> Callable[[str], N]:
    def parse(text: str) -> N:
        value = number(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is not a positive number")
        return value

    parse.__name__ = number.__name__  # argparse names it in its errors
    return parse
