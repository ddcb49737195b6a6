"""Measures the CPU time of whole processes in interleaved rounds.

Rule: the time of a process includes its threads and children.  The start-up time is
measured with a single page and subtracted.  Ratios are computed within one round only.
"""

import os
import statistics
import subprocess
import tempfile
import threading
from typing import NamedTuple

from crawl_site import ALONE_PATH

__all__ = ["Figures", "Run", "measure", "ratio", "run"]

# Five times the duration of the slowest run.
LIMIT_S = 200.0


class Run(NamedTuple):
    """The resource usage and output of one process.

    Attributes:
        cpu_s: User and system time of all its threads, and of children it waited for.
        peak_rss_mb: Its peak memory; at least that of this process when it started it.
        output: Its standard output.
    """

    cpu_s: float
    peak_rss_mb: float
    output: str


class Figures(NamedTuple):
    """The figures of one competitor, one per round."""

    cpu_ms: list[float]
    startup_ms: list[float]
    peak_rss_mb: list[float]
    outputs: list[str]


def run(command, lines=(), *, may_fail=False):
    """Run a command to its end in a temporary directory.

    Args:
        lines: Its standard input.
        may_fail: Whether an exit status other than 0 is no error.

    Raises:
        subprocess.CalledProcessError: it failed or had to be killed.
    """
    with (
        tempfile.TemporaryDirectory() as directory,
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as stdout,
    ):
        stdin.write("\n".join(lines))
        stdin.seek(0)
        process = subprocess.Popen(command, cwd=directory, stdin=stdin, stdout=stdout)
        usage = wait(process)
        if process.returncode and not may_fail:
            raise subprocess.CalledProcessError(process.returncode, command)
        stdout.seek(0)
        cpu_s = usage.ru_utime + usage.ru_stime
        # The unit is KiB on Linux.
        return Run(cpu_s, usage.ru_maxrss * 1024 / 1e6, stdout.read())


def wait(process):
    """Wait for a process, kill it if it takes too long, and return its usage."""
    killer = threading.Timer(LIMIT_S, process.kill)
    killer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:  # interrupted: leave no process behind
        process.kill()
        process.wait()
        raise
    finally:
        killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def measure(competitors, site, rounds, concurrency):
    """Return figures by name, and a sentence for each problem.

    Every other round runs in reverse order, so that other load, and effects of one run on
    the next, affect all alike.  A competitor that fails is left out of later rounds.
    """
    figures_by_name = {name: Figures([], [], [], []) for name, *_ in competitors}
    remarks = {}
    for number in range(rounds):
        for competitor in competitors if number % 2 else reversed(competitors):
            name = competitor.name
            if name not in figures_by_name:
                continue
            try:
                remark = measure_once(
                    competitor, site, concurrency, figures_by_name[name]
                )
            except subprocess.CalledProcessError as exc:
                del figures_by_name[name]
                remark = f"ended with {exc.returncode}, and is left out"
            if remark:
                remarks[f"{name}: {remark}."] = None
    return figures_by_name, list(remarks)


def measure_once(competitor, site, concurrency, figures):
    """Add one round's figures; return the problems."""
    alone_url, first_url = site.nginx.url + ALONE_PATH, site.nginx.url + "/"
    hosts = site.layout.hosts
    alone = run(competitor.command_for(alone_url, concurrency, hosts), [alone_url])
    site.nginx.take_visit(1)
    whole = run(competitor.command_for(first_url, concurrency, hosts), site.urls())
    visit = site.nginx.take_visit(site.pages)
    figures.cpu_ms.append((whole.cpu_s - alone.cpu_s) / (site.pages - 1) * 1e3)
    figures.startup_ms.append(alone.cpu_s * 1e3)
    figures.peak_rss_mb.append(whole.peak_rss_mb)
    figures.outputs.append(whole.output)
    if visit != (site.pages, 0, 0):
        return (
            f"{visit.pages} of {site.pages} pages, {visit.repeats} repeated, "
            f"{visit.others} answers other than 200"
        )
    if competitor.name.startswith("fetch:") and int(whole.output) != site.size:
        return f"{whole.output.strip()} bytes of bodies; there are {site.size}"
    return ""


def ratio(figures_by_name, name, ours):
    """Return the median over the rounds of the ratio of a competitor's figure to ours."""
    pairs = zip(figures_by_name[name].cpu_ms, figures_by_name[ours].cpu_ms, strict=True)
    return statistics.median(theirs / our for theirs, our in pairs)
