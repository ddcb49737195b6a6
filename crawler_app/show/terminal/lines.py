"""Progress of a crawl in one plain line, and formats shared with the table.  Pure."""

from crawler_app.base.models import State
from crawler_app.run.crawl.monitor import Sample

__all__ = ["SHOWN_STATES", "clock", "line_of", "name_of", "phase"]

# In the order of display.
SHOWN_STATES = (
    State.DONE,
    State.QUEUED,
    State.CLAIMED,
    State.FAILED,
    State.EXCLUDED,
)


def line_of(sample: Sample) -> str:
    """Return a sample as one line.

    >>> counts = dict(zip(State, (10_245, 8, 1_234, 12, 34)))
    >>> line_of(Sample(0.0, 62.0, "running", None, 0, 0, 52.3, 0.0, counts, [], []))
    '1:02  1,234 done, 10,245 queued, 8 under way, 12 failed, 34 skipped, 52 fetches/s'
    """
    count = sample.count_by_state
    parts = [
        *(f"{count[state]:,} {name_of(state)}" for state in SHOWN_STATES),
        f"{sample.fetches_per_s:,.0f} fetches/s",
    ]
    if (now := phase(sample)) != "running":
        parts.append(now)
    return f"{clock(sample.elapsed_s)}  {', '.join(parts)}"


def name_of(state: State) -> str:
    """Return the displayed name of a state.

    >>> name_of(State.CLAIMED)
    'under way'
    """
    return state.label.replace("_", " ")


def phase(sample: Sample) -> str:
    """Return the phase of the crawl; if it waits, with the time left."""
    if sample.waiting_s is None or sample.phase != "waiting":
        return sample.phase
    return f"waiting {sample.waiting_s:,.0f} s"


def clock(elapsed_s: float) -> str:
    """Return a duration in the format of a clock.

    >>> clock(62.9), clock(3600.0)
    ('1:02', '1:00:00')
    """
    minutes, seconds = divmod(int(elapsed_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
