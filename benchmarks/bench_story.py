"""The stages of docs/story on one site: time, CPU, memory and lines of code.

A server on loopback answers each request after a while, as on the Web.  Each stage crawls
its pages in a process of its own, with 1, 10 and 100 connections, in interleaved rounds.

    python benchmarks/bench_story.py [--pages 300] [--rounds 3] [--latency 0.02]
    python benchmarks/bench_story.py --quick
    python benchmarks/bench_story.py --write

Wall time is what the stage prints.  CPU is user + system time of the whole process; that for
a single page is measured each time and subtracted.  Memory is the peak of the process.  Lines
of code are those of the stage and of the modules beside it, without blank lines, comments
and docstrings.  --write puts the table and the plot into the documentation.  Needs Linux.
"""

import argparse
import ast
import asyncio
import os
import platform
import statistics
import sys
import threading
from pathlib import Path
from typing import NamedTuple

from crawl_runs import run
from story_chart import Panel, story_chart

ROOT = Path(__file__).resolve().parent.parent
STORY = ROOT / "docs" / "story"
STAGES = sorted(path.stem for path in STORY.glob("[0-9]_*.py"))
CONNECTIONS = (1, 10, 100)
LINKS_PER_PAGE = 10

# Runs a program and prints its peak memory.  The kernel's figure for a child that has ended
# is never less than the memory of the process that started it.
AND_PEAK = """
import os, re, runpy, sys
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
print(*re.findall(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read()))
"""

TEXT = b"<p>some words" * 160


class Figures(NamedTuple):
    """The figures of one stage with one number of connections, one for each round."""

    wall_s: list[float]
    cpu_ms: list[float]
    peak_mb: list[float]


class SlowSite:
    """A site on a thread of its own: a tree of pages, each of which is delayed.

    Attributes:
        url: The first page.
        requests: The number of requests so far.
    """

    def __init__(self, pages, latency_s):
        self.requests = 0
        self._pages, self._latency_s = pages, latency_s
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))

    def __enter__(self):
        self._thread.start()
        self._is_ready.wait()
        return self

    def __exit__(self, *exc_info):
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    async def _serve(self):
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        server = await self._loop.create_server(
            lambda: _Answering(self), "127.0.0.1", 0, backlog=2048
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        self._is_ready.set()
        await self._stopped.wait()
        server.close()

    def answer_later(self, transport, number, closes):
        self.requests += 1
        answer = page(number, self._pages)

        def answer_now():
            transport.write(answer)
            if closes:
                transport.close()

        self._loop.call_later(self._latency_s, answer_now)


class _Answering(asyncio.Protocol):
    def __init__(self, site):
        self._site = site
        self._received = b""

    def connection_made(self, transport):
        self._transport = transport

    def data_received(self, data):
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            _method, path, version = head.split(b"\r\n")[0].split(b" ")
            number = int(path.strip(b"/"))
            self._site.answer_later(self._transport, number, version == b"HTTP/1.0")


def page(number, pages):
    """Return the answer for a page of the tree; it links to the pages below it."""
    below = range(number * LINKS_PER_PAGE + 1, (number + 1) * LINKS_PER_PAGE + 1)
    links = [b'<a href="/%d">page</a>' % n for n in below if n < pages]
    body = b"<!doctype html><title>A page</title>%b%b" % (b" ".join(links), TEXT)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def measure(arguments):
    """Return figures by stage and connections; every other round runs backwards."""
    cells = [(stage, n) for n in arguments.connections for stage in STAGES]
    figures = {cell: Figures([], [], []) for cell in cells}
    with (
        SlowSite(arguments.pages, arguments.latency) as site,
        SlowSite(1, arguments.latency) as one_page,
    ):
        for number in range(arguments.rounds):
            for cell in cells if number % 2 else reversed(cells):
                start_s, *_ = measure_once(one_page, *cell, 1)
                cpu_s, wall_s, peak_mb = measure_once(site, *cell, arguments.pages)
                figures[cell].wall_s.append(wall_s)
                page_ms = (cpu_s - start_s) / (arguments.pages - 1) * 1e3
                figures[cell].cpu_ms.append(page_ms)
                figures[cell].peak_mb.append(peak_mb)
    return figures


def measure_once(site, stage, connections, pages):
    """Return the CPU time, the wall time that the stage prints, and its peak memory."""
    before = site.requests
    program = str(STORY / f"{stage}.py")
    arguments = [program, site.url, "--connections", str(connections)]
    ran = run([sys.executable, "-c", AND_PEAK, *arguments])
    *_, last, peak_kb = ran.output.splitlines()
    count, _urls, _in, wall_s, _s = last.split()
    asked = site.requests - before
    assert int(count) == asked == pages, (stage, count, asked)
    return ran.cpu_s, float(wall_s), int(peak_kb) * 1024 / 1e6


# Lines of code.


def lines_of_stage(stage):
    """Return the lines of code of a stage, and those of what it imports beside it."""
    beside = imported_by(f"{stage}.py") - {f"{stage}.py"}
    return lines_of_code(STORY / f"{stage}.py"), sum(
        lines_of_code(STORY / name) for name in beside
    )


def imported_by(name):
    """Return the files of the story that a file needs, itself included."""
    tree = ast.parse((STORY / name).read_text(encoding="utf-8"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    words |= {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    found = {path.name for path in STORY.glob("*.py") if path.stem in words}
    return {name}.union(*(imported_by(other) for other in found - {name}))


def lines_of_code(path):
    """Count the lines that are not blank and not only comments or docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = {n for n, line in enumerate(text.splitlines(), 1) if is_code(line)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def is_code(line):
    return bool(line.strip()) and not line.strip().startswith("#")


def lines_of_packages():
    """Return the lines of code of gencoro and crawler_app, without compat and legacy."""
    paths = [
        path
        for name in ("gencoro", "crawler_app")
        for path in (ROOT / name).rglob("*.py")
    ]
    parts = {"compat", "legacy"}
    return sum(lines_of_code(path) for path in paths if not parts & set(path.parts))


# What is shown.


def table(figures, arguments):
    """Return the table as reStructuredText."""
    numbers = " / ".join(map(str, arguments.connections))
    lines = [
        ".. Written by benchmarks/bench_story.py.",
        "",
        f".. list-table:: One site, with {numbers} connections",
        "   :header-rows: 1",
        "",
    ]
    heads = ["stage", "seconds", "ms CPU a page", "peak MB", "lines"]
    for cells in [heads, *(row(stage, figures, arguments) for stage in STAGES)]:
        marks = ["*", *[" "] * (len(cells) - 1)]
        lines += [
            f"   {mark} - {cell}" for mark, cell in zip(marks, cells, strict=True)
        ]
    return "\n".join([*lines, "", f"{note(arguments)}  {LINES_NOTE}", ""])


def row(stage, figures, arguments):
    mine = [figures[stage, connections] for connections in arguments.connections]
    walls = " / ".join(f"{statistics.median(each.wall_s):.2f}" for each in mine)
    cpus = " / ".join(f"{statistics.median(each.cpu_ms):.2f}" for each in mine)
    peaks = " / ".join(f"{max(each.peak_mb):.0f}" for each in mine)
    own, beside = lines_of_stage(stage)
    if stage.startswith("8"):
        beside += lines_of_packages()
    return [stage.replace("_", " "), walls, cpus, peaks, f"{own} + {beside}"]


LINES_NOTE = (
    "Lines are those of the stage, and of the modules that it uses beside it; stage 8 uses "
    "gencoro and crawler_app (without ``compat`` and ``legacy``).  Lines of the standard "
    "library, of Tornado and of other packages are not counted."
)


def note(arguments):
    return (
        f"{arguments.pages} pages of {len(page(0, arguments.pages)) / 1000:.1f} KB, each after "
        f"{arguments.latency * 1e3:.0f} ms; medians of {arguments.rounds} rounds; Python "
        f"{platform.python_version()}; {os.cpu_count()} cores."
    )


def picture(figures, arguments):
    """Return the plot as SVG."""

    def by_stage(name):
        return {
            stage.replace("_", " "): [
                statistics.median(getattr(figures[stage, n], name))
                for n in arguments.connections
            ]
            for stage in STAGES
        }

    panels = [
        Panel("seconds for the whole site", by_stage("wall_s")),
        Panel("milliseconds of CPU a page", by_stage("cpu_ms")),
    ]
    series = [f"{n} connection{'s' * (n > 1)}" for n in arguments.connections]
    return story_chart("One site, eight stages", series, panels, note(arguments))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--latency", type=float, default=0.02, help="seconds (default 0.02)"
    )
    parser.add_argument("--connections", type=int, nargs="+", default=CONNECTIONS)
    parser.add_argument("--quick", action="store_true", help="50 pages, one round")
    parser.add_argument("--write", action="store_true", help="update the documentation")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.pages, arguments.rounds = 50, 1
    if arguments.pages < 2 or arguments.rounds < 1:
        parser.error("--pages must be 2 or more, --rounds 1 or more")
    return arguments


def main():
    arguments = parse_arguments()
    figures = measure(arguments)
    text = table(figures, arguments)
    print(text)
    if arguments.write:
        (STORY / "measured.inc").write_text(text, encoding="utf-8")
        svg = picture(figures, arguments)
        (STORY / "measured.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
