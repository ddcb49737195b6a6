"""The arguments of every command.

Rule: nothing is imported here but settings, so that help and completions cost little.
"""

import argparse
import datetime
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from crawler_app.base.config.units import BYTES
from crawler_app.base.config.validators import (
    DEFAULT_CRAWL,
    FRONTIER_EXAMPLE,
    require_frontier,
)
from crawler_app.base.storage.tables import MAX_CACHE_BYTES
from crawler_app.commands.config_options import (
    NOT_FOR_CHECK,
    OPTIONS,
    OPTIONS_OF_CHECK,
    add_config_file,
    add_options,
)
from crawler_app.commands.exit_status import BROKEN, FAILED
from crawler_app.commands.parser import CommandParser
from crawler_app.show.analysis import RESULT_FORMATS
from crawler_app.show.export.formats import DEFAULT_FORMAT, FORMATS
from crawler_app.show.export.tables.columns import COLUMNS_BY_TABLE, PAGES, URLS

__all__ = [
    "CSV",
    "HTML",
    "JSON",
    "MARKDOWN",
    "PAGE_NAME",
    "ROWS_NAME",
    "SHELLS",
    "STDOUT",
    "add_browse",
    "add_check",
    "add_completion",
    "add_copy",
    "add_crawl",
    "add_demo",
    "add_drop",
    "add_export",
    "add_forget",
    "add_init",
    "add_list",
    "add_report",
    "add_resume",
    "add_search",
    "add_sign_key",
    "add_sql",
    "add_status",
    "add_watch",
    "add_work",
]

DAY_S = 86400.0
MAX_PORT = 65535

# Formats of a report.
HTML, JSON, MARKDOWN, CSV = REPORT_FORMATS = ("html", "json", "md", "csv")

# Default files in the directory of the crawl: the page, and every link to fix beside it.
PAGE_NAME, ROWS_NAME = "report.html", "report.csv"

STDOUT = "-"

# As of the options of a crawl; SQLite refuses numbers of more than 64 bits.
MAX_COUNT = 999_999_999

SHELLS = ("bash", "zsh", "fish")

INSTALL = """\
to install, for yourself:
  bash  gencrawl completion bash > \\
            ~/.local/share/bash-completion/completions/gencrawl
  zsh   gencrawl completion zsh > DIR/_gencrawl, with DIR in $fpath
  fish  gencrawl completion fish > ~/.config/fish/completions/gencrawl.fish
"""

# What `check --help` leaves out of that of a crawl.
RARE_IN_CHECK = ("include", "max_depth", "max_time_s", "contact")

CHANGED_IN_CHECK: Mapping[str, Mapping[str, Any]] = {
    "seeds": {
        "help": "what to check; - reads a list from standard input",
        "named_metavar": "URL|FILE|FOLDER",
    },
    "into": {
        "help": "keep the crawl in this directory, for report, search and export; another "
        "check into it fetches only what has changed"
    },
    "external": {
        "help": "check out-of-scope links too, with one request each",
        "shown_default": "on",
    },
    "assets": {
        "help": "check what pages need, such as images, style sheets, scripts, fonts and "
        "frames: on the site, on any host with GET, or not",
        "shown_default": "own",
    },
    "archive": {"shown_default": "on with --into"},
    "index": {"shown_default": "on with --into"},
}

# What these options are for a worker, and those that are given otherwise.
CHANGED_IN_WORK: Mapping[str, Mapping[str, Any]] = {
    "into": {
        "help": "directory for what this worker fetches, or object storage, such as "
        "s3://BUCKET/PREFIX; the directory of an earlier run is continued"
    },
    "processes": {"help": "number of processes, each of which is a worker"},
    "crawl_name": {"is_common": True},
}
NOT_FOR_WORK = ("frontier",)


def add_crawl(parser: CommandParser) -> None:
    """Add the arguments of `crawl`."""
    add_options(parser, OPTIONS)
    add_config_file(parser)
    _add_showing(parser)


def add_resume(parser: CommandParser) -> None:
    """Add the arguments of `resume`."""
    parser.add_argument(
        "directory", metavar="DIR", help="directory of a crawl (crawl --into)"
    )
    _add_showing(parser)
    parser.add_argument(
        "--retry-failed",
        action="store_true",
        help="retry URLs that failed for a reason that may be temporary",
    )
    add_options(parser, filter(attrgetter("is_resumable"), OPTIONS), is_new=False)
    fixed = "was set when the crawl began, and cannot be changed"
    parser.cures |= {
        option.flag: fixed
        for option in OPTIONS
        if option.flag and not option.is_resumable
    }


def add_check(parser: CommandParser) -> None:
    """Add the arguments of `check`."""
    parser.description = (
        "Check a site: links, images, style sheets, scripts, fragments and URLs on other "
        "sites.  URL may be a sitemap, a file or a folder of this machine, or - for a list "
        f"on standard input.  Exits with status {BROKEN} if something is broken."
    )
    add_options(
        parser,
        [
            replace(
                option,
                is_common=option.is_common and option.name not in RARE_IN_CHECK,
                **CHANGED_IN_CHECK.get(option.name, {}),
            )
            for option in OPTIONS_OF_CHECK
        ],
    )
    parser.hide(
        parser.add_argument(
            "--update-baseline",
            action="store_true",
            help="rewrite the --baseline file with the current findings",
        )
    )
    add_config_file(parser)
    _add_verbosity(parser)
    alone = "is not an option of `check`, which runs in one process; leave it out"
    parser.cures |= {
        option.flag: alone for option in OPTIONS if option.name in NOT_FOR_CHECK
    }


def add_report(parser: CommandParser) -> None:
    """Add the arguments of `report`."""
    _add_stored(parser)
    _add_quiet(parser)
    parser.add_argument(
        "--format",
        choices=REPORT_FORMATS,
        help=f"format of the report (default: by the name of FILE; {HTML} without one)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"output file, or {STDOUT} for standard output (default: DIR/{PAGE_NAME} for "
        f"{HTML}, with DIR/{ROWS_NAME}; standard output for the other formats)",
    )
    parser.add_argument(
        "--fail-on",
        choices=["broken"],
        help=f"exit with status {BROKEN} if links are broken, {FAILED} if nothing was "
        "fetched",
    )


def add_status(parser: CommandParser) -> None:
    """Add the arguments of `status`."""
    _add_stored(parser)
    parser.add_argument(
        "--json", action="store_true", help="write JSON, with complete lists"
    )


def add_search(parser: CommandParser) -> None:
    """Add the arguments of `search`."""
    _add_stored(parser)
    parser.add_argument(
        "words",
        metavar="WORDS",
        nargs="*",
        help='query, in quotes: \'all words "a phrase" prefix* -without '
        "this OR that title:word'",
    )
    parser.add_argument(
        "--limit",
        type=_count,
        default=10,
        metavar="N",
        help="maximum number of hits (default: 10)",
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def add_browse(parser: CommandParser) -> None:
    """Add the arguments of `browse`."""
    _add_stored(parser)
    _add_quiet(parser)
    parser.add_argument(
        "--port",
        type=_port,
        default=0,
        metavar="N",
        help="port on this machine to serve at (default: any free port)",
    )
    parser.add_argument(
        "--player",
        metavar="FILE",
        help="package of ReplayWeb.page, from `npm pack replaywebpage@2.4.6` (default: "
        "downloaded by the first `browse`, 2.3 MB, and kept in the cache)",
    )


def add_export(parser: CommandParser) -> None:
    """Add the arguments of `export`."""
    _add_stored(parser)
    _add_quiet(parser)
    formats = "; ".join(f"{name}: {each.help}" for name, each in FORMATS.items())
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{formats} (default: by the name of FILE; {DEFAULT_FORMAT} to standard output)",
    )
    parser.add_argument(
        "--table",
        choices=COLUMNS_BY_TABLE,
        help="the table of jsonl, csv, parquet and html: all URLs, the pages, the links between "
        "them, the captures in the archive, or the findings of the report (default: the one "
        f"that FILE is named after; with --format or to standard output {URLS}, of html {PAGES})",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="output file or, for a format that has many files, a directory "
        f"(default: {STDOUT}, which is standard output)",
    )
    parser.add_argument(
        "--with-secrets",
        action="store_true",
        default=None,
        help="of the archive: keep the Cookie, Set-Cookie, Authorization and "
        "Proxy-Authorization headers, which are left out otherwise",
    )
    parser.add_argument(
        "--at",
        type=_time,
        metavar="TIME",
        help="of a folder: the site as it was then, such as 2026-11-27 (the end of that day) "
        "or 2026-11-27T18:30 (UTC; default: its last state)",
    )
    parser.add_argument(
        "--whole-page",
        action="store_true",
        default=None,
        help="export menus, footers and the like too, not only the main content",
    )


def add_sql(parser: CommandParser) -> None:
    """Add the arguments of `sql`."""
    parser.description = (
        "Answer a question in SQL (DuckDB) about the tables urls, pages, links, captures "
        "and findings; needs the extra `analysis`."
    )
    parser.add_argument(
        "sources",
        metavar="DIR",
        nargs="*",
        help="directories of crawls (crawl --into), URLs of frontiers in PostgreSQL, or WARC "
        "and WACZ files; and then the query, in quotes, unless --file has it",
    )
    parser.add_argument("--file", metavar="FILE", help="read the query from a file")
    parser.add_argument(
        "--format",
        choices=RESULT_FORMATS,
        help="format of the result (default: by the name of FILE; without one a table on a "
        "terminal, and csv elsewhere)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"output file (default: {STDOUT}, which is standard output)",
    )
    _add_quiet(parser)
    _add_crawl_name(parser)
    _add_cache(parser)


def add_sign_key(parser: CommandParser) -> None:
    """Add the arguments of `sign-key`."""
    parser.description = (
        "Make a key for --sign unless there is one, and write the public directory of the "
        "keys: what https://YOUR-ORIGIN/.well-known/http-message-signatures-directory must "
        "serve, as application/http-message-signatures-directory+json."
    )
    parser.add_argument(
        "keys",
        metavar="FILE",
        nargs="*",
        help="private keys, in PEM or JWK format; several while one replaces another",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"output file (default: {STDOUT}, which is standard output)",
    )


def add_demo(parser: CommandParser) -> None:
    """Add the arguments of `demo`."""
    parser.add_argument(
        "--into", metavar="DIR", help="keep the crawl in this directory"
    )
    _add_showing(parser)


def add_completion(parser: CommandParser) -> None:
    """Add the arguments of `completion`."""
    parser.epilog = INSTALL
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=" or ".join(SHELLS)
    )


def add_init(parser: CommandParser) -> None:
    """Add the arguments of `postgres init`."""
    parser.description = (
        "Create the tables of a crawl, as `crawl --frontier` does too if its user may."
    )
    _add_server(parser)
    _add_crawl_name(parser)
    _add_partitions(parser)


def add_copy(parser: CommandParser) -> None:
    """Add the arguments of `postgres copy`."""
    parser.description = (
        "Move the frontier of the crawl in a directory into PostgreSQL, so that "
        "`postgres work` and `resume` continue it."
    )
    parser.add_argument("directory", metavar="DIR", help="directory of the crawl")
    _add_server(parser)
    _add_crawl_name(parser)
    _add_quiet(parser)
    _add_partitions(parser)


def add_forget(parser: CommandParser) -> None:
    """Add the arguments of `postgres forget`."""
    _add_server(parser)
    _add_crawl_name(parser)
    _add_quiet(parser)
    parser.add_argument(
        "--store",
        metavar="STORE",
        required=True,
        help="UUID or location of the directory, or object storage, of a worker whose "
        "machine is lost",
    )
    _add_cache(parser)


def add_list(parser: CommandParser) -> None:
    """Add the arguments of `postgres list`."""
    _add_server(parser)


def add_drop(parser: CommandParser) -> None:
    """Add the arguments of `postgres drop`."""
    parser.description = (
        "Delete the tables of a crawl; what its workers have archived stays."
    )
    _add_server(parser)
    _add_crawl_name(parser)


def add_watch(parser: CommandParser) -> None:
    """Add the arguments of `watch`."""
    parser.add_argument(
        "file",
        metavar="CONFIG",
        type=Path,
        help="TOML file with the sites, the schedule and who is told",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--once",
        action="store_true",
        help="check every site once, tell what is new, and end, for cron or a timer",
    )
    what.add_argument(
        "--status",
        action="store_true",
        help="show what is broken, and which notices are not sent yet",
    )
    what.add_argument(
        "--test-notices", action="store_true", help="send a test to every channel"
    )
    what.add_argument(
        "--dry-run",
        action="store_true",
        help="check every site once, and print what would be told; nothing is remembered",
    )
    _add_verbosity(parser)


def add_work(parser: CommandParser) -> None:
    """Add the arguments of `postgres work`."""
    _add_server(parser)
    add_options(
        parser,
        [
            replace(option, **CHANGED_IN_WORK.get(option.name, {}))
            for option in OPTIONS
            if option.is_local and option.name not in NOT_FOR_WORK
        ],
    )
    _add_showing(parser)


def _add_verbosity(parser: CommandParser) -> None:
    """Add ``--quiet`` and ``--verbose``."""
    verbosity = parser.add_mutually_exclusive_group()
    _add_quiet(verbosity)
    verbosity.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show each request and its outcome, and what is skipped",
    )


def _add_showing(parser: CommandParser) -> None:
    """Add ``--quiet``, ``--verbose``, ``--dashboard`` and ``--stay``."""
    _add_verbosity(parser)
    parser.add_argument(
        "--dashboard",
        metavar="ADDR:PORT",
        nargs="?",
        const="",
        help="watch and control the crawl in a browser (default address: 127.0.0.1 and a "
        "free port)",
    )
    parser.hide(
        parser.add_argument(
            "--stay",
            action=argparse.BooleanOptionalAction,
            help="keep the dashboard open after the crawl, with the summary and the "
            "report, until it is closed (default: if run from a terminal)",
        )
    )


def _add_quiet(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="do not show progress"
    )


def _add_stored(parser: CommandParser) -> None:
    """Add the crawl that is read: DIR, or the URL of a server with ``--crawl``."""
    parser.add_argument(
        "stored",
        metavar="DIR",
        help="directory of a crawl (crawl --into), or the URL of its frontier in "
        "PostgreSQL",
    )
    _add_crawl_name(parser)
    _add_cache(parser)


def _add_server(parser: CommandParser) -> None:
    parser.add_argument(
        "url",
        metavar="URL",
        type=_server_url,
        help=f"{FRONTIER_EXAMPLE}; the password is read from PGPASSWORD or ~/.pgpass",
    )


def _add_crawl_name(parser: CommandParser) -> None:
    parser.add_argument(
        "--crawl",
        metavar="NAME",
        default=DEFAULT_CRAWL,
        dest="crawl_name",
        help=f'name of the crawl in PostgreSQL (default: "{DEFAULT_CRAWL}")',
    )


def _add_partitions(parser: CommandParser) -> None:
    parser.add_argument(
        "--partitions",
        type=_count,
        default=8,
        metavar="N",
        help="partitions of the large tables, up to 1024 (default: 8)",
    )


def _add_cache(parser: CommandParser) -> None:
    """Add ``--cache`` and ``--max-cache-bytes``."""
    parser.hide(
        parser.add_argument(
            "--cache",
            metavar="DIR",
            type=Path,
            help="directory for tables from object storage (default: ~/.cache/gencrawl)",
        )
    )
    parser.hide(
        parser.add_argument(
            "--max-cache-bytes",
            metavar=BYTES.metavar,
            type=_size,
            default=MAX_CACHE_BYTES,
            help="maximum cache size; least recently used tables are deleted "
            f"(default: {BYTES.render(MAX_CACHE_BYTES)})",
        )
    )


def _server_url(text: str) -> str:
    require_frontier("URL", text)
    return text


def _time(text: str) -> float:
    """Parse a date, or a date with a time; return seconds since the epoch.

    Raises:
        argparse.ArgumentTypeError: it is neither.

    >>> _time("1970-01-01"), _time("1970-01-01T01:00"), _time("1970-01-01T01:00+01:00")
    (86399.0, 3600.0, 0.0)
    """
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time; write it like 2026-11-27 or 2026-11-27T18:30"
        ) from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.UTC)
    is_day = len(text) <= len("2026-11-27")
    return time.timestamp() + (DAY_S - 1 if is_day else 0)


def _port(text: str) -> int:
    """Parse the number of a port.

    Raises:
        argparse.ArgumentTypeError: it is none.

    >>> _port("8080")
    8080
    """
    if not text.isdecimal() or len(text) > 5 or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to {MAX_PORT}")
    return int(text)


def _count(text: str) -> int:
    """Parse a positive number.

    Raises:
        argparse.ArgumentTypeError: it is not a number, or not in the range.

    >>> _count("10")
    10
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= MAX_COUNT:
        raise argparse.ArgumentTypeError(
            f"is {text!r}; it must be a whole number, at least 1 and at most {MAX_COUNT}"
        )
    return number


def _size(text: str) -> int:
    try:
        return int(BYTES.parse(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"is {text!r}; it must be {BYTES.noun}"
        ) from None
