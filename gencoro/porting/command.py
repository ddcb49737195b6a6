"""The command ``python -m gencoro convert``.

Rule: without ``--write`` nothing is changed.  Used by `gencoro.__main__`.
"""

import argparse
import fnmatch
import os
import re
import sys
from collections.abc import Callable

from gencoro.compat.doctor.files import Sources, read_sources, replace_files
from gencoro.compat.doctor.program import Module
from gencoro.compat.doctor.targets import BadTarget
from gencoro.errors import GencoroError
from gencoro.evidence import Evidence, EvidenceError
from gencoro.interpreter import recursion_limit, without_garbage_collection
from gencoro.porting.config import BadConfig, find_config
from gencoro.porting.conversion import Conversion, convert
from gencoro.porting.decisions import Finding, Options
from gencoro.porting.fixers import FIXERS
from gencoro.porting.formatting import keep_formatted
from gencoro.porting.interactive import Asking, Quit
from gencoro.porting.plan import plan_of
from gencoro.porting.report import (
    diff_of,
    json_of,
    sarif_of,
    summary_of,
    text_of_left,
    text_of_listed,
)

__all__ = ["add_command", "convert_files"]

CONVERTIBLE = 1
MISUSED = 2
FAILED = 3

# Names are looked up in a few calls for each level of a tree; `program.DEEPEST` is the number.
RECURSION_LIMIT = 8000

EPILOG = """\
examples:
  python -m gencoro convert shop                   # show a diff
  python -m gencoro convert shop tests --write
  python -m gencoro convert shop --interactive
  python -m gencoro convert shop --plan
  python -m gencoro convert shop --check           # for CI
  python -m gencoro run --record seen -m pytest    # then, with what that has seen:
  python -m gencoro convert shop tests --evidence seen

Give all code of the program, with its tests: a call that is not seen is not counted.
A comment `# gencoro: keep` beside a function keeps it.  Options may be configured in
[tool.gencoro.convert] of pyproject.toml, or [gencoro:convert] of setup.cfg.
"""


_ACTIONS = {
    "write": "replace the files",
    "interactive": "ask about each function, and replace the files",
    "plan": "show in which order functions can be converted, and what stays",
    "check": "show no diff; exit with 1 if something can be converted",
}
_CHOICES = {
    "strict": "keep functions with uses or values that cannot be resolved",
    "keep-public": "keep public coroutines that nothing here calls",
}
_LISTS = {
    "evidence": ("FILE", "what `python -m gencoro run --record FILE` has recorded"),
    "exclude": ("PATTERN", "read files such as shop/vendor/*, but do not convert them"),
    "skip": ("CODE", f"do not make these edits: {', '.join(f.code for f in FIXERS)}"),
}


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
    done = command.add_mutually_exclusive_group()
    for name, what in _ACTIONS.items():
        done.add_argument(f"--{name}", action="store_true", help=what)
    for name, what in _CHOICES.items():
        action = argparse.BooleanOptionalAction
        command.add_argument(f"--{name}", action=action, help=what)
    for name, (metavar, what) in _LISTS.items():
        command.add_argument(f"--{name}", action="append", metavar=metavar, help=what)
    command.add_argument(
        "--only-functions",
        metavar="REGEX",
        help="convert only functions whose module.qualified_name contains a match",
    )
    formats = ["text", "json", "sarif"]
    command.add_argument(
        "--format", choices=formats, default="text", help="(default: text)"
    )
    what = "list every place, not the first few of a file"
    command.add_argument("--all", action="store_true", help=what)


class _Misused(Exception):
    """The command line asks for something that does not exist."""


def convert_files(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    try:
        _configure(args)
        _check(args)
        options = Options(bool(args.strict), bool(args.keep_public), _selecting(args))
        sources = read_sources(args.paths)
        evidence = Evidence.load(args.evidence or [], sources.by_file)
    except (BadConfig, BadTarget, EvidenceError, _Misused) as exc:
        print(f"convert: {exc}", file=sys.stderr)
        return MISUSED
    try:
        # Trees are deep, and very many objects, all in use.
        with recursion_limit(RECURSION_LIMIT), without_garbage_collection():
            conversion = _converted(args, sources, options, evidence)
        if args.write or args.interactive:
            replace_files(sources.by_file, conversion.sources)
            conversion = conversion.as_written()
    except Quit:
        print("convert: nothing was written", file=sys.stderr)
        return 0
    except (GencoroError, OSError) as exc:
        print(f"convert: {exc}; nothing was written", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("convert: interrupted; nothing was written", file=sys.stderr)
        raise
    _show(args, sources, conversion)
    return CONVERTIBLE if args.check and conversion.sources else 0


def _configure(args: argparse.Namespace) -> None:
    """Set what the command line leaves open."""
    for name, value in find_config(os.getcwd()).items():
        if getattr(args, name) is None:
            setattr(args, name, value)


def _check(args: argparse.Namespace) -> None:
    """Raise _Misused for what the parser cannot check."""
    if args.plan and args.format == "sarif":
        raise _Misused("a plan is shown as text or json, not as sarif")
    if args.interactive and args.format != "text":
        raise _Misused("--interactive shows text")
    codes = {fixer.code for fixer in FIXERS}
    args.skip = {
        c for text in args.skip or () for c in re.split(r"[,\s]+", text.upper())
    }
    unknown = args.skip - codes - {""}
    if unknown:
        raise _Misused(
            f"there is no edit {min(unknown)}; there are {', '.join(sorted(codes))}"
        )


def _selecting(args: argparse.Namespace) -> Callable[[Module, str], bool]:
    """Return what tells whether a function may be converted."""
    try:
        pattern = re.compile(args.only_functions or "")
    except re.error as exc:
        raise _Misused(f"{args.only_functions!r} is not a pattern: {exc}") from None
    excluded = args.exclude or []

    def is_selected(module: Module, name: str) -> bool:
        path = module.path.replace(os.sep, "/")
        if any(
            fnmatch.fnmatch(path, e) or fnmatch.fnmatch(path, f"*/{e}")
            for e in excluded
        ):
            return False
        dotted = path.removesuffix(".py").replace("/", ".")
        return pattern.search(f"{dotted}.{name}") is not None

    return is_selected


def _converted(
    args: argparse.Namespace, sources: Sources, options: Options, evidence: Evidence
) -> Conversion:
    asking = Asking(input, _print) if args.interactive else None
    conversion = convert(sources.by_file, options, evidence, args.skip, asking)
    formatted = keep_formatted(sources.by_file, conversion.sources)
    unread = [
        Finding("unreadable", path, 1, why) for path, why in sources.unread.items()
    ]
    return conversion._replace(sources=formatted, listed=[*unread, *conversion.listed])


def _show(args: argparse.Namespace, sources: Sources, conversion: Conversion) -> None:
    if args.plan:
        _print(plan_of(conversion, args.format == "json"))
    elif args.format == "json":
        _print(json_of(sources.by_file, conversion))
    elif args.format == "sarif":
        _print(sarif_of(conversion))
    else:
        if not (args.write or args.check or args.interactive):
            _print(diff_of(sources.by_file, conversion.sources))
        text = text_of_left(conversion) + summary_of(conversion)
        text += text_of_listed(conversion, args.all)
        sys.stderr.write(_printable(text, sys.stderr.encoding))


def _print(text: str) -> None:
    sys.stdout.write(_printable(text, sys.stdout.encoding))
    sys.stdout.flush()


def _printable(text: str, encoding: str | None) -> str:
    encoding = encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
