"""Why a process cannot be examined."""

__all__ = ["NOT_FINISHED", "NoAnswerError", "RemoteError"]

# What is told of a process that has many objects.
NOT_FINISHED = (
    "process {} did not finish examining itself in time; try a longer --timeout, or a "
    "smaller --limit"
)


class RemoteError(Exception):
    """The process cannot be examined; the message says why, and what to do."""


class NoAnswerError(RemoteError):
    """The process can be examined, but did not answer in time."""
