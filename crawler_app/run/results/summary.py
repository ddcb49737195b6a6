"""The summary of a crawl: counts and short lists, read from its frontier."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Outcome, State, UrlRecord
from crawler_app.base.reasons import CONTENT, AnyReason, Reason, is_broken
from crawler_app.base.text.formatting import number
from crawler_app.base.urls import dedup_key, host_of
from crawler_app.run.results.ranking import Ranked
from crawler_app.run.results.redirects import Redirects
from crawler_app.store.frontier import FrontierReader
from crawler_app.store.frontier.count_types import Amount, HostCounts, OutcomeKey

__all__ = [
    "FINISHED",
    "RUNNING",
    "STOPPED",
    "Summary",
    "final_records",
    "is_page",
    "state_of",
    "summarize",
]

FINISHED = "finished"
RUNNING = "running"
STOPPED = "stopped"


@dataclass(repr=False)
class Summary:
    """The counts of a whole crawl, and the lists for a person to look at.

    Memory grows with the lists of failures, redirects and hosts.

    Attributes:
        count_by_state: Number of URLs in each state.
        count_by_reason: Number of URLs by reason, for each state.
        count_by_status: Number of responses by HTTP status.
        pages: HTML pages.
        files: Anything else that was fetched and is not a redirect.
        external: External URLs that exist.
        size_bytes: Total size of the bodies, after decompression.
        pages_by_depth: Number of HTML pages by depth.
        redirects: The redirects, with their chains and loops.
        failures: Every URL that failed, or the first of them.
        slowest: The slowest fetches, slowest first.
        hosts: The hosts that were or will be fetched from, those with most URLs first; empty
            if they were not asked for.
        first_at: When the first URL was finished, in seconds since the epoch, or None.
        last_at: When the last URL was finished, in seconds since the epoch, or None.

    >>> from crawler_app.store.frontier.sqlite import SqliteFrontier
    >>> from crawler_app.base.models import Candidate
    >>> frontier = SqliteFrontier()
    >>> frontier.add([Candidate("http://a.test/", "a.test")])
    1
    >>> summary = summarize(frontier)
    >>> summary.left, summary.done
    (1, 0)
    """

    count_by_state: dict[State, int] = field(
        default_factory=lambda: dict.fromkeys(State, 0)
    )
    count_by_reason: dict[State, Counter[AnyReason]] = field(
        default_factory=lambda: {state: Counter() for state in State}
    )
    count_by_status: Counter[int] = field(default_factory=Counter)
    pages: int = 0
    files: int = 0
    external: int = 0
    size_bytes: int = 0
    pages_by_depth: Counter[int] = field(default_factory=Counter)
    redirects: Redirects = field(default_factory=lambda: Redirects({}))
    failures: list[UrlRecord] = field(default_factory=list)
    slowest: list[Ranked] = field(default_factory=list)
    hosts: list[HostCounts] = field(default_factory=list)
    first_at: float | None = None
    last_at: float | None = None

    def __str__(self) -> str:
        return (
            f"{number(self.pages, 'page')}, {number(self.files, 'file')}, {self.failed:,} "
            f"failed, {self.skipped:,} skipped, {self.left:,} left"
        )

    def __repr__(self) -> str:
        return f"<Summary: {self}>"

    @property
    def urls(self) -> int:
        """URLs met by the crawl."""
        return sum(self.count_by_state.values())

    @property
    def left(self) -> int:
        """URLs still to be fetched, queued or under way."""
        return self.count_by_state[State.QUEUED] + self.count_by_state[State.CLAIMED]

    @property
    def done(self) -> int:
        """URLs that gave a page, a file or a redirect."""
        return self.count_by_state[State.DONE]

    @property
    def failed(self) -> int:
        """URLs that gave an error or no answer; each is broken or not checked."""
        return self.count_by_state[State.FAILED]

    @property
    def broken(self) -> int:
        """Failed URLs that would fail for a visitor too."""
        counts = self.count_by_reason[State.FAILED]
        return sum(n for reason, n in counts.items() if is_broken(reason))

    @property
    def not_checked(self) -> int:
        """URLs that failed by a limit or a fault of the crawl, and may well exist."""
        return self.failed - self.broken

    @property
    def internal_errors(self) -> int:
        """URLs that failed by a bug of the crawler."""
        return self.count_by_reason[State.FAILED][Reason.INTERNAL_ERROR]

    @property
    def is_shell(self) -> bool:
        """Whether all pages are made by scripts, so that nothing is known about the site."""
        return 0 < self.pages == self.made_by_script

    @property
    def made_by_script(self) -> int:
        """Pages of which a crawl sees neither text nor links."""
        return self.count_by_reason[State.DONE][Reason.MADE_BY_SCRIPT]

    @property
    def skipped(self) -> int:
        """URLs that were met but not fetched."""
        return self.count_by_state[State.EXCLUDED]

    @property
    def unanswered(self) -> int:
        """Fetched URLs without an HTTP status."""
        return self.done + self.failed - self.count_by_status.total()

    @property
    def loops(self) -> list[list[str]]:
        """The redirect loops, each as a list of URLs."""
        return list(self.redirects.loop_by_key.values())

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain values, for ``status --json``."""
        return {
            "states": {state.label: n for state, n in self.count_by_state.items()},
            "reasons": {
                state.label: dict(counts)
                for state, counts in self.count_by_reason.items()
            },
            "statuses": {str(n): c for n, c in sorted(self.count_by_status.items())},
            **self.totals(),
            "redirect_loops": self.loops,
            "failures": [
                {"url": f.url, "via": f.via, "reason": f.outcome and f.outcome.reason}
                for f in self.failures
            ],
            "last_at": self.last_at,
        }

    @property
    def external_assets(self) -> int:
        """What pages needed from other hosts, and was fetched."""
        return self.count_by_reason[State.DONE][Reason.EXTERNAL_ASSET]

    def totals(self) -> dict[str, int]:
        """Return the number of URLs of each kind, and their total size, by name."""
        return {
            "urls": self.urls,
            "done": self.done,
            "pages": self.pages,
            Reason.MADE_BY_SCRIPT.value: self.made_by_script,
            "files": self.files,
            "external": self.external,
            "external_assets": self.external_assets,
            "redirects": len(self.redirects),
            "failed": self.failed,
            "broken": self.broken,
            "not_checked": self.not_checked,
            "skipped": self.skipped,
            "left": self.left,
            "size_bytes": self.size_bytes,
        }

    def _add(self, kind: OutcomeKey, amount: Amount) -> None:
        """Count the URLs of one kind."""
        self.count_by_state[kind.state] += amount.urls
        if amount.first_at is not None and amount.last_at is not None:
            self.first_at = min(self.first_at or math.inf, amount.first_at)
            self.last_at = max(self.last_at or 0.0, amount.last_at)
        self.count_by_reason[kind.state][kind.reason] += amount.urls
        if kind.state is State.EXCLUDED:
            return
        self.size_bytes += amount.size_bytes
        if kind.status is not None:
            self.count_by_status[kind.status] += amount.urls
        if kind.is_html:
            self.pages += amount.urls
            self.pages_by_depth[kind.depth] += amount.urls
        elif kind.state is State.DONE and kind.reason in CONTENT:
            self.files += amount.urls
        elif kind.reason == Reason.EXISTS:
            self.external += amount.urls


def summarize(
    frontier: FrontierReader,
    *,
    has_hosts: bool = True,
    max_failures: int | None = None,
) -> Summary:
    """Summarize a crawl.

    Args:
        has_hosts: Whether to count by host; a frontier in PostgreSQL reads every URL for that.
        max_failures: The maximum length of the list of failures; None for no limit.
    """
    summary = Summary()
    # One after the other: while a crawl runs, all URLs that have ended are from one query.
    for kind, amount in frontier.outcome_counts().items():
        summary._add(kind, amount)
    for state in (State.QUEUED, State.CLAIMED):
        summary.count_by_state[state] = frontier.count(state)
    summary.redirects = Redirects(frontier.redirects())
    summary.failures = list(islice(frontier.records(State.FAILED), max_failures))
    summary.slowest = [
        Ranked.of(record.url, record.outcome)
        for record in frontier.slowest()
        if record.outcome is not None
    ]
    if has_hosts:
        summary.hosts = _hosts(frontier, summary.redirects)
    return summary


def _hosts(frontier: FrontierReader, redirects: Redirects) -> list[HostCounts]:
    host_by_name = {host.name: host for host in frontier.hosts()}
    for loop in redirects.loop_by_key.values():
        host_by_name[host_of(loop[0])].broken += 1
    return sorted(host_by_name.values(), key=lambda host: (-host.urls, host.name))


def final_records(
    urls: Sequence[str], frontier: FrontierReader, summary: Summary
) -> list[UrlRecord | None]:
    """Return the record of each URL after its redirects; None if it is unknown.

    For a redirect loop, that is one of its URLs.  A page that soon takes its visitors
    elsewhere counts as a redirect, once.
    """
    found = _ends_of(urls, frontier, summary)
    targets = [_refreshed(record) for record in found]
    if not any(targets):
        return found
    further = _ends_of(targets, frontier, summary)
    return [
        end if target else record
        for record, target, end in zip(found, targets, further, strict=True)
    ]


def _ends_of(
    urls: Sequence[str], frontier: FrontierReader, summary: Summary
) -> list[UrlRecord | None]:
    end_by_key = summary.redirects.end_by_key
    return [frontier.find(end_by_key.get(key, key)) for key in map(dedup_key, urls)]


def _refreshed(record: UrlRecord | None) -> str:
    """Return where a page takes its visitors; empty if it does not."""
    outcome = None if record is None else record.outcome
    if outcome is None or outcome.reason not in CONTENT:
        return ""
    return outcome.redirect_to


def is_page(outcome: Outcome) -> bool:
    """Return whether a URL gave an HTML page.

    >>> from crawler_app.base.reasons import Reason
    >>> is_page(Outcome(State.DONE, Reason.OK, 200, content_type="text/html"))
    True
    """
    return outcome.reason in CONTENT and is_html(outcome.content_type)


def state_of(urls: int, left: int, *, is_running: bool) -> str:
    """Return the state of a crawl: RUNNING, STOPPED or FINISHED.

    Args:
        urls: Number of URLs it has met; 0 if it was killed before the first one, and so
            has not finished.
        left: How many of these are still to be fetched.

    >>> state_of(9, left=2, is_running=True), state_of(9, left=2, is_running=False)
    ('running', 'stopped')
    """
    if is_running:
        return RUNNING
    return FINISHED if urls and not left else STOPPED
