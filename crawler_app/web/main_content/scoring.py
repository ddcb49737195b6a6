"""How probably each block of a page is main content, and which blocks are kept.

Pure.  First each block is scored by itself: by its signs, its length, its place, and the two
blocks around it.  Then it is scored again by the scores of its neighbors, and of what is around
it, and of those that are *alike*, so that a short paragraph of an article stays and a long one of
a menu goes.  Alike are blocks of the same tag and classes in parents of the same tag and classes:
the items of a list, the posts of a thread.

The points are log odds; see `crawler_app.web.main_content.signs`.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import exp, log1p
from operator import truediv

from crawler_app.web.main_content.blocks import Block
from crawler_app.web.main_content.signs import ARTICLE, MAIN, MEANT_TWICE, NAV, SIGNS

__all__ = ["main_blocks"]

_START = 2.81
_POINTS_BY_TAG = {
    "p": 0.50,
    "h1": -0.58,
    "h2": 0.88,
    "h3": 0.54,
    "li": 0.66,
    "th": 0.59,
    "figcaption": -2.04,
}

_POINTS_BY_SIGN = {1 << at: sign.points for at, sign in enumerate(SIGNS)}

# For each unit of the natural logarithm of a length in characters.
_ALL_CHARS, _UNLINKED_CHARS, _SENTENCE_CHARS, _PAGE_CHARS = -0.05, 0.05, 0.16, -0.88
_PAGE_BLOCKS = 0.41
_LINKED_SHARE = -0.68

# By the part of the page's text that comes before; and for what comes before its title.
_PLACE, _BEFORE_TITLE = -1.70, -1.43

# By the natural logarithm of the number of blocks that are alike.
_ALIKE = 0.53

# For being outside the ``<main>`` or all ``<article>`` elements of a page that has some.
_NOT_IN_MAIN, _NOT_IN_ARTICLE = -1.02, -0.41

# Of the block around it, and of the block around the block around that: log of the
# characters, share of them in links, log of the blocks with text, share of long paragraphs.
_NEAR = (0.12, -0.33, 0.10, 0.55)
_FAR = (0.52, -0.29, -0.58, -0.60)

# The second scoring: the log odds of the first, the mean scores of two blocks around it, of its
# neighbors, of those alike, and of the page, and the highest one of the page.
_AGAIN_START = 1.86
_AGAIN_OWN = 0.44
_AGAIN_PARENT, _AGAIN_NEAR = 0.58, -0.55
_AGAIN_NEIGHBORS, _AGAIN_ALIKE = 1.91, 2.29
_AGAIN_PAGE, _AGAIN_HIGHEST = 0.32, -4.41

# Those of a probability of 0.9975; the first scoring is not surer than that.
MAX_ODDS = 5.989

# For a text that a block before has too, and for each unit of the logarithm of its length.
_AGAIN_REPEATED, _AGAIN_REPEATED_CHARS = 0.81, -0.67

_SENTENCE_ENDS = frozenset(".!?:;。！？…")
_CLOSING = "\"'”’)]"

# A block is kept if that is more probable than half of the quality that can be expected.
MAX_THRESHOLD = 0.5


def main_blocks(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks that are main content, in document order; sets the scores of all.

    >>> from turbohtml import parse
    >>> from crawler_app.web.main_content.blocks import page_of
    >>> page = parse(
    ...     "<nav><a href=b>Home</a></nav><article><h1>News</h1><p>It is a long story, and"
    ...     " this is all of it.</article><footer class=legal>Imprint</footer>"
    ... )
    >>> [each.element.text for each in main_blocks(page_of(page.root[1]).blocks)]
    ['News', 'It is a long story, and this is all of it.']
    """
    with_text = [block for block in blocks if block.chars]
    if not with_text:
        return []
    kinds = _kinds_of(with_text)
    odds = _score(with_text, kinds, blocks[0])
    _score_again(with_text, odds, kinds, blocks)
    threshold = _threshold_of(with_text)
    kept = [block for block in with_text if block.score > threshold]
    # HTML, 4.3.4: a section with navigation links.  Between short articles, its many links
    # look like a list of theirs.
    return [block for block in kept if not block.signs & NAV] or kept


def _kinds_of(blocks: Sequence[Block]) -> list[int]:
    """Return a number for each block, which is the same for those that are alike."""
    number_by_kind: dict[tuple[str, str, str, str], int] = {}
    numbers = []
    for block in blocks:
        parent = block.parent or block
        kind = block.tag, block.classes, parent.tag, parent.classes
        numbers.append(number_by_kind.setdefault(kind, len(number_by_kind)))
    return numbers


def _score(blocks: Sequence[Block], kinds: Sequence[int], page: Block) -> list[float]:
    """Return the points of each block, which are log odds, and set its score."""
    odds = []
    start = _START
    start += _PAGE_BLOCKS * log1p(page.all_blocks)
    start += _PAGE_CHARS * log1p(page.all_chars)
    places = 0
    for block in blocks:
        places |= block.signs
    title = next((each for each in blocks if each.tag == "h1"), None)
    around: dict[Block, float] = {}
    alike = {kind: _ALIKE * log1p(n) for kind, n in Counter(kinds).items()}
    before, is_before_title = 0, title is not None
    for block, kind in zip(blocks, kinds, strict=True):
        if block is title:
            is_before_title = False
        points = start + _points_of_signs(block.signs, places) + _points_of_text(block)
        points += _PLACE * before / page.all_chars
        points += _BEFORE_TITLE * is_before_title
        parent = block.parent or block
        near = parent.parent or parent
        if near not in around:
            around[near] = _points_around(near)
        points += around[near] + alike[kind]
        odds.append(points)
        block.score = 1 / (1 + exp(-points))  # the probability
        before += block.chars
    return odds


@lru_cache(maxsize=10_000)
def _points_of_signs(signs: int, signs_on_page: int) -> float:
    outside = signs_on_page & ~signs
    points = _NOT_IN_MAIN * bool(outside & MAIN)
    points += _NOT_IN_ARTICLE * bool(outside & ARTICLE)
    while signs:
        lowest = signs & -signs
        points += _POINTS_BY_SIGN[lowest]
        signs ^= lowest
    return points


def _points_of_text(block: Block) -> float:
    chars = block.chars
    length = log1p(chars)
    points = _POINTS_BY_TAG.get(block.tag, 0.0) + _ALL_CHARS * length
    points += _UNLINKED_CHARS * log1p(chars - block.linked)
    points += _LINKED_SHARE * block.linked / chars
    if block.end.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS:
        points += _SENTENCE_CHARS * length
    return points


def _points_around(near: Block) -> float:
    parent = near.parent or near
    far = parent.parent or parent
    return _points_of_sums(near, _NEAR) + _points_of_sums(far, _FAR)


def _points_of_sums(block: Block, points: tuple[float, float, float, float]) -> float:
    chars = block.all_chars or 1
    return (
        points[0] * log1p(block.all_chars)
        + points[1] * block.all_linked / chars
        + points[2] * log1p(block.all_blocks)
        + points[3] * block.all_prose / chars
    )


def _score_again(
    with_text: Sequence[Block],
    odds: Sequence[float],
    kinds: Sequence[int],
    blocks: Sequence[Block],
) -> None:
    """Replace each score by one that also depends on those around it."""
    _sum_scores(blocks)
    scores = [0.0, *(block.score for block in with_text), 0.0]
    start = _AGAIN_START + _AGAIN_PAGE * _mean(blocks[0]) + _AGAIN_HIGHEST * max(scores)
    around: dict[Block, float] = {}
    alike = _means_by_kind(with_text, kinds)
    known: set[int] = set()
    for at, (block, own, kind) in enumerate(zip(with_text, odds, kinds, strict=True)):
        parent = block.parent or block
        if parent not in around:
            near = parent.parent or parent
            around[parent] = _AGAIN_PARENT * _mean(parent) + _AGAIN_NEAR * _mean(near)
        points = start + _AGAIN_OWN * _bounded(own) + around[parent]
        points += _AGAIN_NEIGHBORS * (scores[at] + scores[at + 2]) / 2
        points += _AGAIN_ALIKE * alike[kind]
        if block.key in known and not block.signs & MEANT_TWICE:
            points += _AGAIN_REPEATED + _AGAIN_REPEATED_CHARS * log1p(block.chars)
        known.add(block.key)
        block.score = 1 / (1 + exp(-points))  # the probability


def _sum_scores(blocks: Sequence[Block]) -> None:
    for block in reversed(blocks):  # children before their parents
        if block.all_chars:
            block.all_score += block.score * block.chars
            if block.parent is not None:
                block.parent.all_score += block.all_score


def _means_by_kind(blocks: Sequence[Block], kinds: Sequence[int]) -> list[float]:
    """Return the mean score of each kind, by the lengths of its blocks."""
    count = max(kinds) + 1
    scores, chars = [0.0] * count, [0] * count
    for block, kind in zip(blocks, kinds, strict=True):
        scores[kind] += block.score * block.chars
        chars[kind] += block.chars
    return list(map(truediv, scores, chars))


def _mean(block: Block) -> float:
    return block.all_score / block.all_chars


def _threshold_of(blocks: Sequence[Block]) -> float:
    """Return the probability from which keeping a block raises the expected F1.

    That is half of the F1 itself.  Source: Lipton et al., Optimal Thresholding of Classifiers
    to Maximize F1 Measure, 2014.
    """
    weighted = sorted(((block.score, block.chars) for block in blocks), reverse=True)
    expected = sum(score * chars for score, chars in weighted)
    hits, kept_chars, threshold = 0.0, 0, 0.0
    for score, chars in weighted:
        if score <= threshold:
            break
        hits += score * chars
        kept_chars += chars
        threshold = hits / (kept_chars + expected)
    return min(threshold, MAX_THRESHOLD)


def _bounded(odds: float) -> float:
    if -MAX_ODDS < odds < MAX_ODDS:
        return odds
    return MAX_ODDS if odds > 0 else -MAX_ODDS
