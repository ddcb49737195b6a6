"""``gencrawl watch``: check sites again and again, and tell people what is new."""

import argparse
import contextlib
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.base.text.formatting import number, time_of_day
from crawler_app.commands.exit_status import FAILED, OK
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.commands.output_file import replacing
from crawler_app.commands.verbose import verbose_log
from crawler_app.run.directory.lock import DirectoryLock, not_writable
from crawler_app.show.watch.delivering import Delivery, make_channel
from crawler_app.show.watch.feed import MAX_ENTRIES, feed_of
from crawler_app.show.watch.history_page import render_history
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.notices.notice import Notice
from crawler_app.show.watch.outbox import Outbox
from crawler_app.show.watch.watch_config import Watch, read_watch
from crawler_app.show.watch.watching import Watcher
from gencoro import gen

__all__ = ["watch"]

MEMORY_NAME = "watch.sqlite"


def watch(arguments: argparse.Namespace) -> int:
    """Watch the sites of a file."""
    watched = read_watch(arguments.file)
    if arguments.status:
        return _status(watched)
    with _opened(watched) as memory, verbose_log(arguments):
        if arguments.dry_run:
            with contextlib.closing(memory.copy()) as copy:
                return run_interruptible(lambda: _try_out(watched, copy))
        channels = {
            name: make_channel(name, config) for name, config in watched.notices.items()
        }
        delivery = Delivery(Outbox(memory), channels, watched.notices, time.time)
        if arguments.test_notices:
            return run_interruptible(lambda: _test(delivery))
        watcher = Watcher(
            watched,
            memory,
            delivery,
            time.time,
            after_round=lambda: _write_files(watched, memory),
            note=_note(arguments),
        )
        return run_interruptible(lambda: _run(watcher, once=arguments.once))


@contextlib.contextmanager
def _opened(watched: Watch) -> Iterator[Memory]:
    """Open the memory for one process."""
    directory = Path(watched.config.state)
    try:
        # What is remembered names the faults of sites that may not be public.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise not_writable(directory, exc) from None
    lock = DirectoryLock(directory, "watched")
    lock.acquire()
    try:
        with contextlib.closing(Memory(directory / MEMORY_NAME)) as memory:
            yield memory
    finally:
        lock.release()


def _note(arguments: argparse.Namespace) -> Any:
    if arguments.quiet:
        return lambda line: None
    return lambda line: print(f"{time_of_day(time.time())}  {line}", file=sys.stderr)


@gen.coroutine
def _run(watcher: Watcher, *, once: bool) -> Generator[Any, Any, int]:
    if not once:
        yield watcher.run_forever()
    is_fine: bool = yield watcher.run_round(all_sites=True)
    return OK if is_fine else FAILED


@gen.coroutine
def _try_out(watched: Watch, memory: Memory) -> Generator[Any, Any, int]:
    """Check once, and print what would be told."""
    watcher = Watcher(watched, memory, None, time.time, note=_to_stderr)
    is_fine: bool = yield watcher.run_round(all_sites=True)
    if watcher.events:
        print(Notice("", time.time(), watcher.events).text)
    else:
        print("Nothing to tell.")
    return OK if is_fine else FAILED


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


@gen.coroutine
def _test(delivery: Delivery) -> Generator[Any, Any, int]:
    """Send a test to every channel."""
    errors: dict[str, str] = yield delivery.test()
    for name, error in errors.items():
        print(f"{name}: {error or 'sent'}")
    if not errors:
        raise ConfigError("there is no channel; write a table such as [notices.team]")
    return FAILED if any(errors.values()) else OK


def _status(watched: Watch) -> int:
    """Print what is remembered."""
    path = Path(watched.config.state, MEMORY_NAME)
    if not path.exists():
        print("Nothing was checked yet.")
        return OK
    with contextlib.closing(Memory(path)) as memory:
        for name in watched.sites:
            counts, last = memory.counts(name), memory.last_check_at(name)
            when = f"last check {time_of_day(last)}" if last else "not checked yet"
            print(
                f"{name}: {counts['dead']:,} broken, {counts['flapping']:,} unstable, "
                f"{counts['suspected']:,} to be seen again first; {when}"
            )
        for event in memory.dead():
            since = time_of_day(event.since)
            print(f"  {event.site}: {event.target}: {event.words} (since {since})")
        for row in Outbox(memory).unsent():
            tries = number(row["tries"], "try", "tries")
            print(
                f"Not told yet: {row['channel']}, {tries}: {row['error'] or 'waiting'}"
            )
    return OK


def _write_files(watched: Watch, memory: Memory) -> None:
    """Write the page and the feed."""
    now = time.time()
    if watched.config.page:
        with replacing(Path(watched.config.page)) as file:
            file.write(render_history(memory, list(watched.sites), now))
    if watched.config.feed:
        with replacing(Path(watched.config.feed)) as file:
            file.write(feed_of(memory.id, memory.events_after(0, MAX_ENTRIES)))
