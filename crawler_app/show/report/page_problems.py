"""Finds page-quality problems in the tables of a report.

A page counts as listed by search engines unless it has ``noindex``, names another URL as its
canonical one, or has a refresh to another URL.  Only such pages need titles and descriptions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from crawler_app.base.urls import dedup_key
from crawler_app.run.results.ranking import Ranked
from crawler_app.show.findings.kinds import (
    MAX_CLICKS,
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    ProblemKind,
)
from crawler_app.show.report.report_data import Duplicates, Heavy, Linked, Problem
from crawler_app.show.report.site_rules import LISTED, add_site_faults
from crawler_app.show.report.temp_tables import TempTables, number_of

__all__ = [
    "duplicates_in",
    "heavy_among",
    "most_linked",
    "pages_by_problem",
    "problems_in",
    "weight_of",
]

# Kept for each kind: subjects, pages of a kind without subjects, and pages of one subject.
MAX_SUBJECTS = 100
MAX_PAGES = 100
MAX_EXAMPLES = 10
MAX_TEMPLATES = 3

# The length of rankings in the JSON; the page shows fewer.
RANKED = 100

# Conditions of pages; values that were not read are NULL, and meet none of them.
CONDITION_BY_KIND = {
    ProblemKind.NOINDEX: "is_page AND is_noindex AND EXISTS ("
    "SELECT 1 FROM inlink WHERE inlink.key = document.key)",
    ProblemKind.NO_TITLE: f"{LISTED} AND title = ''",
    ProblemKind.NO_HEADING: f"{LISTED} AND main_headings = 0",
    ProblemKind.SEVERAL_HEADINGS: f"{LISTED} AND main_headings > 1",
    ProblemKind.NO_DESCRIPTION: f"{LISTED} AND description = ''",
    ProblemKind.CANONICAL: "is_page AND canonical <> ''",
    ProblemKind.DEEP: f"is_page AND depth > {MAX_CLICKS}",
    ProblemKind.LONG_TITLE: f"{LISTED} AND length(title) > {MAX_TITLE_CHARS}",
    ProblemKind.LONG_DESCRIPTION: f"{LISTED}"
    f" AND length(description) > {MAX_DESCRIPTION_CHARS}",
}
# A page that was first found in a sitemap, and that no page refers to.
ORPHAN = (
    "is_page AND via IN (SELECT url FROM sitemap)"
    " AND NOT EXISTS (SELECT 1 FROM inlink WHERE inlink.key = document.key)"
)
# How many visitors some documents have.
REACH = "coalesce(sum(weight), 0) FROM document LEFT JOIN weight USING (key)"

# What has a fault: a document, or what a sitemap lists.
FAULTY = (
    "FROM (SELECT DISTINCT coalesce(document.url, entry.url) AS url FROM fault"
    " LEFT JOIN document ON document.key = document LEFT JOIN entry ON entry.key = document"
    " WHERE fault = ?)"
)
COLUMN_BY_KIND = {
    ProblemKind.SAME_TITLE: "title",
    ProblemKind.SAME_DESCRIPTION: "description",
}
PICTURE_KINDS = (ProblemKind.NO_ALT, ProblemKind.NO_SIZE)


def problems_in(
    tables: TempTables, *, knows_all_links: bool
) -> tuple[list[Problem], dict[ProblemKind, int]]:
    """Return the problems, the most frequent of each kind first, and how many there are.

    The second value counts subjects, or pages of kinds without subjects.

    Args:
        knows_all_links: Whether every page was read, so that one without links is an
            orphan.
    """
    conditions = _conditions(knows_all_links)
    found: list[Problem] = []
    count_by_kind: dict[ProblemKind, int] = {}
    for kind, condition in conditions.items():
        count, reach = tables.rows(
            f"SELECT count(*), {REACH} WHERE {condition}"
        ).fetchone()
        if count:
            count_by_kind[kind] = count
            pages = _pages(tables, condition)
            made_by = _templates(tables, f"document WHERE {condition}")
            found.append(Problem(kind, "", count, pages, reach, made_by))
    add_site_faults(tables, knows_all_pages=knows_all_links)
    found += _faults(tables, count_by_kind)
    for kind, column in COLUMN_BY_KIND.items():
        count_by_kind[kind] = _count_repeated(tables, column)
        found += _repeated(tables, kind, column)
    for kind in PICTURE_KINDS:
        (count_by_kind[kind],) = tables.rows(
            "SELECT count(*) FROM picture WHERE fault = ?", kind
        ).fetchone()
        found += _pictures(tables, kind)
    order = {kind: at for at, kind in enumerate(ProblemKind)}
    found.sort(key=lambda problem: order[problem.kind])
    return found, {kind: count for kind, count in count_by_kind.items() if count}


def pages_by_problem(
    tables: TempTables, *, knows_all_links: bool
) -> Iterator[tuple[ProblemKind, str, str]]:
    """Yield every page that has a problem: the kind, the page, and what it shares with others.

    After `problems_in`, and without the problems of images.

    Args:
        knows_all_links: As of `problems_in`.
    """
    for kind, condition in _conditions(knows_all_links).items():
        rows = tables.rows(f"SELECT url FROM document WHERE {condition} ORDER BY at")
        for (url,) in rows:
            yield kind, url, ""
    for (name, subject), number in tables.faults().items():
        for (url,) in tables.rows(f"SELECT url {FAULTY}", number):
            yield ProblemKind(name), url, subject
    for kind, column in COLUMN_BY_KIND.items():
        rows = tables.rows(
            f"SELECT url, {column} FROM document WHERE {LISTED} AND {column} IN"
            f" (SELECT {column} FROM ({_groups(column)})) ORDER BY at"
        )
        for url, value in rows:
            yield kind, url, value


def _conditions(knows_all_links: bool) -> dict[ProblemKind, str]:
    """Return the conditions of pages that have a problem, by its kind."""
    orphan = {ProblemKind.ORPHAN: ORPHAN} if knows_all_links else {}
    return {**CONDITION_BY_KIND, **orphan}


def _pages(tables: TempTables, condition: str) -> list[str]:
    rows = tables.rows(
        f"SELECT url FROM document WHERE {condition} ORDER BY at LIMIT {MAX_PAGES}"
    )
    return [url for (url,) in rows]


def _templates(tables: TempTables, source: str, *values: int) -> list[tuple[str, int]]:
    """Return the templates of the most documents, if they have made several."""
    rows = tables.rows(
        f"SELECT template_of(url) AS template, count(*) AS n FROM {source}"
        f" GROUP BY template HAVING n > 1 ORDER BY n DESC, template LIMIT {MAX_TEMPLATES}",
        *values,
    )
    return [(template, count) for template, count in rows]


def _faults(
    tables: TempTables, count_by_kind: dict[ProblemKind, int]
) -> Iterator[Problem]:
    """Yield what is wrong with single pages and URLs, and count it.

    The most frequent of each kind comes first.
    """
    counts = tables.rows(
        "SELECT fault, count(*) AS n, coalesce(sum(weight), 0)"
        " FROM (SELECT DISTINCT fault, document FROM fault)"
        " LEFT JOIN weight ON key = document GROUP BY fault ORDER BY n DESC, fault"
    ).fetchall()
    fault_by_number = {number: fault for fault, number in tables.faults().items()}
    kept: Counter[ProblemKind] = Counter()
    for number, count, reach in counts:
        name, subject = fault_by_number[number]
        kind = ProblemKind(name)
        count_by_kind[kind] = count_by_kind.get(kind, 0) + (1 if subject else count)
        kept[kind] += 1
        if kept[kind] > MAX_SUBJECTS:
            continue
        most = MAX_EXAMPLES if subject else MAX_PAGES
        rows = tables.rows(f"SELECT url {FAULTY} ORDER BY url LIMIT {most}", number)
        examples = [url for (url,) in rows]
        templates = _templates(tables, f"(SELECT url {FAULTY})", number)
        yield Problem(kind, subject, count, examples, reach, templates)


def _groups(column: str) -> str:
    return (
        f"SELECT {column}, count(*) AS n, {REACH}"
        f" WHERE {LISTED} AND {column} <> '' GROUP BY {column} HAVING n > 1"
    )


def _count_repeated(tables: TempTables, column: str) -> int:
    (count,) = tables.rows(f"SELECT count(*) FROM ({_groups(column)})").fetchone()
    return int(count)


def _repeated(tables: TempTables, kind: ProblemKind, column: str) -> list[Problem]:
    """Return the values that several pages share."""
    groups = tables.rows(
        f"{_groups(column)} ORDER BY n DESC, min(at) LIMIT {MAX_SUBJECTS}"
    ).fetchall()
    problem_by_value = {
        value: Problem(kind, value, count, [], reach) for value, count, reach in groups
    }
    marks = ", ".join("?" * len(problem_by_value))
    rows = tables.rows(
        f"SELECT {column}, url FROM document"
        f" WHERE {LISTED} AND {column} IN ({marks}) ORDER BY at",
        *problem_by_value,
    )
    for value, url in rows:
        examples = problem_by_value[value].examples
        if len(examples) < MAX_EXAMPLES:
            examples.append(url)
    return list(problem_by_value.values())


def _pictures(tables: TempTables, kind: ProblemKind) -> Iterator[Problem]:
    rows = tables.rows(
        "SELECT picture.url, documents, document.url FROM picture"
        " JOIN document ON key = document WHERE fault = ?"
        f" ORDER BY documents DESC, picture.url LIMIT {MAX_SUBJECTS}",
        kind,
    )
    for url, count, page in rows:
        yield Problem(kind, url, count, [page])


def duplicates_in(tables: TempTables) -> list[Duplicates]:
    """Return the groups of identical pages, the most wasteful first."""
    group_by_digest: dict[str, Duplicates] = {}
    rows = tables.rows(
        "SELECT digest, size_bytes, title, url, canonical FROM document"
        " WHERE is_page AND digest <> '' AND digest IN (SELECT digest FROM document"
        " WHERE is_page GROUP BY digest HAVING count(*) > 1) ORDER BY at"
    )
    for digest, size_bytes, title, url, other in rows:
        canonical = other or url
        group = group_by_digest.get(digest)
        if group is None:
            group = group_by_digest[digest] = Duplicates(
                digest, size_bytes, title, canonical=canonical
            )
        elif group.canonical != canonical:
            group.canonical = ""
        group.urls.append(url)
    return sorted(group_by_digest.values(), key=lambda group: -group.wasted_bytes)


def most_linked(tables: TempTables) -> list[Linked]:
    """Return the most linked pages."""
    rows = tables.rows(
        "SELECT url, documents FROM inlink JOIN document USING (key) WHERE is_page"
        f" ORDER BY documents DESC, at LIMIT {RANKED}"
    )
    return [Linked(url, count) for url, count in rows]


def heavy_among(tables: TempTables, assets: Iterable[Ranked]) -> list[Heavy]:
    """Return large or slow assets, with the number of pages and style sheets that use them."""
    heavy = []
    for each in assets:
        row = tables.rows(
            "SELECT documents FROM inlink WHERE key = ?",
            number_of(dedup_key(each.url)),
        ).fetchone()
        pages = row[0] if row else 0
        heavy.append(Heavy(each.url, each.took_s, each.size_bytes, pages))
    return sorted(heavy, key=_weight, reverse=True)


def _weight(heavy: Heavy) -> tuple[int, float]:
    return heavy.size_bytes * heavy.pages, heavy.took_s


def weight_of(tables: TempTables) -> int:
    """Return the sum of the weights of all pages, with which a `reach` is compared."""
    row = tables.rows(
        "SELECT coalesce(sum(weight), 0) FROM document JOIN weight USING (key)"
        " WHERE is_page"
    ).fetchone()
    return int(row[0])
