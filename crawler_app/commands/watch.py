"""``gencrawl watch``: check sites again and again, and tell people what is new."""

import argparse
import contextlib
import functools
import os
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from crawler_app.base.config.secret_values import secrets_in
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.formatting import number, time_of_day
from crawler_app.commands.exit_status import FAILED, OK
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.commands.verbose import verbose_log
from crawler_app.run.directory.lock import DirectoryLock, not_writable
from crawler_app.show.watch.delivering import Delivery
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.notices.channel import NoticeChannel
from crawler_app.show.watch.notices.notice import Notice
from crawler_app.show.watch.watch_config import Watch, read_watch
from crawler_app.show.watch.watching import Watcher
from gencoro import gen

__all__ = ["watch"]

MEMORY_NAME = "watch.json"


def watch(arguments: argparse.Namespace) -> int:
    """Watch the sites of a file."""
    watched = read_watch(arguments.file)
    path = Path(watched.config.state, MEMORY_NAME)
    if arguments.status:
        return _status(watched, Memory.open(path))
    note = (lambda line: None) if arguments.quiet else _note
    with verbose_log(arguments), contextlib.ExitStack() as cleanup:
        if arguments.dry_run:
            config = replace(watched.config, page="", feed="")
            watched = Watch(config, watched.sites, {})
        else:
            cleanup.enter_context(_locked(path.parent))
        memory = Memory.open(path)
        delivery = Delivery(memory, _channels(watched), [*watched.sites], time.time)
        watcher = Watcher(watched, memory, delivery, time.time, note)
        if arguments.dry_run:
            run = functools.partial(_try_out, watcher)
        elif arguments.test_notices:
            run = functools.partial(_test, delivery)
        else:
            run = functools.partial(_run, watcher, once=arguments.once)
        return run_interruptible(run)


def _channels(watched: Watch) -> dict[str, NoticeChannel]:
    """Return the channels with their secrets."""
    secrets = dict(os.environ) | secrets_in(watched.config.secrets)
    channels = {}
    for name, channel in watched.channels.items():
        try:
            channels[name] = channel.with_secrets(secrets)
        except ConfigError as exc:
            raise ConfigError(f"notices.{name}: {exc}") from None
    return channels


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Let one process watch."""
    try:
        # What is remembered names the faults of sites that may not be public.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise not_writable(directory, exc) from None
    lock = DirectoryLock(directory, "watched")
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _note(line: str) -> None:
    print(f"{time_of_day(time.time())}  {line}", file=sys.stderr)


@gen.coroutine
def _run(watcher: Watcher, *, once: bool) -> Generator[Any, Any, int]:
    if not once:
        yield watcher.run_forever()
    is_fine: bool = yield watcher.run_round(all_sites=True)
    return OK if is_fine else FAILED


@gen.coroutine
def _try_out(watcher: Watcher) -> Generator[Any, Any, int]:
    """Check once, and print what would be told."""
    memory = watcher.memory
    memory.path, last = "", memory.last_event
    is_fine: bool = yield watcher.run_round(all_sites=True)
    events = [event for event in memory.events if event.id > last]
    print(Notice("", "", events).text() if events else "Nothing to tell.")
    return OK if is_fine else FAILED


@gen.coroutine
def _test(delivery: Delivery) -> Generator[Any, Any, int]:
    """Send a test to every channel."""
    errors: dict[str, str] = yield delivery.test()
    for name, error in errors.items():
        print(f"{name}: {error or 'sent'}")
    if not errors:
        raise ConfigError("there is no channel; write a table such as [notices.team]")
    return FAILED if any(errors.values()) else OK


def _status(watched: Watch, memory: Memory) -> int:
    """Print what is remembered."""
    for name in watched.sites:
        site = memory.site(name)
        if not site.runs:
            print(f"{name}: not checked yet")
            continue
        last = site.runs[-1]
        caveat = f" ({last.caveat})" if last.caveat else ""
        print(
            f"{name}: {len(site.broken):,} broken, {len(site.suspected):,} to be confirmed; "
            f"last check {time_of_day(last.at)}{caveat}"
        )
        for event in memory.broken([name]):
            print(f"  {event.line}, {event.state}")
    for name in watched.channels:
        if (out := memory.channels.get(name)) and out.error:
            tries = number(out.tries, "try", "tries")
            print(f"Not told yet: {name}, {tries}: {out.error}")
    return OK
