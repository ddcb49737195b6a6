"""What the browser is told: samples as JSON, and as server-sent events.

Pure.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from crawler_app.crawl.monitor import Sample

__all__ = ["begin_event", "end_event", "sample_event", "to_json"]

# Of the hosts with fetches under way; a page that lists more is not read.
MAX_HOSTS = 30

# An error may quote what a server has sent.
MAX_ERROR_CHARS = 300

# After which a browser that has lost us comes back.
RETRY_MS = 2000


def to_json(sample: Sample) -> dict[str, Any]:
    """Return a sample as plain values."""
    return {
        "at": round(sample.at, 3),
        "elapsed_s": round(sample.elapsed_s, 3),
        "phase": sample.phase,
        "waiting_s": sample.waiting_s,
        "fetched": sample.fetched,
        "size_bytes": sample.size_bytes,
        "fetches_per_s": round(sample.fetches_per_s, 2),
        "bytes_per_s": round(sample.bytes_per_s),
        "count_by_state": {s.label: n for s, n in sample.count_by_state.items()},
        "hosts": len(sample.under_way_by_host),
        "under_way_by_host": sample.under_way_by_host[:MAX_HOSTS],
        "failures": [
            {
                "at": round(failure.at, 3),
                "url": failure.url,
                "reason": failure.reason,
                "error": failure.error[:MAX_ERROR_CHARS],
            }
            for failure in sample.failures
        ],
    }


def begin_event(
    seeds: Sequence[str], history: Iterable[Sample], sample: Sample, *, can_search: bool
) -> bytes:
    """Return what a page is told first: what is crawled, and how it went so far."""
    rates = [[round(s.at, 1), round(s.fetches_per_s, 2)] for s in history]
    data = {
        "seeds": seeds,
        "rates": rates,
        "can_search": can_search,
        "sample": to_json(sample),
    }
    return f"retry: {RETRY_MS}\n".encode() + _event("begin", data)


def sample_event(sample: Sample) -> bytes:
    """Return what pages are told each second."""
    return _event("sample", to_json(sample))


def end_event(sample: Sample) -> bytes:
    """Return what pages are told last, so that they do not come back."""
    return _event("end", to_json(sample))


def _event(name: str, data: object) -> bytes:
    """Write an event; JSON has no line breaks, which would end it.

    >>> _event("end", {"a": "b\\nc"})
    b'event: end\\ndata: {"a":"b\\\\nc"}\\n\\n'
    """
    text = json.dumps(data, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()
