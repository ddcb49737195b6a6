"""The pages around the replayed one.  Pure."""

from html import escape
from urllib.parse import urlencode

from crawler_app.store.index import Hit, SearchResult

__all__ = [
    "STARTING_PAGE",
    "STARTING_SCRIPT",
    "hits_page",
    "replay_page",
    "sentence_page",
]

_HEAD = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ margin: 0; height: 100vh; overflow: hidden; display: flex; flex-direction: column }}
header {{ display: flex; gap: 1rem; align-items: center; padding: .4rem 1rem; flex-wrap: wrap }}
header form {{ flex: 1; display: flex; gap: .4rem }}
input {{ font: inherit; flex: 1; min-width: 8rem }} button {{ font: inherit }}
main {{ flex: 1; min-height: 0; overflow: auto }} main.text {{ max-width: 46rem; padding: 0 1rem }}
replay-web-page {{ height: 100% }} li {{ margin: 1rem 0 }} small {{ overflow-wrap: anywhere }}
</style>
<header><a href="./">{name}</a>
<form action="search"><input name="q" type="search" value="{query}" aria-label="Search"
placeholder="Search the pages"><button>Search</button></form>
<a href="report">Report</a></header>
"""

# Instead of the page of the service worker, if its frame asks for that before the worker runs.
STARTING_PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Starting</title>
<p>The player is starting.</p><script src="starting.js"></script>
"""
STARTING_SCRIPT = """
// Not if the worker has been asked: it would pass the request on again.
if (!performance.getEntriesByType("navigation")[0].workerStart)
  navigator.serviceWorker.ready.then(() => location.reload());
"""


def replay_page(name: str, url: str) -> str:
    """Return the page that shows the archive, at a URL of it."""
    return (
        f'{_head(name, name)}<main><replay-web-page source="crawl.wacz" embed="full" '
        f'replayBase="./replay/" url="{escape(url)}"></replay-web-page></main>\n'
        '<script src="replay/ui.js"></script>\n'
    )


def hits_page(name: str, result: SearchResult) -> str:
    """Return the page with the hits of a search."""
    hits = "\n".join(map(_item, result.hits))
    found = f"{result.total:,} page{'' if result.total == 1 else 's'} found"
    after = result.offset + len(result.hits)
    more = ""
    if after < result.total:
        query = escape(urlencode({"q": result.query, "offset": after}))
        more = f'<p><a href="search?{query}">More</a>\n'
    return (
        f"{_head(f'{result.query} - {name}', name, result.query)}"
        f'<main class="text"><p>{found}. {escape(result.hint)}</p>\n'
        f'<ol start="{result.offset + 1}">\n{hits}\n</ol>\n{more}</main>\n'
    )


def sentence_page(name: str, sentence: str, query: str = "") -> str:
    """Return a page that says why something is not shown."""
    return (
        f'{_head(name, name, query)}<main class="text"><p>{escape(sentence)}</main>\n'
    )


def _head(title: str, name: str, query: str = "") -> str:
    return _HEAD.format(title=escape(title), name=escape(name), query=escape(query))


def _item(hit: Hit) -> str:
    pieces = (
        f"<mark>{escape(text)}</mark>" if is_found else escape(text)
        for text, is_found in hit.snippet.pieces()
    )
    href = escape(f"./?{urlencode({'url': hit.url})}")
    return (
        f'<li><a href="{href}">{escape(hit.title or hit.url)}</a><br>'
        f"<small>{escape(hit.url)}</small><br>{''.join(pieces)}"
    )
