"""``gencrawl check``: find broken references and where they are."""

import argparse
import asyncio
import contextlib
import functools
import io
import sys
from collections.abc import Generator, Iterator, Sequence
from typing import Any, cast

from crawler_app.base.errors import ConfigError
from crawler_app.base.models import State
from crawler_app.base.text.formatting import number
from crawler_app.commands.bug_report import ask_for_report
from crawler_app.commands.config_options import OPTIONS_OF_CHECK, values_of
from crawler_app.commands.exit_status import BROKEN, FAILED, INTERRUPTED, OK
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.commands.verbose import verbose_log
from crawler_app.run.crawl.monitor import Monitor, Sample, Watched
from crawler_app.show.check.check_config import CheckConfig
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import FORMATS, Output
from crawler_app.show.check.preparing import split_values, with_archive
from crawler_app.show.findings.wording import summary_lines
from crawler_app.show.terminal.plain_text import clock_time, phase_of
from crawler_app.show.terminal.progress_display import ProgressLine
from gencoro import gen

__all__ = ["check"]

STDIN = "-"

AGAIN = "The same check again fetches only what has changed."


def check(arguments: argparse.Namespace) -> int:
    """Check a site, and print the findings."""
    given, arguments.seeds = arguments.seeds, None  # a file is not a valid seed
    values, checked = _values(arguments, has_targets=bool(given))
    if arguments.update_baseline and not checked.baseline:
        raise ConfigError("--update-baseline needs --baseline FILE")
    in_file = values.pop("seeds", ())
    targets = _targets(given or in_file)
    is_kept = bool(values.get("into"))
    if STDIN in (given or in_file):
        values.setdefault("max_depth", 0)  # a list of URLs, not of sites
    # Always UTF-8: the output may be read on another machine.
    cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
    # With --verbose, the log itself shows the progress.
    is_shown = not (arguments.quiet or arguments.verbose)
    line = ProgressLine(sys.stderr if is_shown else None)
    output = FORMATS[checked.format](functools.partial(_write, line))
    with (
        with_archive(values, checked.kinds) as archived,
        verbose_log(arguments),
    ):
        run = Check(targets, archived, checked, output, arguments.update_baseline)
        run.watch = functools.partial(_watched, line, run)
        status = run_interruptible(lambda: _run(run))
    if status == INTERRUPTED and is_kept:
        # `resume` would fetch the rest, but print no findings.
        print(AGAIN, file=sys.stderr)
    return status


def _write(line: ProgressLine, text: str) -> None:
    line.clear()
    sys.stdout.write(text)
    if text.endswith("\n"):
        sys.stdout.flush()


@contextlib.contextmanager
def _watched(line: ProgressLine, run: Check, crawl: Watched) -> Iterator[None]:
    """Show the progress of a check in one line; in a log, in a few."""

    def show(sample: Sample) -> None:
        count = sample.count_by_state
        checked = count[State.DONE] + count[State.FAILED]
        to_go = count[State.QUEUED] + count[State.CLAIMED]
        wait = f", {phase_of(sample)}" if sample.phase == "waiting" else ""
        line.show(
            f"{clock_time(sample.elapsed_s)}  {number(checked, 'URL')} checked, "
            f"{to_go:,} to go, {number(len(run.findings), 'finding')}{wait}",
            checked,
            checked + to_go,
        )

    monitor = Monitor(crawl)
    monitor.listen(show)
    with monitor:
        try:
            yield
        finally:
            line.end()


def _values(
    arguments: argparse.Namespace, *, has_targets: bool
) -> tuple[dict[str, Any], CheckConfig]:
    """Return the options of the crawl and those of the check.

    Raises:
        ConfigError: a value is not allowed.
    """
    return split_values(
        values_of(arguments, has_targets=has_targets, options=OPTIONS_OF_CHECK)
    )


def _targets(given: Sequence[str]) -> list[str]:
    """Return what to check, with the list on standard input.

    Raises:
        ConfigError: there is nothing.
    """
    targets: list[str] = []
    for target in given:
        if target == STDIN:
            # Editors on Windows begin a file with a byte order mark.
            lines = (line.strip("\ufeff \t\r\n") for line in sys.stdin)
            targets += (line for line in lines if line and not line.startswith("#"))
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
    summary = run.summary
    if ask_for_report(run.internal_errors) or summary.is_empty:
        return FAILED
    if not has_passed:
        return BROKEN
    return FAILED if summary.incomplete else OK


def _print_summary(output: Output, run: Check) -> None:
    """Print the result where programs do not read it, and the notes."""
    lines = summary_lines(run.summary) if output.is_for_programs else []
    for line in [*lines, *run.notes]:
        print(line, file=sys.stderr)
