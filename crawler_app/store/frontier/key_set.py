"""A set of the keys of known URLs, most of which take ten bytes each.

In a set of Python they take up to 90, so five million URLs would need 400 MB.

Most keys of an earlier run are read when they are first asked for, a bucket at a time.
"""

import itertools
from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator

__all__ = ["KEY_BITS", "KeySet"]

# The bits of a key; one less than SQLite's integers have, which are signed.
KEY_BITS = 63

# A key is inserted into the bucket of its highest bits; with a million keys, each bucket
# holds 250.
BUCKET_BITS = 12
SHIFT = KEY_BITS - BUCKET_BITS

# Keys added last are in a set of Python, where a look-up takes a fifth of the time; it takes
# at most 20 MB.
MAX_RECENT = 200_000


class KeySet:
    """A set of integers of `KEY_BITS` bits that are evenly distributed.

    >>> keys = KeySet()
    >>> keys.load([(1,), (2**62,)])
    >>> keys.add(3), keys.add(3)
    (True, False)
    >>> 1 in keys, 3 in keys, 5 in keys, len(keys)
    (True, True, False, 3)
    """

    def __init__(self, max_recent: int = MAX_RECENT) -> None:
        self._max_recent = max_recent
        self._recent: set[int] = set()
        # Empty in a crawl that is new and not large.
        self._buckets: list[array[int]] = []
        # The buckets that are loaded but not sorted; each is sorted when it is first used.
        self._unsorted: set[int] = set()
        # The buckets of which a part is not loaded, and the function that returns it.
        self._unread: set[int] = set()
        self._read: Callable[[int], bytes] = lambda number: b""
        self._in_buckets = 0

    def __len__(self) -> int:
        return len(self._recent) + self._in_buckets

    def load(self, rows: Iterable[tuple[int]]) -> None:
        """Add rows of one key each, without duplicates, to a set with none in memory."""
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return
        self._make_buckets()
        appends = [bucket.append for bucket in self._buckets]
        for (key,) in itertools.chain([first], rows):
            appends[key >> SHIFT](key)
        self._in_buckets += sum(map(len, self._buckets))
        self._unsorted.update(n for n, bucket in enumerate(self._buckets) if bucket)

    def read_later(self, read: Callable[[int], bytes], keys: int) -> None:
        """Add keys to an empty set that are read when they are needed.

        Args:
            read: Returns the keys of a bucket, as `saved` has yielded them.
            keys: The number of all of them.
        """
        self._make_buckets()
        self._read = read
        self._unread.update(range(len(self._buckets)))
        self._in_buckets = keys

    def saved(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each bucket and its keys, for `read_later`."""
        self._make_buckets()
        recent_by_bucket: dict[int, list[int]] = {}
        for key in self._recent:
            recent_by_bucket.setdefault(key >> SHIFT, []).append(key)
        for number in range(len(self._buckets)):
            keys = [*self._bucket(number), *recent_by_bucket.get(number, ())]
            yield number, array("q", sorted(keys)).tobytes()

    def __contains__(self, key: int) -> bool:
        if key in self._recent:
            return True
        if not self._in_buckets:
            return False
        bucket = self._bucket(key >> SHIFT)
        at = bisect_left(bucket, key)
        return at < len(bucket) and bucket[at] == key

    def add(self, key: int) -> bool:
        """Add a key; return False if it is there already."""
        if key in self:
            return False
        self._recent.add(key)
        if len(self._recent) > self._max_recent:
            self._make_buckets()
            moved = self._recent.pop()
            insort(self._bucket(moved >> SHIFT), moved)
            self._in_buckets += 1
        return True

    def remove(self, key: int) -> None:
        """Remove a key that is there."""
        if key in self._recent:
            self._recent.remove(key)
            return
        bucket = self._bucket(key >> SHIFT)
        del bucket[bisect_left(bucket, key)]
        self._in_buckets -= 1

    def _make_buckets(self) -> None:
        if not self._buckets:
            self._buckets = [array("q") for _ in range(1 << BUCKET_BITS)]

    def _bucket(self, number: int) -> "array[int]":
        """Return the bucket with a number, complete and sorted."""
        if self._unread and number in self._unread:
            self._unread.discard(number)
            self._buckets[number].frombytes(self._read(number))
            self._unsorted.add(number)
        if self._unsorted and number in self._unsorted:
            self._unsorted.discard(number)
            self._buckets[number] = array("q", sorted(self._buckets[number]))
        return self._buckets[number]
