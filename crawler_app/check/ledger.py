"""Pairs the references of documents with the ends of the URLs that they lead to.

Pure.  A reference waits until the end of its URL is known, and is forgotten then; so memory
grows with the URLs that are known, and with the references to those that are still queued.
"""

import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple
from urllib.parse import unquote

from crawler_app.check.findings import Finding, Kind, Summary
from crawler_app.check.malformed import is_missing, problem_in
from crawler_app.documents.outline import Mention, Outline, words_of
from crawler_app.documents.references import Use
from crawler_app.models import Candidate, Outcome, Role, State
from crawler_app.reasons import PROVISIONAL, Reason, is_broken, meaning_of
from crawler_app.urls import (
    dedup_key,
    is_mixed_content,
    is_of_directory,
    join_or_nothing,
    without_fragment,
)

__all__ = ["Ledger"]

PERMANENT = (301, 308)

# Targets that are remembered as written, by directory.
MAX_TARGETS = 100_000

_LINES = re.compile("L[0-9]+(-L?[0-9]+)?")

_ENTRY = Mention("", Use.LINK, "sitemap entry", "")


class _Waiting(NamedTuple):
    """A reference whose URL has not ended yet.

    Attributes:
        redirected_to: Where its redirects have led so far; empty if there are none.
        first_status: The status of the first of them.
    """

    page: str
    mention: Mention
    target: str
    redirected_to: str = ""
    first_status: int | None = None


class _Found(NamedTuple):
    """Where a reference leads.

    Attributes:
        target: The URL; empty if it is not one that can be fetched.
        key: The key of the URL.
        problem: What is wrong with the reference itself.
    """

    target: str
    key: str
    problem: str


class _End(NamedTuple):
    """The end of a URL that is not simply there."""

    outcome: Outcome
    role: Role


class Ledger:
    """Takes note of a crawl, and reports what is wrong; see `crawler_app.crawl.witness`.

    Args:
        report: Called with each finding.
        seeds: The URLs that the crawl begins with.
        name_of: Returns the name to show for a URL.
        is_ignored: Tells which targets are left out.
        reads_external: Whether pages outside the scope are read for the places on them.

    >>> found = []
    >>> ledger = Ledger(found.append)
    >>> page = Outline("", [Mention("b", Use.LINK, "a", "href", 7, 3, "B")])
    >>> ledger.saw_document("http://a.test/", page)
    >>> gone = Outcome(State.FAILED, Reason.DNS)
    >>> ledger.saw_end("http://a.test/b", gone, Role.LINK)
    >>> found[0].place, found[0].text, found[0].meaning
    ('http://a.test/:7:3', 'B', 'the name of the host is unknown')
    """

    def __init__(
        self,
        report: Callable[[Finding], object],
        seeds: Collection[str] = (),
        *,
        name_of: Callable[[str], str] = str,
        is_ignored: Callable[[str], bool] = lambda url: False,
        reads_external: bool = False,
    ) -> None:
        self.summary = Summary()
        self._report = report
        self._seeds = frozenset(seeds)
        self._name_of = name_of
        self._is_ignored = is_ignored
        self._reads_external = reads_external
        # None for a URL that is there.
        self._end_by_key: dict[str, _End | None] = {}
        self._waiting_by_key: dict[str, list[_Waiting]] = {}
        # Numbers, which take less memory than the ids.
        self._ids_by_key: dict[str, Collection[int]] = {}
        self._target_by_link: dict[tuple[str, str], _Found] = {}
        # Pages outside the scope: those that are there, those that were read, and the
        # references to a place on one that was not.
        self._probe_by_key: dict[str, str] = {}
        self._read_keys: set[str] = set()
        self._unread_by_key: dict[str, list[_Waiting]] = {}

    # -- what the crawl tells -------------------------------------------------------------

    def saw_document(self, url: str, outline: Outline) -> None:
        """Take note of the references in a document, and of its ids."""
        self.summary.pages += 1
        base = join_or_nothing(url, outline.base) or url
        if not outline.is_partial:
            self._ids_by_key[dedup_key(url)] = frozenset(map(hash, outline.ids))
        # Most links of a document are to different places of a few others.
        found_by_link: dict[str, _Found] = {}
        for mention in outline.mentions:
            link = without_fragment(mention.value)
            found = found_by_link.get(link)
            if found is None:
                found = found_by_link[link] = self._target_of(base, link)
            self._take(url, mention, found)

    def saw_entries(self, sitemap: str, urls: Iterable[str]) -> None:
        """Take note of what a sitemap lists."""
        for url in urls:
            found = self._target_of(sitemap, without_fragment(url))
            self._take(sitemap, _ENTRY._replace(value=url), found)

    def saw_refusal(self, candidate: Candidate) -> None:
        """Take note of a URL that is skipped, unless another link may end that."""
        refusal = candidate.refusal
        if refusal is not None and refusal not in PROVISIONAL:
            outcome = Outcome(State.EXCLUDED, refusal)
            self.saw_end(candidate.url, outcome, candidate.role)

    def wants_places(self, url: str) -> bool:
        """Return whether a reference to a page outside the scope names a place on it."""
        key = dedup_key(url)
        if not self._reads_external or key in self._read_keys:
            return False
        waiting = self._waiting_by_key.get(key, ())
        return key in self._unread_by_key or any(map(_has_name, waiting))

    def saw_places(self, url: str, ids: Collection[str] | None) -> None:
        """Take note of the ids on a page outside the scope."""
        key = dedup_key(url)
        self._read_keys.add(key)
        if ids is not None:
            self._ids_by_key[key] = frozenset(map(hash, ids))

    def unread(self) -> Collection[str]:
        """Return the pages outside the scope that are there, and are to be read."""
        return {self._probe_by_key[key] for key in self._unread_by_key}

    def saw_end(self, url: str, outcome: Outcome, role: Role) -> None:
        """Settle what has waited for a URL."""
        key = dedup_key(url)
        is_there = outcome.state is State.DONE and outcome.reason != Reason.REDIRECT
        end = None if is_there else _End(outcome, role)
        is_first = key not in self._end_by_key
        self._end_by_key[key] = end
        if is_there and role is Role.PROBE:
            self._probe_by_key[key] = url
        self._settle_unread(key, end)
        waiting = self._waiting_by_key.pop(key, None)
        if (
            waiting is None
            and end is not None
            and is_first
            and not role.is_extra
            and not self._is_ignored(url)
        ):
            waiting = [_Waiting("", self._elsewhere(url), url)]
        for each in waiting or ():
            self._settle(each, key)

    def _settle_unread(self, key: str, end: _End | None) -> None:
        """Check the places on a page that was asked for again, to be read."""
        for each in self._unread_by_key.pop(key, ()):
            if end is None:
                self._check_fragment(each, key)
            else:
                self._settle(each, key)

    def _elsewhere(self, url: str) -> Mention:
        """Return the reference for a URL that no document has."""
        name = "start URL" if url in self._seeds else "header or robots.txt"
        return Mention(url, Use.LINK, name, "")

    def finish(self) -> Summary:
        """Return the summary; what still waits was not checked."""
        summary = self.summary
        summary.unread += sum(map(len, self._unread_by_key.values()))
        unchecked = summary.unchecked
        for end in self._end_by_key.values():
            if end is not None and _is_unchecked(end.outcome):
                unchecked[meaning_of(end.outcome.reason)] += 1
        if self._waiting_by_key:
            unchecked[
                "not fetched, because the crawl follows no such link or has ended"
            ] = len(self._waiting_by_key)
        summary.urls = len(self._end_by_key) - sum(
            1
            for end in self._end_by_key.values()
            if end is not None and _is_unchecked(end.outcome)
        )
        return summary

    # -- references -----------------------------------------------------------------------

    def _take(self, page: str, mention: Mention, found: _Found) -> None:
        self.summary.references += 1
        target, key, problem = found
        if self._is_ignored(target or mention.value):
            self.summary.ignored += 1
            return
        waiting = _Waiting(page, mention, target)
        if is_missing(mention.value, mention.use, mention.element):
            words = "the reference is empty"
            self._find(Kind.MALFORMED, waiting, "malformed", words)
            return
        if problem:
            self._find(Kind.MALFORMED, waiting, "malformed", problem)
        if not target:
            return
        if mention.use is not Use.LINK and is_mixed_content(page, target):
            words = "an https page does not load this over http"
            self._find(Kind.MIXED, waiting, "mixed_content", words)
        self._settle(waiting, key)

    def _target_of(self, base: str, link: str) -> _Found:
        """Return where a reference without a fragment leads."""
        place = base.rpartition("/")[0] if is_of_directory(link) else base, link
        found = self._target_by_link.get(place)
        if found is None:
            # An empty reference is the document itself.
            url = join_or_nothing(base, link) if link else base
            key = dedup_key(url) if url else ""
            found = _Found(url, key, problem_in(base, link))
            if len(self._target_by_link) >= MAX_TARGETS:
                self._target_by_link.clear()
            self._target_by_link[place] = found
        return found

    def _settle(self, waiting: _Waiting, key: str) -> None:
        """Follow redirects to an end that is known, or wait for one that is not."""
        seen: set[str] = set()
        while key in self._end_by_key:
            end = self._end_by_key[key]
            if end is None:
                self._check_place(waiting, key)
                return
            if key in seen:
                self._find_broken(waiting, _End(_LOOP, end.role))
                return
            seen.add(key)
            if end.outcome.reason != Reason.REDIRECT:
                if not _is_unchecked(end.outcome):
                    self._find_broken(waiting, end)
                return
            waiting = waiting._replace(
                redirected_to=end.outcome.redirect_to,
                first_status=waiting.first_status or end.outcome.status,
            )
            key = dedup_key(end.outcome.redirect_to)
        self._waiting_by_key.setdefault(key, []).append(waiting)

    def _check_place(self, waiting: _Waiting, key: str) -> None:
        """Check the fragment of a reference to a page that is there."""
        if waiting.first_status in PERMANENT and waiting.mention.use is Use.LINK:
            words = f"moved permanently to {self._name_of(waiting.redirected_to)}"
            self._find(
                Kind.REDIRECT, waiting, Reason.REDIRECT, words, waiting.first_status
            )
        self._check_fragment(waiting, key)

    def _check_fragment(self, waiting: _Waiting, key: str) -> None:
        if waiting.mention.use is Use.REQUISITE or not _has_name(waiting):
            return
        fragment = _fragment_of(waiting)
        ids = self._ids_by_key.get(key)
        if ids is None and key in self._probe_by_key:
            self._note_unread(waiting, key)
        elif ids is not None and not _has_place(ids, fragment):
            if key in self._probe_by_key and _is_scripted(ids, fragment):
                return
            words = f'there is no "#{fragment}" on the page'
            self._find(Kind.FRAGMENT, waiting, "no_such_id", words)

    def _note_unread(self, waiting: _Waiting, key: str) -> None:
        """Wait until a page is read; if it will not be, count that."""
        if not self._reads_external:
            self.summary.unread += 1
        elif key not in self._read_keys:
            self._unread_by_key.setdefault(key, []).append(waiting)

    def _find_broken(self, waiting: _Waiting, end: _End) -> None:
        outcome = end.outcome
        kind = Kind.EXTERNAL if end.role is Role.PROBE else Kind.BROKEN
        words = meaning_of(outcome.reason)
        if outcome.error and not outcome.status:
            words += f" ({outcome.error})"
        self._find(kind, waiting, outcome.reason, words, outcome.status)

    def _find(
        self,
        kind: Kind,
        waiting: _Waiting,
        reason: str,
        meaning: str,
        status: int | None = None,
    ) -> None:
        page, mention, target, redirected_to, _ = waiting
        finding = Finding(
            kind,
            self._name_of(page) if page else "",
            mention.line,
            mention.column,
            words_of(mention),
            mention.value,
            self._name_of(target) if target else mention.value,
            status,
            reason,
            meaning,
            self._name_of(redirected_to) if redirected_to else "",
        )
        self._report(finding)


_LOOP = Outcome(State.FAILED, Reason.REDIRECT_LOOP)


def _is_unchecked(outcome: Outcome) -> bool:
    """Return whether nothing is known of a URL that has ended."""
    if outcome.state is State.EXCLUDED:
        return True
    return outcome.state is State.FAILED and not is_broken(outcome.reason)


def _fragment_of(waiting: _Waiting) -> str:
    return waiting.mention.value.partition("#")[2].strip()


def _has_name(waiting: _Waiting) -> bool:
    """Return whether the fragment of a reference names an id.

    Source: WHATWG HTML, 7.4.6.4; a text fragment follows ":~:".  What begins with "/" or "!"
    is the state of a script.
    """
    if "#" not in waiting.mention.value:
        return False
    name = _fragment_of(waiting).partition(":~:")[0]
    return bool(name) and name.lower() != "top" and name[0] not in "/!"


def _has_place(ids: Collection[int], fragment: str) -> bool:
    """Return whether the id that a fragment names is one of these."""
    name = fragment.partition(":~:")[0]
    return hash(name) in ids or hash(unquote(name)) in ids


def _is_scripted(ids: Collection[int], fragment: str) -> bool:
    """Return whether a script of a code host leads to a place, though no id has its name.

    Headings have the id "user-content-name", and lines of files none: "L10", "L10-L20".
    """
    return hash(f"user-content-{unquote(fragment)}") in ids or bool(
        _LINES.fullmatch(fragment)
    )
