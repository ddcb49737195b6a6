"""How it is measured: CPU of whole processes, in interleaved rounds.

Rule: all that a process takes counts, its threads and children too.  What the same
command takes for a single page, which is starting up, is measured beside it and taken
off.  Figures of one round belong together: only they are divided by each other.
"""

import os
import statistics
import subprocess
import tempfile
import threading
from typing import NamedTuple

from crawl_site import ALONE_PATH

__all__ = ["Figures", "Run", "measure", "ratio", "run"]

# The slowest run takes a fifth of it.
LIMIT_S = 200.0


class Run(NamedTuple):
    """What one process took.

    Attributes:
        cpu_s: User and system time, of all its threads and of children it waited for.
        peak_rss_mb: At least what this process had when it started the other.
        output: What it printed.
    """

    cpu_s: float
    peak_rss_mb: float
    output: str


class Figures(NamedTuple):
    """Of one competitor, one of each round."""

    cpu_ms: list[float]
    startup_ms: list[float]
    peak_rss_mb: list[float]
    outputs: list[str]


def run(command, lines=()):
    """Run a command to its end, in a directory that is gone afterwards.

    Args:
        lines: What it reads from stdin.

    Raises:
        subprocess.CalledProcessError: it failed, or had to be killed.
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
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        stdout.seek(0)
        cpu_s = usage.ru_utime + usage.ru_stime
        # Linux counts it in KiB.
        return Run(cpu_s, usage.ru_maxrss * 1024 / 1e6, stdout.read())


def wait(process):
    """Wait for the end of a process, by force if it takes too long; return its usage."""
    killer = threading.Timer(LIMIT_S, process.kill)
    killer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:  # interrupted: nothing must be left
        process.kill()
        process.wait()
        raise
    finally:
        killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def measure(competitors, site, rounds, concurrency):
    """Return figures by name, and sentences on what did not go as it should.

    Every other round goes backwards, so that what one leaves to the next, and what the
    machine does meanwhile, meets all of them.  Who fails is left out from then on.
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
    """Add one round's figures; return what was not as it should be."""
    alone_url, first_url = site.nginx.url + ALONE_PATH, site.nginx.url + "/"
    alone = run(competitor.command_for(alone_url, concurrency), [alone_url])
    site.nginx.take_visit(1)
    whole = run(competitor.command_for(first_url, concurrency), site.urls())
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
    """Return the median of the rounds' ratios: one's figure by ours."""
    pairs = zip(figures_by_name[name].cpu_ms, figures_by_name[ours].cpu_ms, strict=True)
    return statistics.median(theirs / our for theirs, our in pairs)
