"""Samples as JSON and as server-sent events.  Pure."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import Any

from crawler_app.run.crawl.monitor import Sample

__all__ = ["Ending", "begin_event", "end_event", "sample_event", "to_json"]

# Hosts with fetches under way that are listed; a longer list would not be read.
MAX_HOSTS = 30

# An error may quote what a server has sent.
MAX_ERROR_CHARS = 300

# Delay before a browser that has lost the connection reconnects.
RETRY_MS = 2000


@dataclasses.dataclass(slots=True, frozen=True)
class Ending:
    """What pages show when the crawl has ended.

    Attributes:
        summary: The results, as plain text; empty if they are not known.
        has_report: Whether the dashboard serves a report of the crawl.
        is_staying: Whether it goes on until it is closed.
    """

    summary: str = ""
    has_report: bool = False
    is_staying: bool = False


def to_json(sample: Sample) -> dict[str, Any]:
    """Return a sample as plain values."""
    return {
        "at": round(sample.at, 3),
        "elapsed_s": round(sample.elapsed_s, 3),
        "phase": sample.phase,
        "waiting_s": sample.waiting_s,
        "waiting_for": sample.waiting_for,
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
        "under_way": [[url, round(age_s, 1)] for url, age_s in sample.under_way],
        "pace": dict(sample.pace),
        "progress": dataclasses.asdict(sample.progress),
    }


def begin_event(
    seeds: Sequence[str], history: Iterable[Sample], sample: Sample, *, can_search: bool
) -> bytes:
    """Return the first event for a page: the seeds, and the progress so far."""
    rates = [[round(s.at, 1), round(s.fetches_per_s, 2)] for s in history]
    data = {
        "seeds": seeds,
        "rates": rates,
        "can_search": can_search,
        "sample": to_json(sample),
    }
    return f"retry: {RETRY_MS}\n".encode() + _event("begin", data)


def sample_event(sample: Sample) -> bytes:
    """Return the event that pages get every second."""
    return _event("sample", to_json(sample))


def end_event(sample: Sample, ending: Ending) -> bytes:
    """Return the last event, after which pages do not reconnect."""
    return _event("end", {"sample": to_json(sample), **dataclasses.asdict(ending)})


def _event(name: str, data: object) -> bytes:
    """Format an event; a line break would end it, but the JSON here has none.

    >>> _event("end", {"a": "b\\nc"})
    b'event: end\\ndata: {"a":"b\\\\nc"}\\n\\n'
    """
    text = json.dumps(data, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()
