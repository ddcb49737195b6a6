"""The command ``python -m gencoro convert``.

Rule: without ``--write`` nothing is changed.  LibCST is imported only when the command
runs.  Used by `gencoro.__main__`.
"""

import argparse
import contextlib
import gc
import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from gencoro.compat.doctor.targets import BadTarget
from gencoro.errors import GencoroError
from gencoro.porting.source.files import Sources, read_sources, replace_files

__all__ = ["add_command", "convert_files"]

CONVERTIBLE = 1
MISUSED = 2
FAILED = 3

# LibCST takes up to ten calls for each level of a tree; `program.DEEPEST` is the number of levels.
RECURSION_LIMIT = 8000

EPILOG = """\
examples:
  python -m gencoro convert shop                   # show a diff
  python -m gencoro convert shop tests --write
  python -m gencoro convert shop --plan
  python -m gencoro convert shop --to coroutine
  python -m gencoro convert shop --check           # for CI

Give all code of the program, with its tests: a call that is not seen is not counted.
"""


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add the command to a parser."""
    command = commands.add_parser(
        "convert",
        help="convert coroutines to async def, and show or write the changes",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a file, a folder, or the name of a module or distribution",
    )
    command.add_argument(
        "--to",
        choices=["coroutine", "async"],
        default="async",
        help="what callback-style code and coroutines become (default: %(default)s)",
    )
    done = command.add_mutually_exclusive_group()
    done.add_argument("--write", action="store_true", help="replace the files")
    done.add_argument(
        "--plan",
        action="store_true",
        help="show in which order functions can be converted, and what stays",
    )
    done.add_argument(
        "--check",
        action="store_true",
        help="show no diff; exit with 1 if something can be converted",
    )
    for name, what in (("only", "use only"), ("skip", "do not use")):
        command.add_argument(
            f"--{name}",
            type=_codes,
            default=frozenset(),
            metavar="CODE,...",
            help=f"{what} these fixers",
        )
    command.add_argument(
        "--only-functions",
        metavar="REGEX",
        type=_pattern,
        help="convert only functions whose module.qualified_name contains a match",
    )
    command.add_argument(
        "--format",
        choices=["text", "json", "sarif"],
        default="text",
        help="(default: text)",
    )


def _codes(text: str) -> frozenset[str]:
    return frozenset(filter(None, re.split(r"[,\s]+", text.upper())))


def _pattern(text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text)
    except re.error as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pattern: {exc}") from None


class _Misused(Exception):
    """The command line asks for something that does not exist."""


class _Tools(NamedTuple):
    """The modules that only this command needs; most of them need LibCST."""

    converting: ModuleType
    planning: ModuleType
    report: ModuleType
    selection: ModuleType


def convert_files(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    try:
        tools = _tools()
        _check(args, tools)
        sources = read_sources(args.paths)
    except (BadTarget, _Misused) as exc:
        print(f"convert: {exc}", file=sys.stderr)
        return MISUSED
    try:
        with _room_for_trees():
            result = _result(args, tools, sources)
        if args.write:
            replace_files(sources.by_file, result.sources)
            result = result.as_written(sources.by_file)
    except (GencoroError, OSError) as exc:
        print(f"convert: {exc}; nothing was written", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("convert: interrupted; nothing was written", file=sys.stderr)
        raise
    if args.plan:
        _print(result)
        return 0
    _show(args, tools.report, sources.by_file, result)
    return CONVERTIBLE if args.check and result.sources else 0


def _tools() -> _Tools:
    names = ("converting", "plan", "report", "selection")
    try:
        return _Tools(*(importlib.import_module(f"gencoro.porting.{n}") for n in names))
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] != "libcst":
            raise
        raise _Misused("LibCST is needed: pip install 'gencoro[porting]'") from None


def _check(args: argparse.Namespace, tools: _Tools) -> None:
    """Raise _Misused for what the parser cannot check."""
    if args.plan and args.format == "sarif":
        raise _Misused("a plan is shown as text or json, not as sarif")
    codes = tools.converting.CODES
    unknown = (args.only | args.skip) - codes
    if unknown:
        raise _Misused(
            f"there is no fixer {min(unknown)}; there are {', '.join(sorted(codes))}"
        )


def _result(args: argparse.Namespace, tools: _Tools, sources: Sources) -> Any:
    """Return the plan as text, or the conversion."""
    is_selected = tools.selection.selecting(args.only_functions)
    selection = tools.selection.Selection(args.to, args.only, args.skip, is_selected)
    if args.plan:
        as_json = args.format == "json"
        return tools.planning.plan_of(sources.by_file, selection, as_json)
    return tools.converting.convert(sources.by_file, selection, sources.unread)


@contextlib.contextmanager
def _room_for_trees() -> Iterator[None]:
    """Let trees be deep, and leave the garbage: they are very many objects, all in use."""
    was_enabled, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if was_enabled:
            gc.enable()


def _show(
    args: argparse.Namespace, report: ModuleType, sources: Any, conversion: Any
) -> None:
    if args.format == "json":
        _print(report.json_of(sources, conversion))
    elif args.format == "sarif":
        _print(report.sarif_of(conversion))
    else:
        if not args.write and not args.check:
            _print(report.diff_of(sources, conversion.sources))
        text = report.text_of_refusals(conversion) + report.summary_of(conversion)
        sys.stderr.write(_printable(text, sys.stderr.encoding))


def _print(text: str) -> None:
    sys.stdout.write(_printable(text, sys.stdout.encoding))
    sys.stdout.flush()


def _printable(text: str, encoding: str | None) -> str:
    encoding = encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
