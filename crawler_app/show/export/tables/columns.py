"""The columns of each table, with their types in SQL.

Pure.  `docs/analysis.rst` explains them; a test compares it with this.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "CAPTURES",
    "COLUMNS_BY_TABLE",
    "FINDINGS",
    "LINKS",
    "PAGES",
    "TEXT",
    "URLS",
    "Row",
    "text_columns",
]

# The cells of a row, in the order of the columns.
Row = Sequence[Any]

# Names of tables; also those of `gencrawl export --table`.
URLS, PAGES, LINKS, CAPTURES, FINDINGS = (
    "urls",
    "pages",
    "links",
    "captures",
    "findings",
)

# The column of the words of a page, which only a database has.
TEXT = "text"

_STRING, _NUMBER, _COUNT = "VARCHAR", "DOUBLE", "INTEGER"
_TIME = "TIMESTAMP"

COLUMNS_BY_TABLE: Mapping[str, Mapping[str, str]] = {
    URLS: {
        "url": _STRING,
        "state": _STRING,
        "reason": _STRING,
        "status": _COUNT,
        "depth": _COUNT,
        "via": _STRING,
        "redirect_to": _STRING,
        "canonical": _STRING,
        "content_type": _STRING,
        "bytes": "BIGINT",
        "took_s": _NUMBER,
        "tries": _COUNT,
        "digest": _STRING,
        "title": _STRING,
        "error": _STRING,
        "note": _STRING,
        "role": _STRING,
        "finished_at": _TIME,
    },
    PAGES: {
        "url": _STRING,
        "status": _COUNT,
        "reason": _STRING,
        "content_type": _STRING,
        "title": _STRING,
        "title_chars": _COUNT,
        "description": _STRING,
        "h1": _STRING,
        "h1_count": _COUNT,
        "canonical": _STRING,
        "canonical_status": _COUNT,
        "robots": _STRING,
        "lang": _STRING,
        "words": _COUNT,
        "depth": _COUNT,
        "inlinks": _COUNT,
        "outlinks": _COUNT,
        "bytes": "BIGINT",
        "took_s": _NUMBER,
        "fetched_at": _TIME,
        "first_seen": _TIME,
        "change": _STRING,
        "digest": _STRING,
        "findings": "VARCHAR[]",
        TEXT: _STRING,
    },
    LINKS: {
        "source": _STRING,
        "line": _COUNT,
        "position": _COUNT,
        "target": _STRING,
        "fragment": _STRING,
        "text": _STRING,
        "kind": _STRING,
        "element": _STRING,
        "rel": _STRING,
        "status": _COUNT,
        "reason": _STRING,
    },
    FINDINGS: {
        "page": _STRING,
        "kind": _STRING,
        "subject": _STRING,
        "line": _COUNT,
        "detail": _STRING,
    },
    # Source: https://github.com/commoncrawl/cc-index-table, cc-index-schema-flat.json.
    CAPTURES: {
        "url_surtkey": _STRING,
        "url": _STRING,
        "url_host_name": _STRING,
        "url_host_tld": _STRING,
        "url_host_2nd_last_part": _STRING,
        "url_host_3rd_last_part": _STRING,
        "url_host_4th_last_part": _STRING,
        "url_host_5th_last_part": _STRING,
        "url_host_registry_suffix": _STRING,
        "url_host_registered_domain": _STRING,
        "url_host_private_suffix": _STRING,
        "url_host_private_domain": _STRING,
        "url_host_name_reversed": _STRING,
        "url_protocol": _STRING,
        "url_port": _COUNT,
        "url_path": _STRING,
        "url_query": _STRING,
        "fetch_time": _TIME,
        "fetch_status": "SMALLINT",
        "fetch_redirect": _STRING,
        "content_digest": _STRING,
        "content_mime_type": _STRING,
        "content_mime_detected": _STRING,
        "content_charset": _STRING,
        "content_languages": _STRING,
        "content_truncated": _STRING,
        "warc_filename": _STRING,
        "warc_record_offset": "BIGINT",
        "warc_record_length": "BIGINT",
        "warc_segment": _STRING,
        "crawl": _STRING,
        "subset": _STRING,
    },
}


def text_columns(table: str) -> list[str]:
    """Return the columns of a table as text, which leaves out the words of pages."""
    columns = list(COLUMNS_BY_TABLE[table])
    return columns[: columns.index(TEXT)] if table == PAGES else columns
