"""The table of the export formats.

Rule: the functions are named here, not imported, so that help and completions cost little.

To add a format, write a function ``write(crawl, output, on_step, **options)`` in this package
and add a row to `FORMATS`.  The output is a text stream, a binary stream, or the `Path` of a
directory or of a file, as the row says.  The options are those of the row that the user has given; they are
arguments that `crawler_app.commands.arguments.add_export` adds, with None as their default.
"""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = [
    "BINARY",
    "DEFAULT_FORMAT",
    "DIRECTORY",
    "FILES",
    "FORMATS",
    "TEXT",
    "Format",
]

# What a format writes.
TEXT, BINARY, DIRECTORY, FILES = "text", "binary", "directory", "files"


class Format(NamedTuple):
    """A format of `gencrawl export`.

    Attributes:
        write: The module and the function that write it, below `crawler_app.show.export`.
        help: A few words for ``--help``.
        output: TEXT, BINARY, DIRECTORY, or FILES for a file beside which others may lie.
        needs_archive: Whether a crawl without an archive is refused.
        options: The names of the arguments that it takes.
        endings: What the name of its output file ends in, in lower case.
    """

    write: str
    help: str
    output: str = TEXT
    needs_archive: bool = False
    options: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


_TABLE, _TEXT = ("table",), ("whole_page",)

FORMATS: Mapping[str, Format] = {
    "jsonl": Format(
        "tables.exporting:write_jsonl",
        "a row a line, as JSON",
        options=_TABLE,
        endings=(".jsonl",),
    ),
    "csv": Format(
        "tables.exporting:write_csv", "a table", options=_TABLE, endings=(".csv",)
    ),
    "parquet": Format(
        "tables.exporting:write_parquet",
        "a table for databases",
        BINARY,
        options=_TABLE,
        endings=(".parquet",),
    ),
    "html": Format(
        "tables.exporting:write_html",
        "a table with filters, for a browser",
        options=_TABLE,
        endings=(".html", ".htm"),
    ),
    "cdxj": Format(
        "archive_files:write_index",
        "the index of the archive",
        needs_archive=True,
        endings=(".cdxj",),
    ),
    "wacz": Format(
        "archive_files:write_archive",
        "the archive",
        BINARY,
        True,
        ("with_secrets",),
        (".wacz",),
    ),
    "folder": Format(
        "folder.writing:write_folder",
        "the pages as files that open from the disk",
        DIRECTORY,
        True,
        ("at",),
    ),
    "markdown": Format(
        "markdown.formats:write_files",
        "a Markdown file for each page",
        DIRECTORY,
        True,
        _TEXT,
    ),
    "llms": Format(
        "markdown.formats:write_index",
        "llms.txt, a list of the pages",
        TEXT,
        True,
        _TEXT,
        ("llms.txt",),
    ),
    "llms-full": Format(
        "markdown.formats:write_full",
        "llms-full.txt, the Markdown of all pages",
        TEXT,
        True,
        _TEXT,
        ("llms-full.txt", ".md"),
    ),
    "texts": Format(
        "markdown.formats:write_texts",
        "one page a line, as JSON with its text",
        TEXT,
        True,
        _TEXT,
        ("text.jsonl", "texts.jsonl"),
    ),
    "sitemap": Format(
        "sitemap:write_sitemap",
        "a sitemap of the pages to be listed",
        FILES,
        True,
        endings=(".xml", ".xml.gz"),
    ),
}

DEFAULT_FORMAT = "jsonl"
