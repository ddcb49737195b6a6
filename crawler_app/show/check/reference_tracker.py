"""Matches the references in documents with the outcomes of the URLs they lead to.

A reference waits until the outcome of its URL is known, and is then forgotten; so memory grows
with the number of known URLs only.  These are known by the hashes of their keys, which take less
memory than the keys.

The references of a document to one URL are treated together: a manual has many times more
references than pairs of a page and a URL.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from crawler_app.base.models import Candidate, Outcome, Role, State
from crawler_app.base.reasons import PROVISIONAL, WALLS, Reason, meaning_of
from crawler_app.base.urls import (
    host_of,
    is_loopback,
    is_mixed_content,
    join_or_nothing,
    without_fragment,
)
from crawler_app.show.check.ends import LOOP, End, Ends, is_unchecked, key_of, skipped
from crawler_app.show.check.offline import Unreached
from crawler_app.show.check.places import Places
from crawler_app.show.check.reporting import Reporter
from crawler_app.show.check.waiting import References, WaitingReferences
from crawler_app.show.findings.finding import CheckSummary, Finding
from crawler_app.show.findings.kinds import (
    PERMANENT,
    FindingKind,
)
from crawler_app.web.documents.malformed import REPAIRED
from crawler_app.web.documents.outline import Outline
from crawler_app.web.documents.references import Mention, Use
from crawler_app.web.documents.resolving import LinkResolver
from crawler_app.web.documents.sitemap import ENTRY

if TYPE_CHECKING:
    from crawler_app.web.render.problems import ScriptProblem

__all__ = ["ReferenceTracker"]


class _Resolved(NamedTuple):
    """The target of a reference.

    Attributes:
        target: The URL; empty if it cannot be fetched.
        key: The hash of its key.
        problem: What is wrong with the reference itself.
    """

    target: str
    key: int
    problem: str


class ReferenceTracker:
    """Observes a crawl, and reports broken references; see `crawler_app.run.crawl.observer`.

    Args:
        report: Called with each finding.
        seeds: The URLs that the crawl begins with.
        name_of: Returns the name to show for a URL.
        served_at: Returns where a URL is served for the check.
        is_ignored: Returns whether a target is ignored.
        reads_external: Whether external pages are read, to check fragments.
        note_links: Called with the name of a page and its references, before any is reported.

    >>> found = []
    >>> tracker = ReferenceTracker(found.append)
    >>> page = Outline("", [Mention("b", Use.LINK, "a", "href", 7, 3, "B")])
    >>> tracker.saw_document("http://a.test/", page)
    >>> gone = Outcome(State.FAILED, Reason.CONNECTION_REFUSED)
    >>> tracker.saw_end("http://a.test/b", gone, Role.LINK)
    >>> found[0].place, found[0].text, found[0].meaning
    ('http://a.test/:7:3', 'B', 'the host refused the connection')
    """

    def __init__(
        self,
        report: Callable[[Finding], object],
        seeds: Collection[str] = (),
        *,
        name_of: Callable[[str], str] = str,
        served_at: Callable[[str], str] = str,
        is_ignored: Callable[[str], bool] = lambda url: False,
        reads_external: bool = False,
        note_links: Callable[[str, Collection[str]], object] = lambda page, links: None,
    ) -> None:
        self.summary = CheckSummary()
        self._reporter = Reporter(report, name_of)
        self._seeds = frozenset(seeds)
        self._own_hosts = frozenset(map(host_of, seeds))
        self._name_of = name_of
        self._served_at = served_at
        self._is_ignored = is_ignored
        self._note_links = note_links
        self._ends = Ends()
        self._waiting = WaitingReferences()
        self._unreached = Unreached()
        self._places = Places(
            self._reporter.find_missing, self.summary, reads_external=reads_external
        )
        self._resolver = LinkResolver(self._resolved)
        # Hashes of the names of targets that do not tell whether they work.
        self._undecided: set[int] = set()
        # Keys of URLs with a bot wall, which are asked for again at the end of a crawl.
        self._walled: set[int] = set()

    def served_at(self, url: str) -> str:
        """Return where a URL is served for the check."""
        return self._served_at(url)

    def saw_document(self, url: str, outline: Outline, *, has_ids: bool = True) -> None:
        """Record a document's references and ids."""
        self.summary.pages += 1
        if outline.is_rendered:
            self._reporter.rendered.add(url)
        base = join_or_nothing(url, outline.base) or url
        if has_ids:
            self._places.add(key_of(url), None if outline.is_partial else outline.ids)
        by_link = outline.by_link()
        self._note_links(self._name_of(url), by_link)
        for link, mentions in by_link.items():
            self._take(url, link, mentions, self._resolver.find(base, link))

    def saw_problems(self, url: str, problems: "Sequence[ScriptProblem]") -> None:
        """Report what the scripts of a rendered page get wrong."""
        for each in problems:
            if not self._is_ignored(each.url or url):
                self._reporter.find_script(url, each)

    def saw_entries(self, sitemap: str, urls: Iterable[str]) -> None:
        """Record the URLs that a sitemap lists."""
        for url in urls:
            link = without_fragment(url)
            found = self._resolver.find(sitemap, link)
            self._take(sitemap, link, [ENTRY._replace(value=url)], found)

    def saw_refusal(self, candidate: Candidate) -> None:
        """Record a skipped URL, unless the skip is provisional."""
        refusal = candidate.refusal
        if refusal is not None and refusal not in PROVISIONAL:
            self.saw_end(candidate.url, skipped(refusal), candidate.role)

    def wants_places(self, url: str) -> bool:
        """Return whether a reference to an external page has a fragment to be checked."""
        key = key_of(url)
        return self._places.are_wanted(key, self._waiting.of(key))

    def saw_places(self, url: str, ids: Collection[str] | None) -> None:
        """Record the ids on an external page; None if it could not be read."""
        self._places.add_read(key_of(url), ids)

    def unread(self) -> Collection[str]:
        """Return the external pages that exist and are still to be read."""
        return self._places.unread()

    def saw_end(self, url: str, outcome: Outcome, role: Role) -> None:
        """Record the outcome of a URL, and check the references that wait for it."""
        self.summary.made_by_script += outcome.reason == Reason.MADE_BY_SCRIPT
        if outcome.status is not None and not is_loopback(host_of(url)):
            self._go_online()
        key = key_of(url)
        is_there = outcome.state is State.DONE and outcome.reason != Reason.REDIRECT
        end = None if is_there else End(outcome, role)
        is_first = key not in self._ends
        self._ends[key] = end
        if is_there and role is Role.EXTERNAL:
            self._places.add_external(key, url)
        for group in self._places.pop_unread(key):
            if end is None:
                self._places.check(group, key)
            else:
                self._settle(group, key)
        waiting = self._waiting.pop(key)
        self._walled.discard(key)
        self._undecided.difference_update(
            hash(self._name_of(each.target)) for each in waiting
        )
        if (
            not waiting
            and end is not None
            and is_first
            and not role.is_non_page
            and not self._is_ignored(url)
        ):
            waiting = [References("", [self._elsewhere(url)], url)]
        for each in waiting:
            self._settle(each, key)

    def _go_online(self) -> None:
        """Report what was kept back, because the network works."""
        for group, end in self._unreached.released():
            self._find_broken(group, end)

    def _elsewhere(self, url: str) -> Mention:
        """Return a stand-in for the reference to a URL that no document refers to."""
        name = "start URL" if url in self._seeds else "header or robots.txt"
        return Mention(url, Use.LINK, name, "")

    def finish(self) -> CheckSummary:
        """Return the summary; references that still wait were not checked."""
        summary, ends = self.summary, self._ends
        complaint, unreached = self._unreached.complaint()
        if complaint:
            summary.incomplete.append(complaint)
        else:
            self._go_online()
        self._places.count_unread()
        unchecked = [end.outcome.reason for end in ends.unchecked()]
        summary.unchecked.update(map(meaning_of, unchecked))
        if not summary.incomplete:  # otherwise the walls may be its cause
            summary.incomplete += ends.missed_pages()
        if waiting := len(self._waiting) - len(self._walled):
            summary.unchecked[
                "not fetched, because the crawl follows no such link or has ended"
            ] = waiting
        self._waiting.close()
        self._unreached.close()
        summary.urls = len(ends) - len(unchecked) - unreached
        return summary

    def is_undecided(self, target: str) -> bool:
        """Return whether a target, by its name, has not told whether it works."""
        return hash(target) in self._undecided

    def is_there(self, url: str) -> bool:
        """Return whether a URL works, if need be through redirects."""
        return self._ends.is_there(url, self._served_at)

    def _take(
        self, page: str, link: str, mentions: Sequence[Mention], found: _Resolved
    ) -> None:
        """Check the references of a document that differ only in their fragments."""
        count = len(mentions)
        self.summary.references += count
        target, key, problem = found
        mentions = [m for m in mentions if not self._is_ignored(target or m.value)]
        self.summary.ignored += count - len(mentions)
        group = References(page, mentions, target)
        if link.strip() in ("", "#"):
            group = self._reporter.find_empty(group)
        if not group.mentions:
            return
        if problem:
            self._reporter.find(
                FindingKind.MALFORMED, group, group.mentions, "malformed", problem
            )
            if problem not in REPAIRED:
                group = group._replace(mentions=())  # one fault, one finding
        if is_mixed_content(page, target):
            group = self._reporter.find_mixed(group)
        if target:
            self._settle(group, key)

    def _resolved(self, url: str, problem: str) -> _Resolved:
        url = self._served_at(url)
        return _Resolved(url, key_of(url) if url else 0, problem)

    def _settle(self, group: References, key: int) -> None:
        """Follow redirects to a known outcome, or wait for an unknown one."""
        seen: set[int] = set()
        while key in self._ends:
            end = self._ends[key]
            if end is None:
                self._check_places(group, key)
                return
            if key in seen:
                self._find_broken(group, End(LOOP, end.role))
                return
            seen.add(key)
            if end.outcome.reason != Reason.REDIRECT:
                if is_unchecked(end.outcome):
                    self._undecided.add(hash(self._name_of(group.target)))
                    if end.outcome.reason in WALLS:
                        self._walled.add(key)
                        self._waiting.add(key, group)
                    elif end.outcome.reason == Reason.ROBOTS:
                        self._find_forbidden(group, end)
                else:
                    self._find_broken(group, end)
                return
            group = group._replace(
                redirected_to=end.outcome.redirect_to,
                first_status=group.first_status or end.outcome.status,
                fragment=end.outcome.fragment or group.fragment,
                redirects=group.redirects + 1,
            )
            if is_mixed_content(group.page, end.outcome.redirect_to):
                group = self._reporter.find_mixed(group)
            key = key_of(self._served_at(end.outcome.redirect_to))
        self._waiting.add(key, group)

    def _check_places(self, group: References, key: int) -> None:
        """Report links that a permanent redirect led here; check the fragments."""
        if group.first_status in PERMANENT:
            self._reporter.find_moved(group)
        self._places.check(group, key)

    def _find_forbidden(self, group: References, end: End) -> None:
        """Report that robots.txt keeps search engines from a part of the site."""
        if host_of(group.redirected_to or group.target) in self._own_hosts:
            self._reporter.find_broken(FindingKind.NOTICE, group, end.outcome)

    def _find_broken(self, group: References, end: End) -> None:
        if self._unreached.keeps(group, end):
            return
        kind = FindingKind.BROKEN
        url = group.redirected_to or group.target
        # What is deeper than --max-depth is checked in the same way as what is external.
        if end.role is Role.EXTERNAL and host_of(url) not in self._own_hosts:
            kind = FindingKind.EXTERNAL
        self._reporter.find_broken(kind, group, end.outcome)
