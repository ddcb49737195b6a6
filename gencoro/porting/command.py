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
from typing import Any

from gencoro.compat.doctor.targets import BadTarget
from gencoro.errors import GencoroError
from gencoro.porting.files import FileChanged, read_sources, replace_files

__all__ = ["add_command", "convert_files"]

CONVERTIBLE = 1
MISUSED = 2
FAILED = 3

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
    command.add_argument("--write", action="store_true", help="replace the files")
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
        "--plan",
        action="store_true",
        help="show in which order functions can be converted, and what stays",
    )
    command.add_argument(
        "--check",
        action="store_true",
        help="show no diff; exit with 1 if something can be converted",
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


def convert_files(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    try:
        converting = importlib.import_module("gencoro.porting.converting")
        report = importlib.import_module("gencoro.porting.report")
        planning = importlib.import_module("gencoro.porting.plan")
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] != "libcst":
            raise
        print("convert needs LibCST: pip install 'gencoro[porting]'", file=sys.stderr)
        return MISUSED
    unknown = (args.only | args.skip) - converting.CODES
    if unknown:
        codes = ", ".join(sorted(converting.CODES))
        print(
            f"convert: there is no fixer {min(unknown)}; there are {codes}",
            file=sys.stderr,
        )
        return MISUSED
    try:
        sources = read_sources(args.paths)
    except BadTarget as exc:
        print(f"convert: {exc}", file=sys.stderr)
        return MISUSED
    selection = converting.Selection(
        args.to, args.only, args.skip, converting.selecting(args.only_functions)
    )
    if args.plan:
        _print(planning.plan_of(sources, selection, as_json=args.format == "json"))
        return 0
    try:
        with _no_garbage_collection():
            conversion = converting.convert(sources, selection)
        if args.write and not args.check:
            replace_files(sources, conversion.sources)
    except (FileChanged, GencoroError) as exc:
        print(f"convert: {exc}; nothing was written", file=sys.stderr)
        return FAILED
    _show(args, report, sources, conversion)
    return CONVERTIBLE if args.check and conversion.sources else 0


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Leave the garbage: the trees of a program are very many objects, and all are used."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
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
