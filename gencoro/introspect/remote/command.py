"""The commands ``python -m gencoro pstree PID`` and ``python -m gencoro ps PID``."""

import argparse
import json
import math
import sys
from collections.abc import Callable
from typing import TypeVar

from gencoro.introspect.drawing import printable
from gencoro.introspect.remote.attach import look_at
from gencoro.introspect.remote.listing import list_document, table
from gencoro.introspect.remote.process import RemoteError
from gencoro.introspect.snapshot import Snapshot

__all__ = ["add_commands"]

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
            name, help=what, description=f"{what[0].upper()}{what[1:]}."
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
            help="the maximum time to wait for an answer (default: %(default)s)",
        )
        command.set_defaults(execute=_show_process)


def _show_process(args: argparse.Namespace) -> int:
    """Run one of the commands; return the exit status."""
    try:
        snapshot = look_at(args.pid, args.limit, args.timeout)
    except RemoteError as exc:
        lines = [printable(line) for line in str(exc).splitlines()]
        print(f"gencoro {args.command}:", "\n".join(lines), file=sys.stderr)
        return FAILED
    show = _as_json if args.json else _as_text
    # Names may have letters that the terminal's encoding lacks.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    print(show(args.command, snapshot), flush=True)
    return 0


def _as_json(command: str, snapshot: Snapshot) -> str:
    document = list_document if command == "ps" else Snapshot.document
    return json.dumps(document(snapshot), indent=2)


def _as_text(command: str, snapshot: Snapshot) -> str:
    draw = table if command == "ps" else Snapshot.tree
    parts = snapshot.heading()
    if snapshot.nodes_by_loop or not snapshot.left_out:
        parts.append(draw(snapshot))
    text = "\n\n".join(parts)
    if snapshot.left_out:
        text += (
            f"\n\n{snapshot.left_out} more coroutines and Tasks were not examined, and may "
            "be what these wait for, or wait for these; see --limit and --timeout"
        )
    return text


def _positive(number: Callable[[str], N]) -> Callable[[str], N]:
    def parse(text: str) -> N:
        value = number(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is not a positive number")
        return value

    parse.__name__ = number.__name__  # argparse names it in its errors
    return parse
