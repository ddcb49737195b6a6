"""The places on pages that fragments name: are they there?"""

from collections.abc import Callable, Collection, Iterable

from crawler_app.show.check.waiting import References
from crawler_app.show.findings.finding import CheckSummary
from crawler_app.web.documents.fragments import (
    Ids,
    has_name,
    has_place,
    is_scripted,
    names_place,
)
from crawler_app.web.documents.references import Mention

__all__ = ["Places"]

# Of all pages together: 64 MB.
MAX_IDS = 8_000_000


class Places:
    """The ids of pages, and references to places on pages that are still to be read.

    Args:
        report: Called with references, one of their mentions, and the fragment that its page
            does not have.
        summary: Counts what cannot be checked.
        reads_external: Whether external pages are read.
    """

    def __init__(
        self,
        report: Callable[[References, Mention, str], object],
        summary: CheckSummary,
        *,
        reads_external: bool,
    ) -> None:
        self._report = report
        self._summary = summary
        self._reads_external = reads_external
        self._ids_by_key: dict[int, Ids] = {}
        self._ids_left = MAX_IDS
        # Pages whose ids are not known, because they or all pages together have too many.
        self._cut_keys: set[int] = set()
        # Pages outside the scope: those that are there, those that were read, and the
        # references to a place on one that was not.
        self._external_by_key: dict[int, str] = {}
        self._read_keys: set[int] = set()
        self._unread_by_key: dict[int, list[References]] = {}

    def add(self, key: int, ids: Collection[str] | None) -> None:
        """Record the ids of a page; None if it has too many."""
        if ids is None or len(ids) > self._ids_left:
            self._cut_keys.add(key)
            return
        self._ids_left -= len(ids)
        self._ids_by_key[key] = Ids(ids)

    def add_external(self, key: int, url: str) -> None:
        """Record an external page that is there."""
        self._external_by_key[key] = url

    def add_read(self, key: int, ids: Collection[str] | None) -> None:
        """Record the ids of an external page; None if it could not be read."""
        self._read_keys.add(key)
        if ids is not None:
            self.add(key, ids)

    def are_wanted(self, key: int, waiting: Iterable[References]) -> bool:
        """Return whether a reference to an external page has a fragment to be checked."""
        if not self._reads_external or key in self._read_keys:
            return False
        return key in self._unread_by_key or any(
            has_name(group.fragment_of(mention))
            for group in waiting
            for mention in group.mentions
        )

    def unread(self) -> set[str]:
        """Return the external pages that exist and are still to be read."""
        return {self._external_by_key[key] for key in self._unread_by_key}

    def pop_unread(self, key: int) -> list[References]:
        """Return the references to a place on a page that has been read."""
        return self._unread_by_key.pop(key, [])

    def count_unread(self) -> None:
        """Count the references to places on pages that were not read."""
        groups = (group for each in self._unread_by_key.values() for group in each)
        self._summary.unread += sum(len(group.mentions) for group in groups)

    def check(self, group: References, key: int) -> None:
        """Check the fragments of references to a page that works."""
        ids = self._ids_by_key.get(key)
        is_external = key in self._external_by_key
        if ids is None:
            self._note_unread(group, key, is_external=is_external)
            return
        for mention in group.mentions:
            fragment = group.fragment_of(mention)
            if hash(fragment) in ids or not names_place(mention, fragment):
                continue
            if has_place(ids, fragment) or is_external and is_scripted(ids, fragment):
                continue
            self._report(group, mention, fragment)

    def _note_unread(self, group: References, key: int, *, is_external: bool) -> None:
        """Wait until an external page is read, or count its fragments as unchecked."""
        if not is_external and key not in self._cut_keys:
            return
        named = [m for m in group.mentions if names_place(m, group.fragment_of(m))]
        if not named:
            return
        if key in self._cut_keys:
            words = "places on pages that are too large"
            self._summary.unchecked[words] += len(named)
        elif not self._reads_external:
            self._summary.unread += len(named)
        elif key not in self._read_keys:
            kept = group._replace(mentions=named)
            self._unread_by_key.setdefault(key, []).append(kept)
