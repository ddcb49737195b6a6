"""The development pages of the Web Content Extraction Benchmark, and what is right for them."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from turbohtml import Element, Text

from crawler_app.show.export.markdown.rendering import text_lines
from crawler_app.web.main_content import main_content
from crawler_app.web.main_content.blocks import Block, page_of

# The score of a block is the share of its words in runs of this length that the truth has too.
RUN_WORDS = 5

_WORD = re.compile(r"\w+")


class TruePage(NamedTuple):
    """A page of the benchmark.

    Attributes:
        truth: The words of its main content.
        body: Holds the tree, whose nodes do not.
    """

    kind: str
    site: str
    markup: str
    truth: list[str]
    body: Element | None
    blocks: list[Block]


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def pages_in(directory: Path) -> Iterator[TruePage]:
    for path in sorted((directory / "dev/ground-truth").glob("*.json")):
        known = json.loads(path.read_text())
        markup = gzip.decompress(
            (directory / f"dev/html/{path.stem}.html.gz").read_bytes()
        ).decode(errors="replace")
        body, _ = main_content(markup, whole_page=True)
        kind = known["_internal"]["page_type"]["primary"]
        yield TruePage(
            "collection" if kind == "category" else kind,
            site_of(known.get("url") or path.stem),
            markup,
            words_of(known["ground_truth"].get("main_content") or ""),
            body,
            page_of(body).blocks if body is not None else [],
        )


def site_of(url: str) -> str:
    labels = (urlsplit(url).hostname or url).split(".")
    is_second_level = len(labels) > 2 and len(labels[-2]) <= 3  # such as co.uk
    return ".".join(labels[-3:] if is_second_level else labels[-2:])


def shares_of(page: TruePage) -> list[tuple[float, int]]:
    """Return how much of each block with text is in the truth, and how many words it has.

    A text that the truth has less often than the page is in the first of its blocks.
    """
    texts: dict[Element, list[str]] = {block.element: [] for block in page.blocks}
    assert page.body is not None
    for node in page.body.descendants:
        if type(node) is Text:
            around = node.parent
            while around not in texts:
                assert around is not None
                around = around.parent
            texts[around].append(node.data)
    runs = {n: Counter(runs_of(page.truth, n)) for n in range(1, RUN_WORDS + 1)}
    count_by_key: Counter[int] = Counter()
    shares = []
    for block in page.blocks:
        if block.chars:
            words = words_of(" ".join(texts[block.element]))
            count_by_key[block.key] += 1
            share = share_of(words, runs, count_by_key[block.key])
            shares.append((share, len(words)))
    return shares


def runs_of(words: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[at : at + n]) for at in range(len(words) - n + 1))


def share_of(
    words: Sequence[str], runs: dict[int, Counter[tuple[str, ...]]], times: int
) -> float:
    """Return how many of some words are in runs that the truth has as often."""
    if not words:
        return 0.0
    n = min(RUN_WORDS, len(words))
    found = [False] * len(words)
    for at, run in enumerate(runs_of(words, n)):
        if runs[n][run] >= times:
            found[at : at + n] = [True] * n
    return sum(found) / len(words)


def f1_of(page: TruePage) -> float:
    """Return the F1 of the words of `main_content`, as the benchmark's script counts it."""
    body, _ = main_content(page.markup)
    found = words_of(text_lines(body)) if body is not None else []
    if not page.truth:
        return float(not found)
    hits = (Counter(found) & Counter(page.truth)).total()
    return 2 * hits / (len(found) + len(page.truth))
