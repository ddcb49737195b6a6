"""The set of known keys: like a set of Python, and small."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from crawler_app.store.frontier.key_set import KEY_BITS, KeySet

# Few buckets and few keys, so that they meet; and both ends.
KEYS = st.integers(0, 5) | st.integers(2**KEY_BITS - 5, 2**KEY_BITS - 1)


@given(
    st.sets(KEYS),
    st.sets(KEYS),
    st.lists(st.tuples(st.sampled_from(["add", "remove", "in"]), KEYS)),
)
def test_it_is_a_set(saved, loaded, steps):
    loaded -= saved
    keys, model = KeySet(max_recent=2), saved | loaded
    if saved:
        keys.read_later(saved_by_bucket(saved).__getitem__, len(saved))
    keys.load((key,) for key in loaded)
    for step, key in steps:
        if step == "add":
            assert keys.add(key) is (key not in model)
            model.add(key)
        elif step == "remove" and key in model:
            keys.remove(key)
            model.remove(key)
        assert (key in keys, len(keys)) == (key in model, len(model))


def saved_by_bucket(known):
    """Return what is saved of keys of which some are in buckets and some are not."""
    keys = KeySet(max_recent=1)
    for key in known:
        keys.add(key)
    return dict(keys.saved())


def test_a_key_takes_ten_bytes():
    rows = [(n * 2**KEY_BITS // 100_000,) for n in range(100_000)]
    tracemalloc.start()
    try:
        keys = KeySet()
        keys.load(rows)
        assert all(key in keys for (key,) in rows)
        size_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size_bytes < 14 * len(rows)
