"""A table as one HTML page with filters, which opens from a disk.

Rule: the page loads nothing and runs its own script only, as its Content-Security-Policy says.
The rows are data, which the script shows as text, 200 at a time; so 20,000 pages open quickly.
"""

import base64
import hashlib
import html
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from crawler_app.base.text.escaping import without_controls
from crawler_app.show.export.tables.columns import LINKS, PAGES, Row, text_columns

__all__ = ["write_table_page"]

# Shown at first; of the other tables, all columns.
SHOWN = {
    PAGES: (
        "url",
        "status",
        "title",
        "words",
        "depth",
        "inlinks",
        "outlinks",
        "findings",
    ),
    LINKS: ("source", "line", "target", "text", "status"),
}

DIRECTORY = Path(__file__).parent

HEAD = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>{style}</style>
<h1>{title}</h1>
<form onsubmit="return false">
<label>Filter <input id="filter" type="search" autocomplete="off" aria-describedby="how"></label>
<output id="count" for="filter"></output>
</form>
<p id="how">Words, or <code>column:word</code>, such as <code>{example}</code>; a minus excludes.</p>
<details><summary>Columns</summary><fieldset id="columns"><legend>Show</legend></fieldset></details>
<div tabindex="0" role="region" aria-label="{title}"><table><caption>{title}</caption></table></div>
<button id="more" type="button" hidden>Show more</button>
<noscript>The rows are shown by a script.</noscript>
<script id="data" type="application/json">
"""


def write_table_page(
    table: str, site: str, rows: Iterable[Row], output: TextIO
) -> None:
    """Write the page of a table.

    Args:
        table: Its name.
        site: For the title.
        rows: Cells beyond the columns are left out, such as the words of pages.
    """
    script = (DIRECTORY / "table.js").read_text(encoding="utf-8")
    columns = text_columns(table)
    digest = hashlib.sha256(script.encode()).digest()
    output.write(
        HEAD.format(
            digest=base64.b64encode(digest).decode(),
            title=html.escape(f"{table.capitalize()} of {without_controls(site)}"),
            style=(DIRECTORY / "table.css").read_text(encoding="utf-8"),
            example="status:404 -url:/archive/" if table == PAGES else "status:404",
        )
    )
    output.write(
        f'{{"columns": {json.dumps(columns)},\n'
        f'"shown": {json.dumps(SHOWN.get(table, columns))},\n"rows": ['
    )
    separators = itertools.chain("\n", itertools.repeat(",\n"))
    for row, separator in zip(rows, separators, strict=False):
        cells = json.dumps(row[: len(columns)], separators=(",", ":"))
        output.write(separator + cells.replace("<", r"\u003c"))
    output.write(f"\n]}}</script>\n<script>{script}</script>\n</html>\n")
