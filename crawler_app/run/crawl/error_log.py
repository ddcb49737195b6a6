"""Logs errors that may occur at thousands of URLs, each with its traceback only once."""

import collections
import logging
import re
import traceback

__all__ = ["ErrorLog"]

# The places in a traceback.  Searched in its text, because the message of an error in the
# sandbox is the traceback there, and says more than where that is raised here.
_PLACE = re.compile(r'^ *File "(.+)", line ([0-9]+)', re.MULTILINE)


class ErrorLog:
    """Logs an error unless one of the same class was raised at the same place before."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._counts = collections.Counter[tuple[str, str, str]]()

    def log(self, who: str, url: str, error: BaseException) -> None:
        """Log an error for a URL with its traceback, or only count it.

        Args:
            who: What has failed.
        """
        key = (who, type(error).__name__, _place_of(error))
        self._counts[key] += 1
        if self._counts[key] == 1:
            self._logger.error("%s failed for %s", who, url, exc_info=error)

    def log_repeated(self) -> None:
        """Log how often each error was raised that was logged once."""
        for (who, kind, place), count in self._counts.items():
            if count > 1:
                self._logger.error(
                    "%s raised %s at %s %d times", who, kind, place, count
                )
        self._counts.clear()


def _place_of(error: BaseException) -> str:
    """Return the file and line in which an error was raised; empty if it was not."""
    places = _PLACE.findall("".join(traceback.format_exception(error)))
    return ":".join(places[-1]) if places else ""
