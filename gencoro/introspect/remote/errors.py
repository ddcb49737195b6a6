"""The error for a process that cannot be examined."""

__all__ = ["NOT_FINISHED", "RemoteError"]

# For a process that has many objects.
NOT_FINISHED = (
    "process {} did not finish examining itself in time; try a longer --timeout, or a "
    "smaller --limit"
)


class RemoteError(Exception):
    """The process cannot be examined; the message says why, and what to do."""
