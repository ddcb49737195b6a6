"""Tornado 4.5's own Future, for the golden programs that are about it."""


def make_future(stage):
    """Return one of 4.5's Futures; where there are none, asyncio's, which is later."""
    kind = getattr(stage.concurrent, "TracebackFuture", stage.concurrent.Future)
    return kind()


def has_own_future(stage):
    """Return whether 4.5's Future is there at all, and note if it is not."""
    if hasattr(stage.concurrent, "TracebackFuture"):
        return True
    stage.note("there is no TracebackFuture")
    return False
