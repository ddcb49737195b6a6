"""``gencrawl postgres work``, and ``crawl --frontier``: take part in a crawl of many machines."""

import argparse
import shlex
import sys
from collections.abc import Collection, Generator
from typing import TYPE_CHECKING, Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.config.validators import DEFAULT_CRAWL
from crawler_app.base.errors import ConfigError
from crawler_app.base.postgres_driver import postgres_module
from crawler_app.base.text.formatting import number
from crawler_app.commands.bug_report import ask_for_report
from crawler_app.commands.config_options import read_options
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK
from crawler_app.commands.interruptible import run, run_interruptible
from crawler_app.commands.live_view import LiveView, check_dashboard_address
from crawler_app.commands.verbose import verbose_log
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.staging import staged
from crawler_app.show.terminal.progress_display import Steps
from gencoro import gen

if TYPE_CHECKING:
    from crawler_app.run.crawl_worker import CrawlWorker, WorkerResult

__all__ = ["begin_and_work", "resume_work", "work"]

# Options of all workers that one may change.
LIMITS = frozenset({"max_pages", "max_bytes"})


def work(arguments: argparse.Namespace) -> int:
    """Take part in a crawl that has begun."""
    check_dashboard_address(arguments)
    given = read_options(arguments)
    if not given.get("into"):
        raise ConfigError(
            "give a directory for what this worker fetches, or object storage: --into DIR"
        )
    module = postgres_module("crawler_app.run.crawl_worker")
    place = module.CrawlLocation(arguments.url, given.pop("crawl_name", DEFAULT_CRAWL))
    return work_on(arguments, staged(module.shared_config(place, **given)))


def begin_and_work(arguments: argparse.Namespace, config: CrawlConfig) -> int:
    """Begin a crawl, unless it has begun, and take part in it."""
    run(postgres_module("crawler_app.run.crawl_worker").begin_shared, config)
    return work_on(arguments, config)


def resume_work(
    arguments: argparse.Namespace,
    config: CrawlConfig,
    given: Collection[str],
    retried_reasons: Collection[str],
) -> int:
    """Take part in a crawl again.

    Args:
        given: The options that are given now.
        retried_reasons: Failures with these reasons are retried.

    Raises:
        ConfigError: one of these options cannot be changed.
    """
    for option in options_of(CrawlConfig):
        if option.name in given and not option.is_local and option.name not in LIMITS:
            raise ConfigError(
                f"{option.flag} was set for all workers when the crawl began, and cannot "
                "be changed"
            )
    module = postgres_module("crawler_app.run.crawl_worker")
    if not LIMITS.isdisjoint(given):
        run(module.limit_shared, config)
    if retried_reasons:
        location = module.CrawlLocation(config.frontier, config.crawl_name)
        module.retry_failed(location, retried_reasons)
    return work_on(arguments, config)


def work_on(arguments: argparse.Namespace, config: CrawlConfig) -> int:
    """Take part in a crawl with a configuration."""
    view = LiveView(arguments, config)
    steps = Steps(quiet=arguments.quiet)
    worker = _worker_class(config)(config, watch=view.watch, on_step=steps)
    with verbose_log(arguments), steps:
        status = run_interruptible(lambda: _run(worker, view))
    if status == INTERRUPTED:
        print(f"To go on:\n  {_again(config)}", file=sys.stderr)
    return status


def _worker_class(config: CrawlConfig) -> "type[CrawlWorker]":
    """Return the class of one worker, or of several; a directory with parts keeps these."""
    has_parts = config.processes > 1 or bool(CrawlDirectory(config.into).parts())
    found: type[CrawlWorker] = (
        postgres_module("crawler_app.run.processes.crawl_workers").CrawlWorkers
        if has_parts
        else postgres_module("crawler_app.run.crawl_worker").CrawlWorker
    )
    return found


@gen.coroutine
def _run(worker: "CrawlWorker", view: LiveView) -> Generator[Any, Any, int]:
    with view:
        done: WorkerResult = yield worker.run()
        summary = _summary(done, worker.config)
        print(summary)
        status = FAILED if ask_for_report(done.internal_errors) else OK
        yield view.end(summary)
    return INTERRUPTED if done.was_stopped else status


def _summary(done: "WorkerResult", config: CrawlConfig) -> str:
    """Return what a worker has done, and how to see the whole."""
    fetched = number(done.fetched, "fetch", "fetches")
    if done.limit_reached:
        flag = "--" + done.limit_reached.replace("_", "-")
        end = f"The crawl has reached {flag}"
    elif done.left:
        end = "The crawl goes on without it" if done.was_stopped else "It was stopped"
    else:
        end = "The crawl has finished"
    left = f", with {number(done.left, 'URL')} left" if done.left else ""
    who = "This worker" if config.processes == 1 else f"{config.processes} workers"
    lines = [f"{who} made {fetched}.  {end}{left}."]
    if done.limit_reached in LIMITS:
        raise_it = f"gencrawl resume {shlex.quote(config.into)} {flag} N"
        lines += ["To continue, raise it:", f"  {raise_it}"]
    status = f"gencrawl status {_target(config)}"
    return "\n".join([*lines, "To see the whole:", f"  {status}"])


def _target(config: CrawlConfig) -> str:
    return f"{shlex.quote(config.frontier)} --crawl {config.crawl_name}"


def _again(config: CrawlConfig) -> str:
    several = f" --processes {config.processes}" if config.processes > 1 else ""
    into = shlex.quote(config.into)
    return f"gencrawl postgres work {_target(config)} --into {into}{several}"
