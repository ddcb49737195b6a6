"""The command line: runs and checks legacy programs, and examines running ones.

``python -m gencoro run app.py ARGS`` runs a program written for legacy Tornado on today's;
``python -m gencoro doctor PATH`` lists the legacy names that a code base uses; ``python -m
gencoro convert PATH`` converts its coroutines to ``async def``; ``python -m gencoro pstree
PID`` shows what the coroutines of a process wait for, and ``ps`` lists them.
"""

# ruff: noqa: PLC0415 - each command imports its own modules, so that the others cost nothing
import argparse
import difflib
import os
import sys
from typing import Any, NoReturn, TypeAlias

import gencoro

__all__ = ["main"]

# Exit statuses, besides those of the program and of the doctor.
MISUSED = 2
FAILED = 3
INTERRUPTED = 130

# Commands that work beside any Tornado.
WITHOUT_TORNADO = {"--version", "ps", "pstree"}

RUN_USAGE = "python -m gencoro run [-h] [--record FILE] (FILE | -m MODULE) [ARGS ...]"

EXAMPLES = """\
examples:
  python -m gencoro run app.py --port=8888
  python -m gencoro run -m package
  python -m gencoro run --record seen -m pytest
  python -m gencoro doctor app.py
  python -m gencoro doctor --all tornado-redis
  python -m gencoro convert app.py
  python -m gencoro pstree 4711
"""

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class _Parser(argparse.ArgumentParser):
    """Reports a usage error in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"{self.prog}: {message}; see `{self.prog} --help`\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a word of which there is a list; argparse calls this."""
        choices = list(action.choices or ())
        if choices and value not in choices:
            near = difflib.get_close_matches(str(value), choices, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            name = "/".join(action.option_strings) or action.metavar
            self.exit(
                MISUSED,
                f"{self.prog}: {name} is {value!r}; it must be {' or '.join(choices)}"
                f"{meant}\n",
            )


def main(argv: list[str]) -> int:
    """Run the command line; return the exit status."""
    own, of_program = _split(argv)
    if not set(own[:1]) & WITHOUT_TORNADO and not _has_tornado():
        return FAILED
    args = _parser(own).parse_args(own)
    if args.command == "run":
        return _run(args, of_program)
    try:
        status: int = args.execute(args)
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as exc:  # such as a full disk
        print(f"gencoro {args.command}: {exc}", file=sys.stderr)
        return FAILED


def _has_tornado() -> bool:
    """Return True if Tornado is new enough; print why not, otherwise."""
    try:
        from gencoro import needs_tornado  # noqa: F401
    except ImportError as exc:
        print(f"gencoro: {exc}", file=sys.stderr)
        return False
    return True


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Separate our arguments from those of the program."""
    if argv[:1] != ["run"]:
        return argv, []
    ours = 1
    while argv[ours : ours + 1] == ["--record"]:
        ours += 2
    ours += 2 if argv[ours : ours + 1] == ["-m"] else 1
    return argv[:ours], argv[ours:]


def _run(args: argparse.Namespace, of_program: list[str]) -> int:
    from gencoro.compat.run_program import run_module, run_script

    if args.record is not None:
        from gencoro.recording import try_start

        if not try_start(args.record):
            return FAILED
    if args.module is not None:
        run_module(args.module, of_program)
    elif os.path.exists(args.file):
        run_script(args.file, of_program)
    else:
        print(f"gencoro run: there is no file {args.file!r}", file=sys.stderr)
        return MISUSED
    return 0


def _parser(own: list[str]) -> argparse.ArgumentParser:
    """Return the parser of the command in these arguments, or of all commands."""
    parser: argparse.ArgumentParser = _Parser(
        prog="python -m gencoro",
        description="Runs and converts programs written for Tornado 2 to 5, and examines "
        "running ones.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"gencoro {gencoro.__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    first = own[0] if own else ""
    if first != "--version":
        for add in [ADD[first]] if first in ADD else dict.fromkeys(ADD.values()):
            add(commands)
    return parser


def _add_run(commands: _Commands) -> None:
    run = commands.add_parser(
        "run",
        usage=RUN_USAGE,
        help="run a program written for Tornado 2 to 5, unmodified",
    )
    run.add_argument(
        "--record",
        metavar="FILE",
        help="add to FILE how the program and its child processes use coroutines, for "
        "`convert --evidence FILE`",
    )
    which = run.add_mutually_exclusive_group(required=True)
    which.add_argument("file", nargs="?", metavar="FILE", help="the script")
    which.add_argument("-m", dest="module", metavar="MODULE", help="a module instead")


def _add_doctor(commands: _Commands) -> None:
    from gencoro.compat.doctor import doctor

    examine = commands.add_parser(
        "doctor",
        help="list the legacy names of Tornado that a code base uses, without running it",
    )
    examine.add_argument(
        "target",
        metavar="PATH|PACKAGE",
        help="a file, a folder, or the name of a module or distribution",
    )
    examine.add_argument(
        "--all", action="store_true", help="list every place, not the first few"
    )
    examine.add_argument(
        "--format", choices=["text", "json"], default="text", help="(default: text)"
    )
    examine.set_defaults(
        execute=lambda args: doctor(
            args.target, show_all=args.all, as_json=args.format == "json"
        )
    )


def _add_convert(commands: _Commands) -> None:
    from gencoro.porting.command import add_command, convert_files

    add_command(commands)
    commands.choices["convert"].set_defaults(execute=convert_files)


def _add_process(commands: _Commands) -> None:
    from gencoro.introspect.remote.command import add_commands

    add_commands(commands)


ADD = {
    "run": _add_run,
    "doctor": _add_doctor,
    "convert": _add_convert,
    "pstree": _add_process,
    "ps": _add_process,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
