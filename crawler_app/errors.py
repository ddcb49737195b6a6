"""Every exception of crawler_app, in one tree::

    Exception
    +-- CrawlerError
        +-- ConfigError        an option or a crawl directory cannot be used
        +-- UrlError           a reference is not a URL that can be fetched
        +-- FetchError         one exchange failed; says whether to try again
        |   +-- HookError          one of the user's own functions failed
        +-- LeaseLostError     a worker finished a URL that is no longer its own
        +-- StorageError       the disk has failed, and the crawl ends
        |   +-- FrontierError      the frontier has lost what it had been told
        |   +-- ArchiveError       a capture cannot be written, or read again
        |   +-- SearchIndexError   the full-text index cannot be written
        +-- SearchError        a search query means nothing

`UrlError` and `FetchError` tell their reason in one word, for counting.
"""

from crawler_app.reasons import AnyReason, Reason, Retries, facts_of

__all__ = [
    "ArchiveError",
    "ConfigError",
    "CrawlerError",
    "FetchError",
    "FrontierError",
    "HookError",
    "LeaseLostError",
    "SearchError",
    "SearchIndexError",
    "StorageError",
    "UrlError",
]


class CrawlerError(Exception):
    """The base of every error that crawler_app itself raises."""


class ConfigError(CrawlerError):
    """An option has an unusable value, or a crawl directory cannot be used so."""


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
        reason: As of `crawler_app.reasons`.
    """

    def __init__(self, reason: AnyReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def is_passing(self) -> bool:
        """Whether the same fetch may well succeed a little later."""
        return facts_of(self.reason).retry is Retries.SOON


class HookError(FetchError):
    """One of the user's own functions failed on a URL, which fails with it."""

    def __init__(self, message: str) -> None:
        super().__init__(Reason.HOOK_ERROR, message)


class LeaseLostError(CrawlerError):
    """A worker finished a URL whose lease had expired or been taken back."""


class StorageError(CrawlerError):
    """The disk has failed, and what it did not take is lost: the crawl ends."""


class FrontierError(StorageError):
    """What the frontier had taken in since a moment ago is lost.

    Whoever goes on would know of links that the frontier has forgotten.
    """


class ArchiveError(StorageError):
    """A capture cannot be written to the archive, or cannot be read from it again."""


class SearchIndexError(StorageError):
    """Pages cannot be written to the full-text index."""


class SearchError(CrawlerError):
    """A search query means nothing; the text says where, and what would."""
