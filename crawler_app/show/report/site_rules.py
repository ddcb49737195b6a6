"""What is wrong between pages: canonical URLs, versions in other languages, sitemaps.

Queries of the tables of a report, which add to its faults what no page shows alone.
"""

from collections.abc import Iterator

from crawler_app.base.reasons import Reason
from crawler_app.show.findings.kinds import ProblemKind
from crawler_app.show.findings.near_duplicates import groups_of
from crawler_app.show.report.temp_tables import TempTables

__all__ = ["LISTED", "add_site_faults"]

# The pages that a search engine would list.
LISTED = "is_page AND coalesce(is_noindex, 0) = 0 AND canonical = ''"

_CANONICAL = (
    "SELECT d.key FROM document AS d JOIN {table} AS t ON t.key = d.canonical_key"
    " WHERE d.is_page AND d.canonical <> '' AND {condition}"
)
_ALTERNATE = (
    "SELECT DISTINCT a.document FROM alternate AS a JOIN {table} AS t ON t.key = a.target"
    " WHERE a.target <> a.document AND {condition}"
)
_ENTRY = "SELECT entry.key FROM entry JOIN {table} AS t USING (key) WHERE {condition}"
_REDIRECTS = {"table": "known", "condition": f"t.reason = '{Reason.REDIRECT}'"}
_NOINDEX = {"table": "document", "condition": "t.is_noindex"}
_ELSEWHERE = {"table": "document", "condition": "t.canonical <> ''"}

QUERY_BY_FAULT = {
    (ProblemKind.CANONICAL_FAULT, "it redirects"): _CANONICAL.format(**_REDIRECTS),
    (ProblemKind.CANONICAL_FAULT, "it has noindex"): _CANONICAL.format(**_NOINDEX),
    (ProblemKind.CANONICAL_FAULT, "it names another one"): _CANONICAL.format(
        **_ELSEWHERE
    ),
    (ProblemKind.HREFLANG, "it leads to a redirect"): _ALTERNATE.format(**_REDIRECTS),
    (ProblemKind.HREFLANG, "the other page has noindex"): _ALTERNATE.format(**_NOINDEX),
    (ProblemKind.HREFLANG, "the other page names another canonical URL"): (
        _ALTERNATE.format(**_ELSEWHERE)
    ),
    (ProblemKind.HREFLANG, "the other page does not link back"): _ALTERNATE.format(
        table="document",
        # Of a page that was not read, no description is known.
        condition="t.is_page AND t.description IS NOT NULL AND NOT EXISTS (SELECT 1"
        " FROM alternate AS b WHERE b.document = a.target AND b.target = a.document)",
    ),
    (ProblemKind.HREFLANG, "the page does not name itself"): (
        "SELECT DISTINCT document FROM alternate AS a WHERE NOT EXISTS (SELECT 1"
        " FROM alternate AS b WHERE b.document = a.document AND b.target = a.document)"
    ),
    (ProblemKind.SITEMAP, "it is broken"): _ENTRY.format(
        table="known", condition="is_broken(t.reason)"
    ),
    (ProblemKind.SITEMAP, "it redirects"): _ENTRY.format(**_REDIRECTS),
    (ProblemKind.SITEMAP, "it has noindex"): _ENTRY.format(**_NOINDEX),
    (ProblemKind.SITEMAP, "it names another canonical URL"): _ENTRY.format(
        **_ELSEWHERE
    ),
    (ProblemKind.SITEMAP, "robots.txt forbids to fetch it"): _ENTRY.format(
        table="known", condition=f"t.reason = '{Reason.ROBOTS}'"
    ),
    (ProblemKind.SITEMAP, "it is outside the site"): _ENTRY.format(
        table="known",
        condition=f"t.reason IN ('{Reason.OUT_OF_SCOPE}', '{Reason.EXISTS}')",
    ),
}
_NOT_LISTED = (
    f"SELECT key FROM document WHERE {LISTED} AND EXISTS (SELECT 1 FROM entry)"
    " AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.key = document.key)"
)


def add_site_faults(tables: TempTables, *, knows_all_pages: bool) -> None:
    """Add what is wrong between pages.

    Args:
        knows_all_pages: Whether every page and sitemap was read.
    """
    queries = dict(QUERY_BY_FAULT)
    if knows_all_pages:
        queries[ProblemKind.NOT_IN_SITEMAP, ""] = _NOT_LISTED
    for fault, query in queries.items():
        tables.rows(
            f"INSERT INTO fault SELECT ?, * FROM ({query})",
            tables.number_of_fault(*fault),
        )
    for first, key in _nearly_same(tables):
        number = tables.number_of_fault(ProblemKind.NEARLY_SAME, first)
        tables.rows("INSERT INTO fault VALUES (?, ?)", number, key)


def _nearly_same(tables: TempTables) -> Iterator[tuple[str, int]]:
    """Yield each page with nearly the text of an earlier one: the URL of that, and its key.

    Pages that are identical, or that name another URL as canonical, are left out.
    """
    rows = tables.rows(
        "SELECT band, document, sketch FROM band JOIN sketch USING (document)"
        " WHERE band IN (SELECT band FROM band GROUP BY band HAVING count(*) > 1)"
        " ORDER BY band, document"
    )
    for group in groups_of(rows):
        page_by_digest: dict[str, tuple[str, int]] = {}
        for document in group:
            url, key, digest = tables.rows(
                "SELECT url, key, digest FROM document WHERE at = ?", document
            ).fetchone()
            page_by_digest.setdefault(digest, (url, key))
        (first, _), *others = page_by_digest.values()
        for _, key in others:
            yield first, key
