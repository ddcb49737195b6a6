"""The highest-ranked of many URLs, in order."""

from hypothesis import given
from hypothesis import strategies as st

from crawler_app.run.results.ranking import Ranked, Ranking


@given(st.lists(st.integers(0, 9)), st.integers(1, 5))
def test_best_are_kept_and_of_equals_the_first(sizes, kept):
    ranking = Ranking(lambda ranked: ranked.size_bytes, kept)
    shown = [Ranked(str(n), 0.0, size) for n, size in enumerate(sizes)]
    for ranked in shown:
        ranking.add(ranked)

    in_order = sorted(shown, key=lambda ranked: ranked.size_bytes, reverse=True)
    assert ranking.best() == in_order[:kept]
