"""docs/story: every stage crawls the same sites with the same result."""

import ast
import contextlib
import doctest
import re
import signal
import subprocess
import sys
import traceback

import pytest

from tests.helpers.programs_in_one import run_in_one
from tests.helpers.story import (
    STAGES,
    STORY,
    FailingSite,
    closed_port,
    demo_site,
    lines_of,
    load,
    printed_by_stages,
    start_stage,
)

# Long enough for what is to be answered in time on a busy machine.
TIMEOUT_S = 4


# A part of what the head of `crawler_app.commands.demo_site` promises.
PROMISED = {
    "200 /",
    "200 /catalogue/?page=3",
    "200 /staff/rota.html",
    "301 /guide -> /guide/",
    "301 /handbook.html -> /guide/",
    "302 /manual.html -> /handbook.html",
    "302 /partner -> http://elsewhere.invalid/",
    "302 /sky/today -> /sky/tonight",
    "302 /sky/tonight -> /sky/now",
    "302 /sky/now -> /sky/today",
    "404 /guide/sketch-map.html",
    "410 /news/2022/",
    "500 /sky/webcam.html",
}


def test_all_stages_find_the_same_on_the_demo_site():
    with demo_site() as url:
        printed = printed_by_stages(url, "--connections", 3)

    lines, last = printed["1_blocking"]
    assert {
        stage: found for stage, (found, _) in printed.items() if found != lines
    } == {}
    assert lines == sorted(lines)
    assert set(lines) >= PROMISED
    assert len(lines) == 75
    assert re.fullmatch(r"75 URLs in \d+\.\d\d s", last)


FAILING_LINES = sorted(
    [
        "200 /",
        "200 /a%20b",
        "200 /caf%C3%A9",
        "200 /fine",
        "200 /odd-markup",
        "200 /text",
        *[f"302 /chain/{number} -> /chain/{number + 1}" for number in range(11)],
        "302 /away -> http://elsewhere.invalid/",
        "302 /loop/a -> /loop/b",
        "302 /loop/b -> /loop/a",
        "302 /no-target",
        "302 /odd-target",
        "302 /self -> /self",
        "404 /missing",
        "broken /cut-head",
        "broken /empty",
        "broken /garbage",
        "broken /reset",
        "broken /short",
        "timeout /drip",
        "timeout /silent",
    ]
)


def test_failures_and_redirects_are_told_and_end():
    sites = {stage: FailingSite() for stage in STAGES}
    with contextlib.ExitStack() as cleanup:
        for site in sites.values():
            cleanup.enter_context(site.served())
        started = {
            stage: start_stage(stage, site.url, "--timeout", TIMEOUT_S)
            for stage, site in sites.items()
        }
        printed = {
            stage: lines_of(process.communicate()[0], process.returncode, site.url)[0]
            for (stage, process), site in zip(
                started.items(), sites.values(), strict=True
            )
        }

    assert {
        stage: found for stage, found in printed.items() if found != FAILING_LINES
    } == {}
    # crawler_app fetches a page again to find out whether a server that fails is down.
    del sites["8_crawler"]
    assert {stage for stage, site in sites.items() if _twice(site.paths)} == set()


def _twice(paths):
    return {path for path in paths if paths.count(path) > 1}


def test_server_that_refuses_is_told():
    printed = printed_by_stages(f"http://127.0.0.1:{closed_port()}/")

    for stage, (lines, last) in printed.items():
        assert lines == ["refused /"], stage
        assert last.startswith("1 URLs in "), stage


# What the user may do wrong.


def test_argument_that_cannot_be_used_is_named():
    told_by_arguments = {
        "ftp://a.test/": "is not of the form http://HOST",
        "http://[::1]/": "is not of the form http://HOST",
        "http://": "is not of the form http://HOST",
        "http://a.test/ --connections 0": "0 is not from 1 to 1000",
        "http://a.test/ --timeout 0": "0 is not a number of seconds above 0",
        "http://a.test:port/": "is not of the form http://HOST",
        "http://a.test:99999/": "http://a.test:99999/",
    }
    program = STORY / "1_blocking.py"

    ended = run_in_one([program, *each.split()] for each in told_by_arguments)

    for each, (arguments, told) in zip(ended, told_by_arguments.items(), strict=True):
        assert told in each.errors, arguments
        assert each.status == 2, arguments


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_ends_a_stage_that_waits(stage):
    with FailingSite().served() as site:
        process = start_stage(stage, f"{site.url}silent", stderr=subprocess.PIPE)
        assert site.silent.wait(60), "it has asked for no page"
        process.send_signal(signal.SIGINT)
        _out, errors = process.communicate()

    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors


# What the pages say of the programs.


@pytest.mark.parametrize("stage", STAGES)
def test_stage_is_short_and_needs_the_standard_library_only_up_to_stage_6(stage):
    source = (STORY / f"{stage}.py").read_text()
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    beside = {path.stem for path in STORY.glob("*.py")}
    foreign = {name.split(".")[0] for name in imported} - beside

    assert len(source.splitlines()) <= 175
    assert stage > "7" or foreign <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("stage", "frames"),
    [
        ("1_blocking", ["visit", "fetch", "read_all", "read"]),
        ("3_callbacks", ["readable"]),
        ("4_generators", ["visit", "fetch", "read_all", "read"]),
    ],
)
def test_traceback_of_a_failed_fetch_is_that_of_the_page(stage, frames):
    errors = []

    crawl = load(stage).crawl
    load("failing_fetch").crawl_resetting_site(crawl, errors.append)

    (error,) = errors
    found = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    printed = "".join(traceback.format_exception(error)).splitlines(keepends=True)
    lines = [line for line in printed if line.strip(" ~^\n")]
    text = "".join(lines).replace(str(STORY), "docs/story")
    assert found == frames
    assert text == (STORY / f"traceback_{stage}.txt").read_text(encoding="utf-8")


def test_thread_costs_more_than_a_generator():
    program = [sys.executable, STORY / "thread_costs.py", "100"]
    table = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    costs = {
        kind: list(map(float, figures.split()))
        for kind, figures in re.findall(r"100 (\w+) +(.*)", table)
    }

    assert costs["threads"][0] > 5 > costs["generators"][0]
    assert costs["threads"][1] > 0.5 > costs["generators"][1]


@pytest.mark.parametrize("module", ["web", "loop", "runner", "task"])
def test_examples_of_the_shared_modules_are_true(module):
    assert doctest.testmod(load(module)).failed == 0


# The parts of stages 4 and 5 that a crawl without errors does not use.


@pytest.fixture
def stage_5():
    return load("5_queue")


def run(generator_function):
    loop = load("loop").Loop()
    return load("4_generators").run(loop, generator_function(loop))


def turn():
    return
    yield


def test_item_of_a_cancelled_getter_goes_to_the_next(stage_5):
    def main(loop):
        queue = stage_5.Queue(loop)
        first, second, third = (stage_5.Task(loop, queue.get()) for _ in range(3))
        yield from stage_5.Task(loop, turn())  # until all three wait
        third.cancel()
        queue.put("item")
        first.cancel()
        return (yield from second)

    assert run(main) == "item"


def test_cancel_of_a_worker_is_not_taken_for_a_timeout(stage_5):
    def main(loop):
        answer = stage_5.Future(loop)
        fetch = stage_5.with_timeout(loop, 60, answer.__iter__())
        worker = stage_5.Task(loop, fetch)
        for _ in range(2):  # until the Task of the fetch waits
            yield from stage_5.Task(loop, turn())
        answer.set("in the same turn")
        worker.cancel()
        yield from worker

    with pytest.raises(stage_5.Cancelled):
        run(main)


def test_join_waits_for_the_items_that_are_unfinished_now(stage_5):
    def main(loop):
        queue = stage_5.Queue(loop)
        yield from queue.join()  # nothing was ever put in
        for _ in range(2):
            queue.put("item")
            joined = stage_5.Task(loop, queue.join())
            yield from stage_5.Task(loop, turn())
            assert not joined.done
            queue.task_done()
            yield from joined

    run(main)


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_mistake_in_the_program_itself_ends_the_crawl(stage):
    class BrokenSite(load("web").Site):
        def read(self, job, received):
            raise ZeroDivisionError

    with FailingSite().served() as site:
        crawl, broken = load(stage).crawl, BrokenSite(site.url)
        with pytest.raises((ZeroDivisionError, ExceptionGroup)) as caught:
            crawl(broken, 3, 60)

    errors = getattr(caught.value, "exceptions", [caught.value])
    assert isinstance(errors[0], ZeroDivisionError)


def test_tasks_that_wait_for_each_other_are_an_error_and_not_a_hang():
    stage_4 = load("4_generators")

    with pytest.raises(RuntimeError, match="nothing is left that could ever call back"):
        run(lambda loop: stage_4.Future(loop).__iter__())


def test_cancelled_fetch_closes_its_socket_in_the_wait_it_is_in():
    stage_4 = load("4_generators")
    ended = []

    def fetch(loop, url):
        try:
            yield from stage_4.fetch(loop, url)
        finally:
            ended.append(url)

    def main(loop):
        task = stage_4.Task(loop, fetch(loop, f"{site.url}silent"))
        loop.call_later(0.1, task.cancel)
        yield from task

    with FailingSite().served() as site, pytest.raises(stage_4.Cancelled):
        run(main)

    assert ended == [f"{site.url}silent"]
