"""The set of known keys: like a set of Python, and small."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from crawler_app.frontier.keys import KEY_BITS, Keys

# Few buckets and few keys, so that they meet; and both ends.
KEYS = st.integers(0, 5) | st.integers(2**KEY_BITS - 5, 2**KEY_BITS - 1)


@given(
    st.sets(KEYS), st.lists(st.tuples(st.sampled_from(["add", "remove", "in"]), KEYS))
)
def test_it_is_a_set(loaded, steps):
    keys, model = Keys(max_recent=2), set(loaded)
    keys.load((key,) for key in loaded)
    for step, key in steps:
        if step == "add":
            assert keys.add(key) is (key not in model)
            model.add(key)
        elif step == "remove" and key in model:
            keys.remove(key)
            model.remove(key)
        assert (key in keys, len(keys)) == (key in model, len(model))


def test_a_key_takes_ten_bytes():
    rows = [(n * 2**KEY_BITS // 200_000,) for n in range(200_000)]
    tracemalloc.start()
    try:
        keys = Keys()
        keys.load(rows)
        assert all(key in keys for (key,) in rows)
        size_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size_bytes < 14 * len(rows)
