"""The command line: ``python -m crawler_app``, installed as ``gencrawl``.

Exit status: 0 when the crawl came to its end, 1 when the start URL could not be fetched,
nothing was found or the disk failed, 2 for a usage error, 130 when stopped by Ctrl-C or
SIGTERM.
"""

import argparse
import io
import os
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from crawler_app import __version__, commands
from crawler_app.commands import FAILED, INTERRUPTED, OK, USAGE
from crawler_app.config import CLIENTS, CrawlConfig
from crawler_app.errors import ConfigError, SearchError, StorageError
from crawler_app.models import REACHES
from crawler_app.report import EXPORT_FORMATS

__all__ = ["main"]

EXAMPLES = """
examples:
  gencrawl demo
  gencrawl crawl https://docs.example.org/ --into docs-crawl --max-pages 500
  gencrawl resume docs-crawl
  gencrawl status docs-crawl
  gencrawl search docs-crawl 'event loop -windows'
  gencrawl export docs-crawl --format csv > urls.csv
  gencrawl export docs-crawl --format wacz > docs.wacz
"""

DEFAULT = CrawlConfig(seeds=("http://localhost/",))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    if sys.stdout is None:  # closed by our parent; ours until we end
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if arguments.command is commands.search:
        arguments.words += rest  # such as -without
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    for stream in (sys.stdout, sys.stderr):
        # A title in a script that the terminal does not have must not end a crawl.
        if stream is not None:  # closed by our parent
            cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    try:
        status: int = arguments.command(arguments)
        sys.stdout.flush()
        return status
    except (ConfigError, SearchError) as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return USAGE
    except (StorageError, sqlite3.Error) as exc:
        print(f"gencrawl: the disk fails: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has seen enough; nothing is left to tell it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gencrawl",
        description="Crawl a web site; stop and resume at any time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)

    crawl = subparsers.add_parser("crawl", help="crawl a site into a directory")
    _add_crawl_options(crawl)
    crawl.set_defaults(command=commands.crawl)

    resume = subparsers.add_parser("resume", help="go on with a crawl that was stopped")
    _add_directory(resume)
    _add_common_options(resume, is_new=False)
    resume.add_argument(
        "--retry-failed",
        action="store_true",
        help="fetch again what failed for a reason that may have passed",
    )
    resume.set_defaults(command=commands.resume)

    status = subparsers.add_parser("status", help="tell how a crawl stands")
    _add_directory(status)
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(command=commands.status)

    search = subparsers.add_parser("search", help="find pages by their words")
    _add_directory(search)
    search.add_argument(
        "words",
        metavar="WORDS",
        nargs="*",
        help='what to find; quote it: \'all words "a phrase" prefix* -without '
        "this OR that title:word'",
    )
    search.add_argument(
        "--limit", type=count, default=10, metavar="N", help="hits shown (default 10)"
    )
    search.add_argument("--json", action="store_true", help="for programs")
    search.set_defaults(command=commands.search)

    export = subparsers.add_parser("export", help="write a crawl to standard output")
    _add_directory(export)
    export.add_argument(
        "--format",
        choices=EXPORT_FORMATS,
        default=EXPORT_FORMATS[0],
        help=f"one URL a line (default {EXPORT_FORMATS[0]}), or the archive as WACZ",
    )
    export.set_defaults(command=commands.export_crawl)

    demo = subparsers.add_parser("demo", help="crawl a small site on this machine")
    demo.add_argument("--into", metavar="DIR", type=Path, help="keep the crawl there")
    demo.add_argument("--quiet", action="store_true", help="no progress lines")
    demo.set_defaults(command=commands.demo)
    return parser


def count(text: str) -> int:
    """Read a number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _add_directory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIR", type=Path, help="what was given to crawl --into"
    )


def _add_crawl_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("seeds", metavar="URL", nargs="+", help="where to begin")
    parser.add_argument(
        "--into",
        metavar="DIR",
        required=True,
        type=Path,
        help="directory of the crawl; if it holds a crawl of the same URLs already, they "
        "are crawled again and compared",
    )
    _add_common_options(parser, is_new=True)
    _add_reach(parser.add_argument_group("what is crawled"))
    _add_manners(parser.add_argument_group("manners"))
    _add_access(parser.add_argument_group("how it is fetched"))
    _add_storage(parser.add_argument_group("what is kept"))


def _add_common_options(parser: argparse.ArgumentParser, *, is_new: bool) -> None:
    def default(value: object) -> str:
        return f"default {value}" if is_new else "default as before"

    parser.add_argument("--quiet", action="store_true", help="no progress lines")
    parser.add_argument(
        "--concurrency",
        type=int,
        metavar="N",
        help=f"fetches under way at once ({default(DEFAULT.concurrency)})",
    )
    parser.add_argument(
        "--per-host",
        type=int,
        metavar="N",
        help=f"of those, to one host ({default('2, or any on loopback alone')})",
    )
    parser.add_argument(
        "--host-gap",
        type=float,
        metavar="SECONDS",
        dest="host_gap_s",
        help="least time between two fetches from a host, longer if it is slow "
        f"({default('1, on loopback 0')})",
    )
    parser.add_argument(
        "--max-pages", type=int, metavar="N", help="stop after so many fetched URLs"
    )
    parser.add_argument(
        "--max-bytes", type=int, metavar="N", help="stop a run after so many bytes"
    )
    parser.add_argument(
        "--max-time",
        type=float,
        metavar="SECONDS",
        dest="max_time_s",
        help="stop a run after so long",
    )
    parser.add_argument(
        "--user-agent",
        metavar="TEXT",
        help=f"what we say we are ({default(DEFAULT.user_agent)})",
    )
    private = parser.add_mutually_exclusive_group()
    private.add_argument(
        "--deny-private",
        action="store_const",
        const=True,
        default=None,
        help="connect to public addresses only "
        f"({default('if the start URLs are public')})",
    )
    private.add_argument(
        "--allow-private",
        action="store_const",
        const=False,
        dest="deny_private",
        default=None,
        help="connect to any address",
    )
    parser.add_argument(
        "--contact", metavar="TEXT", help="how to reach you: an e-mail address or a URL"
    )


def _add_reach(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--scope",
        choices=REACHES,
        help="the hosts of the URLs (default), their domains, what lies below the URLs, "
        "or anything",
    )
    group.add_argument(
        "--include",
        action="append",
        metavar="RE",
        help="crawl only URLs in which this regular expression is found; repeatable",
    )
    group.add_argument(
        "--exclude",
        action="append",
        metavar="RE",
        help="crawl no URLs in which this regular expression is found; repeatable",
    )
    group.add_argument(
        "--max-depth", type=int, metavar="N", help="most links from the start URL"
    )
    group.add_argument(
        "--max-redirects",
        type=int,
        metavar="N",
        help=f"most redirects in a row (default {DEFAULT.max_redirects})",
    )
    for name, what in (
        ("max_url_chars", "refuse URLs of more characters than N"),
        ("max_path_segments", "refuse paths of more segments than N"),
        ("max_segment_repeats", "refuse paths with one segment more than N times"),
        ("max_queries_per_path", "refuse more queries of one path than N"),
    ):
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            metavar="N",
            help=f"{what} (default {getattr(DEFAULT, name)})",
        )


def _add_manners(group: argparse._ArgumentGroup) -> None:
    _add_switch(
        group,
        "robots",
        "ignore robots.txt, robots meta tags and nofollow, on a site of your own",
    )
    _add_switch(group, "sitemaps", "do not read the sitemaps that robots.txt names")


def _add_access(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--client", choices=CLIENTS, help=f"HTTP client (default {DEFAULT.client})"
    )
    group.add_argument(
        "--header",
        action="append",
        metavar="'NAME: VALUE'",
        dest="headers",
        help="send this header too; secrets to the hosts of the URLs only; repeatable",
    )
    group.add_argument(
        "--auth",
        metavar="USER[:PASSWORD]",
        help="basic authentication at the hosts of the URLs; asks for the password "
        "if it is not given",
    )
    group.add_argument(
        "--proxy", metavar="[USER:PASSWORD@]HOST:PORT", help="fetch through this proxy"
    )
    group.add_argument(
        "--cookies",
        metavar="FILE",
        dest="cookie_file",
        help="begin with these cookies (cookies.txt, as of a browser or wget)",
    )
    _add_switch(group, "cookies", "keep no cookies")


def _add_storage(group: argparse._ArgumentGroup) -> None:
    _add_switch(group, "archive", "keep no WARC files")
    _add_switch(group, "index", "keep no full-text index")


def _add_switch(group: argparse._ArgumentGroup, name: str, text: str) -> None:
    """Add the option that turns off what is on unless it is given."""
    group.add_argument(
        f"--no-{name}", action="store_const", const=False, dest=name, help=text
    )
