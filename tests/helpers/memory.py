"""An upper bound for the memory that Python code allocates."""

import contextlib
import tracemalloc

__all__ = ["peak_below"]


@contextlib.contextmanager
def peak_below(max_bytes):
    """Fail if more memory than this is allocated at a time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < max_bytes
