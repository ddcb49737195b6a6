"""A set of the keys of known URLs that takes nine bytes for each.

A Python set of integers takes up to 90, so five million URLs would need 400 MB.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable

__all__ = ["KEY_BITS", "Keys"]

# The bits of a key; one less than SQLite's integers have, which are signed.
KEY_BITS = 63

# A key is inserted into the bucket of its highest bits; with a million keys, each bucket
# holds 250.
BUCKET_BITS = 12
SHIFT = KEY_BITS - BUCKET_BITS


class Keys:
    """A set of integers of `KEY_BITS` bits that are evenly distributed.

    >>> keys = Keys()
    >>> keys.load([(1,), (2**62,)])
    >>> keys.add(3), keys.add(3)
    (True, False)
    >>> 1 in keys, 3 in keys, 5 in keys, len(keys)
    (True, True, False, 3)
    """

    def __init__(self) -> None:
        self._buckets = [array("q") for _ in range(1 << BUCKET_BITS)]
        # The buckets that are loaded but not sorted; each is sorted when it is first used.
        self._unsorted: set[int] = set()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def load(self, rows: Iterable[tuple[int]]) -> None:
        """Fill an empty set from rows of one key each, without duplicates."""
        appends = [bucket.append for bucket in self._buckets]
        for (key,) in rows:
            appends[key >> SHIFT](key)
        self._length = sum(map(len, self._buckets))
        self._unsorted.update(n for n, bucket in enumerate(self._buckets) if bucket)

    def __contains__(self, key: int) -> bool:
        if not self._length:
            return False
        bucket = self._bucket(key >> SHIFT)
        at = bisect_left(bucket, key)
        return at < len(bucket) and bucket[at] == key

    def add(self, key: int) -> bool:
        """Add a key; return False if it is there already."""
        bucket = self._bucket(key >> SHIFT)
        at = bisect_left(bucket, key)
        if at < len(bucket) and bucket[at] == key:
            return False
        bucket.insert(at, key)
        self._length += 1
        return True

    def remove(self, key: int) -> None:
        """Remove a key that is there."""
        bucket = self._bucket(key >> SHIFT)
        del bucket[bisect_left(bucket, key)]
        self._length -= 1

    def _bucket(self, number: int) -> "array[int]":
        if self._unsorted and number in self._unsorted:
            self._unsorted.discard(number)
            self._buckets[number] = array("q", sorted(self._buckets[number]))
        return self._buckets[number]
