"""Every exception of crawler_app, in one tree::

    Exception
    +-- CrawlerError
        +-- ConfigError        an option or a crawl directory cannot be used
        +-- UrlError           a reference is not a URL that can be fetched
        +-- FetchError         one exchange failed; says whether to retry it
        |   +-- LoginError         the crawl cannot log in, and ends
        |   +-- HookError          one of the user's callbacks failed
        |   +-- StaleConnectionError   the request may be sent again
        +-- LeaseLostError     a worker finished a URL whose lease had expired
        +-- StorageError       the disk has failed, and the crawl ends
        |   +-- FrontierError      the frontier has lost its latest changes
        |   |   +-- ServerError        a server refuses them, or does not answer
        |   +-- ArchiveError       a capture cannot be written or read
        |   +-- SearchIndexError   the full-text index cannot be written
        |   +-- ObjectStorageError object storage does not answer, or refuses
        +-- SearchError        a search query is invalid

`UrlError` and `FetchError` have a reason of one word, for counting.
"""

from crawler_app.base.reasons import AnyReason, Reason, Retries, traits_of

__all__ = [
    "ArchiveError",
    "ConfigError",
    "CrawlerError",
    "FetchError",
    "FrontierError",
    "HookError",
    "LeaseLostError",
    "LoginError",
    "ObjectStorageError",
    "SearchError",
    "SearchIndexError",
    "ServerAwayError",
    "ServerError",
    "StaleConnectionError",
    "StorageError",
    "UrlError",
]


class CrawlerError(Exception):
    """The base of every error that crawler_app itself raises."""


class ConfigError(CrawlerError):
    """An option has an invalid value, or a crawl directory cannot be used."""


class ServerAwayError(ConfigError):
    """The server of a frontier cannot be reached when a worker starts, but may be later."""


class UrlError(CrawlerError):
    """A reference is not a URL that can be fetched.

    Attributes:
        reason: One word for counting, such as ``unsupported_scheme``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class FetchError(CrawlerError):
    """One HTTP exchange gave no usable response.

    Attributes:
        reason: See `crawler_app.base.reasons`.
    """

    def __init__(self, reason: AnyReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def is_passing(self) -> bool:
        """Whether the same fetch may succeed a little later."""
        return traits_of(self.reason).retry is Retries.SOON


class StaleConnectionError(FetchError):
    """The server closed an idle connection, perhaps before it read the request."""


class HookError(FetchError):
    """One of the user's callbacks failed for a URL, so the URL fails too."""

    def __init__(self, message: str) -> None:
        super().__init__(Reason.HOOK_ERROR, message)


class LoginError(FetchError):
    """The crawl cannot log in, or is logged out again and again; it ends."""

    def __init__(self, message: str) -> None:
        super().__init__(Reason.LOGIN_REQUIRED, message)


class LeaseLostError(CrawlerError):
    """A worker finished a URL whose lease had expired or been taken back."""


class StorageError(CrawlerError):
    """The disk has failed; unwritten data is lost, and the crawl ends."""


class FrontierError(StorageError):
    """The latest changes of the frontier are lost.

    The crawl ends, because it would know links that the frontier has lost.
    """


class ServerError(FrontierError):
    """The server of a frontier refuses a worker's changes, or does not answer.

    They are lost, so other workers fetch these URLs again.
    """


class ArchiveError(StorageError):
    """A capture cannot be written to the archive, or read from it."""


class SearchIndexError(StorageError):
    """Pages cannot be written to the full-text index."""


class ObjectStorageError(StorageError):
    """Object storage does not answer, refuses, or has unexpected contents."""


class SearchError(CrawlerError):
    """A search query is invalid; the text says where, and how to correct it."""
