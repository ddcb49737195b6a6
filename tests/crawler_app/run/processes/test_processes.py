"""A crawl by several processes finds what one process finds, despite kills."""

import asyncio
import collections
import contextlib
import os
import random
import signal
import subprocess

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.models import State
from crawler_app.commands.interruptible import SAME_SIGNAL_S
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store.frontier.commit_group import MAX_ENDS
from tests.crawler_app.run.processes.conftest import workers_of
from tests.helpers.fuzzing import examples
from tests.helpers.scripts import is_running, start_gencrawl, wait_until

pytestmark = pytest.mark.usefixtures("prepared_servers")


def records_of(directory):
    with contextlib.closing(CrawlDirectory.open(directory).frontier()) as frontier:
        return sorted(
            (r.url, r.state, r.outcome.reason, r.depth, r.outcome.redirect_to)
            for r in frontier.records()
        )


def options_of(web, tmp_path, name="crawl"):
    return ["crawl", web.url(0, "0"), "--scope", "any", "--into", tmp_path / name]


def test_limit_of_pages_is_exact_over_all_processes(web, gencrawl, tmp_path):
    web.tree(120)
    command = [*options_of(web, tmp_path), "--processes", 2, "--no-robots"]

    for max_pages in (0, 40):
        ended = gencrawl(*command, "--quiet", "--max-pages", max_pages)

        assert ended.status == 0
        assert "has reached --max-pages" in ended.err
        assert web.requests.total() == max_pages
        command = ["resume", tmp_path / "crawl", "--processes", 3]
    assert set(web.requests.values()) == {1}


def test_limit_of_bytes_stops_all_processes(web, gencrawl, tmp_path):
    # An endless chain over all hosts.
    for number, site in enumerate(web.sites):
        for i in range(1_000):
            site.page(f"/{i}", web.url((number + 1) % 4, str(i + 1)))

    ended = gencrawl(
        *options_of(web, tmp_path),
        "--processes",
        2,
        "--quiet",
        "--no-robots",
        "--max-bytes",
        3_000,
    )

    assert "This run has reached --max-bytes" in ended.err
    assert gencrawl.json("status", tmp_path / "crawl", "--json")["left"] > 0


def test_time_limit_puts_back_what_takes_longer(web, gencrawl, tmp_path):
    web.sites[0].page("/0", web.url(1, "slow"), web.url(2, "quick"))
    web.sites[1].hold("/slow")
    web.sites[2].page("/quick")
    options = ("--processes", 2, "--no-robots", "--quiet", "--request-timeout", "1h")

    ended = gencrawl(*options_of(web, tmp_path), *options, "--max-time", 3)

    assert "This run has reached --max-time" in ended.err
    with contextlib.closing(CrawlDirectory.open(tmp_path / "crawl").frontier()) as left:
        assert left.count(State.DONE) == 2
        assert left.count(State.QUEUED) == 1
        assert left.count(State.CLAIMED) == 0


def wait_until_it_goes_on(running, web):
    seen = web.requests.total()

    def goes_on():
        assert running.poll() is None, running.communicate()
        return web.requests.total() > seen + 10

    wait_until(goes_on)


def test_crawl_killed_at_any_moment_and_resumed_misses_nothing(web, gencrawl, tmp_path):
    processes, concurrency, kills = 2, 6, examples(4)
    pages = 70 * kills
    wanted = web.tree(pages)
    dice = random.Random(1)
    deaths = 0

    command = [*options_of(web, tmp_path), "--processes", processes]
    command += ["--concurrency", concurrency]
    for kill in range(kills):
        running = start_gencrawl(*command, "--quiet")
        seen = web.requests.total()
        wait_until(lambda seen=seen: web.requests.total() > seen + dice.randrange(30))
        children = workers_of(running.pid)
        if kill % 4 < 2:  # a process, or the server, which is started again
            victim = dice.choice(children) if kill % 4 else server_of(tmp_path)
            os.kill(victim, signal.SIGKILL)
            deaths += 1 if kill % 4 else processes
            wait_until_it_goes_on(running, web)
        if kill % 4 == 2:
            for child in children:
                os.kill(child, signal.SIGKILL)
        running.kill()
        running.communicate()
        if kill % 4 == 1:  # else they are still there when the next run begins
            left = [*children, server_of(tmp_path)]
            wait_until(lambda left=left: not any(map(is_running, left)))
        deaths += processes
        assert running.returncode == -signal.SIGKILL, f"it had ended before kill {kill}"
        command = ["resume", tmp_path / "crawl"]
    last = gencrawl("resume", tmp_path / "crawl", "--quiet")

    assert last.status == 0, last.err
    requests = web.requests
    assert set(requests) == set(wanted)
    # A process that dies repeats what it had under way, and its last groups.
    repeats = requests.total() - len(requests)
    assert repeats <= deaths * (concurrency + 2 * MAX_ENDS)
    urls = collections.Counter(record[0] for record in records_of(tmp_path / "crawl"))
    assert set(urls) >= set(wanted)
    assert set(urls.values()) == {1}
    summary = gencrawl.json("status", tmp_path / "crawl", "--json")
    assert summary["left"] == 0
    # Two processes may have fetched a page, of which one had not recorded it.
    assert pages <= summary["indexed_pages"] <= pages + repeats


def server_of(tmp_path):
    """Return the process id of the server of a crawl; None if it does not run."""
    try:
        return int((tmp_path / "crawl/postgres/postmaster.pid").read_text().split()[0])
    except FileNotFoundError:
        return None


def test_signal_stops_all_and_puts_their_claims_back(web, tmp_path):
    web.tree(50)
    web.sites[1].hold("/1")
    running = start_gencrawl(*options_of(web, tmp_path), "--processes", 2, "--quiet")
    wait_until(lambda: len(web.requests) > 5)

    running.send_signal(signal.SIGTERM)
    _, err = running.communicate()
    web.sites[1].let_go("/1")

    assert running.returncode == 130, err
    assert "gencrawl resume" in err and "Traceback" not in err
    with contextlib.closing(CrawlDirectory(tmp_path / "crawl").frontier()) as frontier:
        assert frontier.count(State.CLAIMED) == 0
        assert frontier.count(State.QUEUED) > 0


def test_second_ctrl_c_does_not_wait_for_a_process_that_hangs(web, tmp_path):
    web.tree(30)
    web.sites[1].hold("/1")
    running = start_gencrawl(*options_of(web, tmp_path), "--processes", 2, "--quiet")
    wait_until(lambda: len(web.requests) > 5)
    hanging = workers_of(running.pid)[0]
    os.kill(hanging, signal.SIGSTOP)

    running.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(2 * SAME_SIGNAL_S)
    running.send_signal(signal.SIGINT)
    running.communicate()
    web.sites[1].let_go("/1")

    assert running.returncode == 130
    assert not os.path.exists(f"/proc/{hanging}")


def test_process_that_dies_repeatedly_ends_the_crawl(web, tmp_path):
    web.tree(30)
    web.sites[1].hold("/1")  # so that it cannot end before
    running = start_gencrawl(*options_of(web, tmp_path), "--processes", 2, "--quiet")

    def kill_one():
        with contextlib.suppress(ProcessLookupError):
            for child in sorted(workers_of(running.pid))[-1:]:
                os.kill(child, signal.SIGKILL)
        return running.poll() is not None

    wait_until(lambda: len(web.requests) > 2)
    wait_until(kill_one)
    _, err = running.communicate()
    web.sites[1].let_go("/1")

    assert running.returncode == 1
    assert "has died 5 times, the last time with signal SIGKILL" in err


def test_stopped_by_its_owner_ends_all_and_keeps_the_rest(web, tmp_path, run_sync):
    web.tree(60)
    config = CrawlConfig(
        (web.url(0, "0"),), into=str(tmp_path / "crawl"), scope="any", processes=2
    )
    watched = []

    @contextlib.contextmanager
    def watch(crawl):
        watched.append(crawl)
        yield

    crawler = Crawler(config, watch=watch)
    web.sites[1].hold("/1")

    async def main():
        running = crawler.run()
        while len(web.requests) < 5:
            await asyncio.sleep(0.01)
        crawl = watched[0]
        crawl.pause()
        while crawl.count(State.CLAIMED) > 1:
            await asyncio.sleep(0.01)
        crawl.unpause()
        while not crawl.under_way_by_host():
            await asyncio.sleep(0.01)
        crawler.stop()
        web.sites[1].let_go("/1")
        return await running

    result = run_sync(main)

    assert result.was_stopped
    assert result.summary.left > 0
    assert result.summary.count_by_state[State.CLAIMED] == 0
    assert set(web.requests.values()) == {1}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"on_page": print}, "on_page cannot be called if processes is 2"),
        ({"should_fetch": bool}, "should_fetch cannot be called"),
        ({"observer": object()}, "observer cannot be called"),
        ({"into": ""}, "several processes need a directory"),
    ],
)
def test_what_needs_one_process_is_refused(tmp_path, changes, words):
    options = {"into": str(tmp_path / "crawl"), "processes": 2}
    for name in options:
        if name in changes:
            options[name] = changes.pop(name)
    config = CrawlConfig(("http://a.test/",), **options)

    with pytest.raises(ConfigError, match=words):
        Crawler(config, **changes)


def test_directory_of_several_processes_is_not_that_of_one(gencrawl, tmp_path):
    config = CrawlConfig(("http://a.test/",), processes=2)
    with CrawlDirectory.create(tmp_path / "crawl", config):
        pass
    again = ("crawl", *config.seeds, "--into", tmp_path / "crawl")

    ended = gencrawl(*again, "--processes", 1, "--quiet")

    assert ended.status == 2 and "was begun with --processes 2" in ended.err


@pytest.mark.parametrize("command", ["status", "report", "export", "resume"])
def test_crawl_of_an_earlier_version_is_refused_in_one_sentence(
    gencrawl, tmp_path, command
):
    config = CrawlConfig(("http://a.test/",), processes=2)
    directory = CrawlDirectory.create(tmp_path / "crawl", config)
    directory.make_parts(2)
    directory.part(1).frontier_path.touch()

    ended = gencrawl(command, tmp_path / "crawl")

    assert ended.status == 2
    assert "was begun with --processes by an earlier version" in ended.err
    assert ended.err.count("\n") == 1
