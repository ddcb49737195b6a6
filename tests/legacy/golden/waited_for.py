"""Done and pending Futures for the golden programs."""

# More than any program takes that does not hang.
MANY_TURNS = 20


def done_future(stage, result=None):
    """Return a Future that has a result already."""
    future = stage.gen.Future()
    future.set_result(result)
    return future


def failed_future(stage, error):
    """Return a Future that has failed already."""
    future = stage.gen.Future()
    future.set_exception(error)
    return future


def turns_until_done(stage, future):
    """Let the loop run until a future is done; return how many turns it took."""
    for turns in range(MANY_TURNS):
        if future.done():
            return turns
        stage.turn()
    return "too many"
