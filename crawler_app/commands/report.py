"""``gencrawl report``: write a report of a crawl, as HTML, JSON, Markdown or CSV."""

import argparse
import sys
from pathlib import Path
from typing import TextIO

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import open_regular
from crawler_app.base.text.escaping import json_text
from crawler_app.base.text.formatting import number
from crawler_app.commands.arguments import (
    CSV,
    HTML,
    JSON,
    MARKDOWN,
    PAGE_NAME,
    ROWS_NAME,
    STDOUT,
)
from crawler_app.commands.exit_status import BROKEN, FAILED, OK
from crawler_app.commands.output_file import (
    format_of,
    opened_output,
    replacing,
    require_writable,
)
from crawler_app.commands.stored_crawl import opened
from crawler_app.run.results.summary import FINISHED
from crawler_app.show.report import (
    Report,
    gather,
    render_html,
    render_markdown,
    to_json,
    write_csv,
)
from crawler_app.show.report.as_csv import COLUMNS
from crawler_app.show.report.verdict import headline, scripted, unchecked
from crawler_app.show.terminal.progress_display import Steps

__all__ = ["report"]

# In every HTML report.
HTML_SIGN = "Made by gencrawl on "

STYLE_BY_ENDING = {
    ".html": HTML,
    ".htm": HTML,
    ".json": JSON,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".csv": CSV,
}


def report(arguments: argparse.Namespace) -> int:
    """Write the report of a crawl."""
    steps = Steps(quiet=arguments.quiet)
    crawl = opened(arguments, steps)
    style = format_of(
        arguments.format, arguments.output or STDOUT, HTML, STYLE_BY_ENDING
    )
    output = arguments.output or (
        str(crawl.path / PAGE_NAME) if style == HTML else STDOUT
    )
    require_writable(output)
    if not arguments.output and style == HTML:
        _require_own(crawl.path / PAGE_NAME, HTML_SIGN)
        _require_own(crawl.path / ROWS_NAME, ",".join(COLUMNS))
    with steps:
        found = gather(crawl, steps)
    if arguments.output or output == STDOUT:
        with opened_output(output) as file:
            _write(found, style, file)
    else:
        # Not through a link: the directory may come from another person.
        with replacing(Path(output)) as file:
            _write(found, style, file)
        with replacing(crawl.path / ROWS_NAME) as file:
            write_csv(found, file)
        output += f" and {ROWS_NAME}"
    if output != STDOUT:
        print(f"{unchecked(found)}\nWrote {output}", file=sys.stderr)
    return _verdict(found) if arguments.fail_on else OK


def _require_own(path: Path, sign: str) -> None:
    """Raise ConfigError if a file in the directory is not a report of ours."""
    if not path.exists():
        return
    try:
        with open(path, "rb", opener=open_regular) as file:
            text = file.read()
    except OSError as exc:
        raise ConfigError(f"cannot read {path}: {exc.strerror}") from None
    if text and sign.encode() not in text:
        raise ConfigError(
            f"{path} was not written by `gencrawl report`, and is kept; --output names "
            "another file"
        )


def _write(found: Report, style: str, file: TextIO) -> None:
    if style == JSON:
        file.write(json_text(to_json(found), indent=2))
        file.write("\n")
    elif style == CSV:
        write_csv(found, file)
    else:
        file.write(render_html(found) if style == HTML else render_markdown(found))


def _verdict(found: Report) -> int:
    if found.state != FINISHED:
        print("The crawl has not finished.", file=sys.stderr)
    if found.is_empty:
        print("Nothing was fetched.", file=sys.stderr)
        return FAILED
    is_shell = found.summary.is_shell
    if is_shell:
        print(f"Nothing was read: {scripted(found)}.", file=sys.stderr)
    # Those to which only malformed references lead are broken, too, though not listed twice.
    if not (found.broken or found.summary.broken):
        return FAILED if is_shell else OK
    links = number(found.broken_links, "link leads", "links lead")
    there = f"; {links} to what is broken" if found.broken else ""
    print(f"{headline(found)}{there}.", file=sys.stderr)
    return BROKEN
