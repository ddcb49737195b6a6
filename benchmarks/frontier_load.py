"""The pages that benchmarks of a frontier pretend to fetch, and what the server spends on them."""

import os
import random
from pathlib import Path

from crawler_app.base.models import Candidate, Outcome, State

__all__ = ["HOSTS", "LEASE_S", "Site", "cpu_of_server", "page_of"]

HOSTS = 1_000
LINKS = 20
NEW_LINKS = 3
LEASE_S = 3600.0

TICKS = os.sysconf("SC_CLK_TCK")


def page_of(claim):
    """Return the outcome of a page."""
    return Outcome(
        State.DONE,
        "ok",
        200,
        "text/html; charset=utf-8",
        20_000,
        took_s=0.2,
        title=f"The page at {claim.url}",
        digest="0123456789abcdef",
    )


class Site:
    """Makes links that no other worker makes, and links to pages that it made before."""

    def __init__(self, number):
        self._number = number
        self._chosen = random.Random(number)
        self._made = 0

    def seeds(self):
        """Return one page of each host."""
        return [self._new() for _ in range(HOSTS)]

    def links(self):
        """Return the links of one page."""
        new = [self._new() for _ in range(NEW_LINKS)]
        before = (self._chosen.randrange(self._made) for _ in range(LINKS - NEW_LINKS))
        return new + [self._candidate(number) for number in before]

    def _new(self):
        self._made += 1
        return self._candidate(self._made - 1)

    def _candidate(self, number):
        host = f"host-{number % HOSTS}.test"
        url = f"http://{host}/articles/2024/{self._number}/a-page-with-a-title-{number}"
        return Candidate(url, host, 1, key=url)


def cpu_of_server(postmaster):
    """Return the CPU time of a server and its processes, also those ended, in seconds."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(stat.parent.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS
