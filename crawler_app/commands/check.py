"""``gencrawl check``: find what is broken on a site, with its place."""

import argparse
import asyncio
import contextlib
import functools
import io
import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from crawler_app.check.checking import Check, CheckOptions
from crawler_app.check.findings import DEFAULT_KINDS, Kind
from crawler_app.check.output import FORMATS, Output, summary_lines
from crawler_app.commands.arguments import add_quiet
from crawler_app.commands.config_options import (
    add_config_file,
    add_options,
    values_of,
)
from crawler_app.commands.exit_status import BROKEN, FAILED, OK
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.config.validators import require_patterns
from crawler_app.crawl.monitor import Monitor, Sample, Watched
from crawler_app.errors import ConfigError
from crawler_app.models import State
from crawler_app.terminal.lines import clock
from crawler_app.terminal.status_line import StatusLine
from crawler_app.text.formatting import number
from gencoro import gen

__all__ = ["add_check", "check"]

STDIN = "-"


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    parser.description = (
        "Check a site: links, images, style sheets, scripts, fragments and URLs on other "
        "sites.  URL may be a sitemap, a file or a folder of this machine, or - for a list "
        f"on standard input.  Exits with status {BROKEN} if something is broken."
    )
    add_quiet(parser)
    group = parser.add_argument_group("findings")
    group.add_argument(
        "--format",
        choices=list(FORMATS),
        default="text",
        help="format of the findings (default text)",
    )
    group.add_argument(
        "--fail-on",
        action="append",
        metavar="KIND[,KIND]",
        help=f"fail on these kinds of findings: {', '.join(Kind)} (default all but "
        f"{Kind.REDIRECT}, which are shown only if they are named here)",
    )
    group.add_argument(
        "--external-fragments",
        action="store_true",
        help="read the pages on other sites too that links with a fragment lead to",
    )
    group.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="RE",
        help="leave out targets that match this regular expression; repeatable",
    )
    group.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="accept the findings of this file; if it does not exist, write it",
    )
    group.add_argument(
        "--update-baseline",
        action="store_true",
        help="write the file of --baseline again",
    )
    add_options(parser, target="URL|FILE|FOLDER")
    add_config_file(parser)
    parser.set_defaults(command=check)


def check(arguments: argparse.Namespace) -> int:
    """Check a site, and print what is broken."""
    require_patterns("--ignore", tuple(arguments.ignore))
    if arguments.update_baseline and arguments.baseline is None:
        raise ConfigError("--update-baseline needs --baseline FILE")
    options = CheckOptions(
        _kinds(arguments.fail_on),
        arguments.ignore,
        arguments.baseline,
        arguments.update_baseline,
        arguments.external_fragments,
    )
    given, arguments.seeds = arguments.seeds, None  # a file is not a valid seed
    values = _values(arguments, has_targets=bool(given))
    if values.get("processes", 1) > 1:
        raise ConfigError("a check runs in one process; leave out --processes")
    in_file = values.pop("seeds", ())
    targets = _targets(given or in_file)
    # As UTF-8, whatever the terminal's encoding.
    cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
    line = StatusLine(None if arguments.quiet else sys.stderr)
    output = FORMATS[arguments.format](functools.partial(_write, line))
    run = Check(targets, values, options, output)
    run.watch = functools.partial(_watched, line, run)
    return run_interruptible(lambda: _run(run), values.get("into"))


def _write(line: StatusLine, text: str) -> None:
    line.clear()
    sys.stdout.write(text)
    if text.endswith("\n"):
        sys.stdout.flush()


@contextlib.contextmanager
def _watched(line: StatusLine, run: Check, crawl: Watched) -> Iterator[None]:
    """Show the progress of a check in one line, on a terminal."""

    def show(sample: Sample) -> None:
        count = sample.count_by_state
        checked = count[State.DONE] + count[State.FAILED]
        to_go = count[State.QUEUED] + count[State.CLAIMED]
        line.show(
            f"{clock(sample.elapsed_s)}  {number(checked, 'URL')} checked, {to_go:,} to "
            f"go, {number(len(run.findings), 'finding')}"
        )

    monitor = Monitor(crawl)
    monitor.listen(show)
    with monitor:
        try:
            yield
        finally:
            line.clear()


def _kinds(given: Sequence[str] | None) -> Sequence[Kind]:
    if given is None:
        return DEFAULT_KINDS
    words = [word.strip() for words in given for word in words.split(",")]
    for word in words:
        if word not in list(Kind):
            raise ConfigError(
                f"--fail-on is {word!r}; it must be one of {', '.join(Kind)}"
            )
    return [Kind(word) for word in words]


def _values(arguments: argparse.Namespace, *, has_targets: bool) -> dict[str, Any]:
    """Return the options of the crawl; what is kept only with a directory is off."""
    values = {"external": True, "assets": True} | values_of(
        arguments, has_targets=has_targets
    )
    if not values.get("into"):
        values |= {"archive": False, "index": False}
    return values


def _targets(given: Sequence[str]) -> list[str]:
    """Return what to check, with the list on standard input.

    Raises:
        ConfigError: there is nothing.
    """
    targets = []
    for target in given:
        if target == STDIN:
            targets += [line.strip() for line in sys.stdin if line.strip()]
        else:
            targets.append(target)
    if not targets:
        raise ConfigError("give a URL, a file or a folder to check")
    return targets


@gen.coroutine
def _run(run: Check) -> Generator[Any, Any, int]:
    try:
        has_passed: bool = yield run.run()
    except asyncio.CancelledError:
        _print_summary(run.output, run)
        raise
    _print_summary(run.output, run)
    if run.summary.is_empty:
        return FAILED
    return OK if has_passed else BROKEN


def _print_summary(output: Output, run: Check) -> None:
    """Print the result where programs do not read it, and the notes."""
    lines = summary_lines(run.summary) if output.is_for_programs else []
    for line in [*lines, *run.notes]:
        print(line, file=sys.stderr)
