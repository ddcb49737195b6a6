"""Fits the points by which main content is told from what is around it.

The pages are the development half of the Web Content Extraction Benchmark; its test half is
never read.  Pages of one site are always in the same fold, and each fold is judged with points
that were fitted without it.  The last step fits all pages, and prints the points as they stand
in `scoring` and `signs` of `crawler_app.web.main_content`.

    git clone https://github.com/Murrough-Foley/web-content-extraction-benchmark wcxb
    pip install numpy scipy
    python benchmarks/fit_main_content.py wcxb
"""

import argparse
import math
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from main_content_pages import TruePage, f1_of, pages_in, shares_of

from crawler_app.web.main_content import scoring
from crawler_app.web.main_content.blocks import Block
from crawler_app.web.main_content.signs import ARTICLE, MAIN, MEANT_TWICE, SIGNS

FOLDS = 5

# What the blocks of one page weigh together, beside the penalty of the ridge.
PAGE_WEIGHT = 2000

_TAGS = tuple(scoring._POINTS_BY_TAG)

Matrix = NDArray[np.float32]
Vector = NDArray[np.float64]
Chosen = NDArray[np.bool_]
Points = dict[str, float]


def features_of(page: TruePage) -> Matrix:
    """Return what the first scoring adds up, each without its points; see `FIRST`."""
    root, blocks = page.blocks[0], [each for each in page.blocks if each.chars]
    kinds = scoring._kinds_of(blocks)
    sizes = Counter(kinds)
    title = next((at for at, each in enumerate(blocks) if each.tag == "h1"), 0)
    places = 0
    for block in blocks:
        places |= block.signs
    rows, before = [], 0
    for at, block in enumerate(blocks):
        outside = places & ~block.signs
        length = math.log1p(block.chars)
        is_sentence = block.end.rstrip(scoring._CLOSING)[-1:] in scoring._SENTENCE_ENDS
        near = around_parent_of(block)
        far = around_parent_of(near)
        rows.append(
            [
                1.0,
                math.log1p(root.all_blocks),
                math.log1p(root.all_chars),
                length,
                math.log1p(block.chars - block.linked),
                length * is_sentence,
                block.linked / block.chars,
                before / root.all_chars,
                float(at < title),
                math.log1p(sizes[kinds[at]]),
                float(bool(outside & MAIN)),
                float(bool(outside & ARTICLE)),
                *(float(block.tag == tag) for tag in _TAGS),
                *sums_of(near),
                *sums_of(far),
                *(float(block.signs >> bit & 1) for bit in range(len(SIGNS))),
            ]
        )
        before += block.chars
    return np.array(rows, dtype=np.float32)


def around_parent_of(block: Block) -> Block:
    parent = block.parent or block
    return parent.parent or parent


def sums_of(block: Block) -> tuple[float, ...]:
    chars = block.all_chars or 1
    return (
        math.log1p(block.all_chars),
        block.all_linked / chars,
        math.log1p(block.all_blocks),
        block.all_prose / chars,
    )


FIRST = (
    "_START",
    "_PAGE_BLOCKS",
    "_PAGE_CHARS",
    "_ALL_CHARS",
    "_UNLINKED_CHARS",
    "_SENTENCE_CHARS",
    "_LINKED_SHARE",
    "_PLACE",
    "_BEFORE_TITLE",
    "_ALIKE",
    "_NOT_IN_MAIN",
    "_NOT_IN_ARTICLE",
    *(f"_POINTS_BY_TAG {tag}" for tag in _TAGS),
    *(f"_NEAR {at}" for at in range(4)),
    *(f"_FAR {at}" for at in range(4)),
    *(f"SIGNS {at}" for at in range(len(SIGNS))),
)
AGAIN = (
    "_AGAIN_START",
    "_AGAIN_OWN",
    "_AGAIN_PARENT",
    "_AGAIN_NEAR",
    "_AGAIN_NEIGHBORS",
    "_AGAIN_ALIKE",
    "_AGAIN_PAGE",
    "_AGAIN_HIGHEST",
    "_AGAIN_REPEATED",
    "_AGAIN_REPEATED_CHARS",
)


def features_again(page: TruePage, odds: Vector) -> Matrix:
    """Return what the second scoring adds up, each without its points; see `AGAIN`."""
    blocks = [each for each in page.blocks if each.chars]
    for block in page.blocks:
        block.all_score = 0.0
    for block, score in zip(blocks, probability(odds), strict=True):
        block.score = float(score)
    scoring._sum_scores(page.blocks)
    kinds = scoring._kinds_of(blocks)
    alike = scoring._means_by_kind(blocks, kinds)
    beside = [0.0, *(block.score for block in blocks), 0.0]
    known: set[int] = set()
    repeated = []
    for each in blocks:
        repeated.append(each.key in known and not each.signs & MEANT_TWICE)
        known.add(each.key)
    rows = [
        [
            1.0,
            scoring._bounded(float(odds[at])),
            scoring._mean(block.parent or block),
            scoring._mean(around_parent_of(block)),
            (beside[at] + beside[at + 2]) / 2,
            alike[kinds[at]],
            scoring._mean(page.blocks[0]),
            max(beside),
            float(repeated[at]),
            repeated[at] * math.log1p(block.chars),
        ]
        for at, block in enumerate(blocks)
    ]
    return np.array(rows, dtype=np.float32)


def fitted(rows: Matrix, shares: Vector, weights: Vector) -> Vector:
    """Return the points of a logistic regression with a small ridge."""
    center, spread = rows.mean(0), rows.std(0)
    center[0], spread[0] = 0, 1
    spread[spread == 0] = 1
    scaled = (rows - center) / spread
    ridge = np.r_[0.0, np.ones(rows.shape[1] - 1)]

    def loss(points: Vector) -> tuple[float, Vector]:
        odds = (scaled @ points.astype(np.float32)).astype(np.float64)
        errors = weights * (probability(odds) - shares)
        value = (weights * (np.logaddexp(0, odds) - shares * odds)).sum()
        return (
            value + 0.5 * (ridge * points * points).sum(),
            scaled.T @ errors.astype(np.float32) + ridge * points,
        )

    start = np.zeros(rows.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150})
    points: Vector = found.x / spread
    points[0] -= (points[1:] * center[1:]).sum()
    return points


def probability(odds: Vector) -> Vector:
    result: Vector = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return result


def install(points: Points) -> None:
    """Have `scoring` use other points."""
    for name, value in points.items():
        constant, _, key = name.partition(" ")
        if constant == "SIGNS":
            scoring._POINTS_BY_SIGN[1 << int(key)] = value
        elif not key:
            setattr(scoring, constant, value)
        elif constant == "_POINTS_BY_TAG":
            scoring._POINTS_BY_TAG[key] = value
        else:
            old = getattr(scoring, constant)
            at = int(key)
            setattr(scoring, constant, (*old[:at], value, *old[at + 1 :]))
    scoring._points_of_signs.cache_clear()


def printed(points: Points) -> None:
    for name, value in points.items():
        print(f"{name:24} {value:6.2f}")


def summary(f1_by_kind: dict[str, list[float]]) -> str:
    every = [f1 for each in f1_by_kind.values() for f1 in each]
    kinds = (
        f"{kind} {sum(each) / len(each):.3f}"
        for kind, each in sorted(f1_by_kind.items())
    )
    return f"{sum(every) / len(every):.4f}: {', '.join(kinds)}"


class Samples(NamedTuple):
    """All blocks with text of all pages, in their order.

    Attributes:
        pages: Those that have any text.
        ends: Where the blocks of each page begin, and where the last ends.
        first: The features of the first scoring.
        shares: How much of each block is main content.
        weights: All blocks of a page weigh as much as those of another one, by their words.
    """

    pages: list[TruePage]
    ends: list[int]
    first: Matrix
    shares: Vector
    weights: Vector

    @classmethod
    def of(cls, pages: list[TruePage]) -> "Samples":
        ends, matrices, shares, weights = [0], [], [], []
        for page in pages:
            matrices.append(features_of(page))
            found = shares_of(page)
            total = sum(count for _, count in found) or 1
            shares += [share for share, _ in found]
            weights += [PAGE_WEIGHT * count / total for _, count in found]
            ends.append(len(shares))
        first = np.concatenate(matrices)
        return cls(pages, ends, first, np.array(shares), np.array(weights))

    def fold_of_blocks(self) -> NDArray[np.int64]:
        counts = np.diff(self.ends)
        return np.repeat([fold_of(page) for page in self.pages], counts)

    def second(self, odds: Vector) -> Matrix:
        """Return the features of the second scoring, after the first one."""
        return np.concatenate(
            [
                features_again(page, odds[self.ends[at] : self.ends[at + 1]])
                for at, page in enumerate(self.pages)
            ]
        )

    def fitted(self, rows: Matrix, names: Sequence[str], chosen: Chosen) -> Points:
        points = fitted(rows[chosen], self.shares[chosen], self.weights[chosen])
        return dict(zip(names, points.tolist(), strict=True))


def fold_of(page: TruePage) -> int:
    return zlib.crc32(page.site.encode()) % FOLDS


def main(directory: Path) -> None:
    pages = list(pages_in(directory))
    samples = Samples.of([page for page in pages if page.blocks])
    fold = samples.fold_of_blocks()
    odds = np.zeros(len(fold))
    first_by_fold = []
    for number in range(FOLDS):
        points = samples.fitted(samples.first, FIRST, fold != number)
        first_by_fold.append(points)
        chosen = fold == number
        odds[chosen] = samples.first[chosen] @ np.array(list(points.values()))
    second = samples.second(odds)
    f1_by_kind: dict[str, list[float]] = defaultdict(list)
    for number, points in enumerate(first_by_fold):
        install(points | samples.fitted(second, AGAIN, fold != number))
        for page in pages:
            if fold_of(page) == number:
                f1_by_kind[page.kind].append(f1_of(page))
    print("F1 of pages of other sites", summary(f1_by_kind))
    every = np.full(len(fold), True)
    points = samples.fitted(samples.first, FIRST, every)
    printed(points | samples.fitted(second, AGAIN, every))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="of the benchmark, with dev/")
    main(parser.parse_args().directory)
