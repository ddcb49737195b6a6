"""The reasons of outcomes and skips, and their properties.

Rule: only this module contains literal reasons and sets of them; a test checks it.  Retry,
counting, comparison, report, command line and metrics read the table `TRAITS` through the
functions and sets below.

Pure; imports nothing of the crawler.
"""

import re
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from http import HTTPStatus
from typing import NewType, TypeAlias

__all__ = [
    "ASKS_FOR_PASSWORD",
    "CONTENT",
    "HOST_FAULTS",
    "PROVISIONAL",
    "RETRYABLE",
    "TRAITS",
    "WALLS",
    "AnyReason",
    "Category",
    "Fault",
    "Reason",
    "ReasonTraits",
    "Retries",
    "StatusReason",
    "is_broken",
    "meaning_of",
    "never_checked",
    "reason_of_status",
    "reason_of_word",
    "traits_of",
    "words_of_scripted",
]


class Reason(StrEnum):
    """A reason, as it is stored and counted.

    `REDIRECT_LOOP` and `NO_LONGER_LINKED` are derived from several URLs, and are never
    stored.
    """

    OK = "ok"
    UNCHANGED = "unchanged"
    RENDERED = "rendered"
    REDIRECT = "redirect"
    TOO_HARD = "too_hard"
    MADE_BY_SCRIPT = "made_by_script"
    EXISTS = "exists"
    EXTERNAL_ASSET = "external_asset"

    BAD_REDIRECT = "bad_redirect"
    BAD_REQUEST = "bad_request"
    BAD_RESPONSE = "bad_response"
    BLOCKED = "blocked"
    CONNECTION_CLOSED = "connection_closed"
    CONNECTION_REFUSED = "refused"
    DANGEROUS = "dangerous"
    DNS = "dns"
    HOOK_ERROR = "hook_error"
    INTERNAL_ERROR = "internal_error"
    LOGIN_REQUIRED = "login_required"
    NETWORK = "network"
    NO_LONGER_LINKED = "no longer linked"
    NOT_RENDERED = "not_rendered"
    PRIVATE_ADDRESS = "private_address"
    PROXY_ERROR = "proxy_error"
    RATE_LIMITED = "rate_limited"
    REDIRECT_LOOP = "redirect_loop"
    REFUSED_TO_US = "refused_to_us"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    TIMEOUT = "timeout"
    TLS = "tls"
    TOO_LARGE = "too_large"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    WRONG_TYPE = "wrong_type"

    EXCLUDED_BY_PATTERN = "excluded_by_pattern"
    LOGS_OUT = "logs_out"
    NOFOLLOW = "nofollow"
    NOT_INCLUDED = "not_included"
    OUT_OF_SCOPE = "out_of_scope"
    PARAMETER_REPEATS = "parameter_repeats"
    PATH_REPEATS = "path_repeats"
    PATH_TOO_DEEP = "path_too_deep"
    ROBOTS = "robots"
    SHOULD_FETCH = "should_fetch"
    TOO_DEEP = "too_deep"
    TOO_MANY_ALIKE = "too_many_alike"
    TOO_MANY_PARAMETERS = "too_many_parameters"
    TOO_MANY_QUERIES = "too_many_queries"
    URL_TOO_LONG = "url_too_long"


#: An error status of a response, such as ``http_404``; only made by `reason_of_status`.
StatusReason = NewType("StatusReason", str)

AnyReason: TypeAlias = Reason | StatusReason


class Category(Enum):
    """The kind of result: content, existence only, another URL, an error, or none."""

    CONTENT = auto()
    EXISTENCE = auto()
    REDIRECT = auto()
    FAILURE = auto()
    SKIP = auto()


class Fault(Enum):
    """Where the cause of a failure is.

    HOST: the host is unreachable, and so are all its URLs.  SITE: this URL is broken.
    LIMIT: one of our own limits or rules forbids it.  OURS: the crawler failed, or one of
    the user's callbacks.
    """

    HOST = auto()
    SITE = auto()
    LIMIT = auto()
    OURS = auto()


class Retries(Enum):
    """When a failure is retried: in the same run, with ``--retry-failed``, or never."""

    SOON = auto()
    ON_REQUEST = auto()
    NEVER = auto()


@dataclass(frozen=True, slots=True)
class ReasonTraits:
    """The properties of a reason.

    Attributes:
        meaning: The explanation for people, which can follow "because" or a colon.
        fault: None if it is not a failure.
        badge: The meaning in a word or two; empty if the reason itself serves.
        is_provisional: For a skip: whether it ends when another link to the URL is found
            that is less deep, or has no nofollow.
        spares_sitemaps: For a skip: whether a sitemap on the host of a seed is fetched
            anyway.
    """

    category: Category
    meaning: str
    fault: Fault | None = None
    retry: Retries = Retries.NEVER
    badge: str = ""
    is_provisional: bool = False
    spares_sitemaps: bool = False


def _fails(
    fault: Fault, meaning: str, retry: Retries = Retries.NEVER, badge: str = ""
) -> ReasonTraits:
    return ReasonTraits(Category.FAILURE, meaning, fault, retry, badge)


def _skips(meaning: str) -> ReasonTraits:
    return ReasonTraits(Category.SKIP, meaning)


TRAITS: dict[AnyReason, ReasonTraits] = {
    Reason.OK: ReasonTraits(Category.CONTENT, "it was fetched"),
    Reason.UNCHANGED: ReasonTraits(
        Category.CONTENT, "it has not changed since the last crawl"
    ),
    Reason.RENDERED: ReasonTraits(
        Category.CONTENT, "it was fetched, and its scripts were run in a browser"
    ),
    Reason.REDIRECT: ReasonTraits(Category.REDIRECT, "it redirects"),
    Reason.TOO_HARD: ReasonTraits(
        Category.CONTENT,
        "it was fetched, but parsing it takes too much time or memory, so it was read in "
        "part",
    ),
    Reason.MADE_BY_SCRIPT: ReasonTraits(
        Category.CONTENT,
        "a script makes the page in the browser, and what the server sends has neither text "
        "nor links",
    ),
    Reason.EXISTS: ReasonTraits(
        Category.EXISTENCE, "it exists; it was requested, but not read"
    ),
    Reason.EXTERNAL_ASSET: ReasonTraits(
        Category.EXISTENCE, "it was fetched, as pages need it; its host is not crawled"
    ),
    # Broken: a visitor who follows a link to such a URL gets nothing.
    Reason.DNS: _fails(
        Fault.HOST, "the name of the host is unknown", Retries.SOON, "no host"
    ),
    Reason.NETWORK: _fails(
        Fault.HOST, "the host cannot be reached", Retries.SOON, "no route"
    ),
    Reason.CONNECTION_REFUSED: _fails(
        Fault.HOST, "the host refused the connection", Retries.SOON, "no server"
    ),
    Reason.CONNECTION_CLOSED: _fails(
        Fault.SITE,
        "the connection was closed before the response was complete",
        Retries.SOON,
        "cut off",
    ),
    Reason.TIMEOUT: _fails(Fault.SITE, "there was no response in time", Retries.SOON),
    Reason.BAD_REDIRECT: _fails(Fault.SITE, "it is a redirect without a valid address"),
    Reason.BAD_RESPONSE: _fails(Fault.SITE, "the response is not valid HTTP"),
    Reason.REDIRECT_LOOP: _fails(Fault.SITE, "its redirects form a loop", badge="loop"),
    Reason.TLS: _fails(
        Fault.SITE,
        "no secure connection: the certificate or the protocol was not accepted",
        badge="TLS",
    ),
    Reason.TOO_MANY_REDIRECTS: _fails(
        Fault.SITE, "it took more redirects in a row than --max-redirects allows"
    ),
    Reason.WRONG_TYPE: _fails(
        Fault.SITE,
        "a page, nothing or another type came in place of the style sheet, script, image, font "
        "or PDF file",
        badge="no asset",
    ),
    # Not the site's fault, or not certainly.
    Reason.BAD_REQUEST: _fails(
        Fault.OURS, "the HTTP client could not send the request"
    ),
    Reason.HOOK_ERROR: _fails(
        Fault.OURS, "one of your callbacks failed on it", Retries.ON_REQUEST
    ),
    Reason.INTERNAL_ERROR: _fails(Fault.OURS, "the crawler itself failed on it"),
    Reason.BLOCKED: _fails(
        Fault.LIMIT,
        "a bot wall answered in place of the page; crawl more slowly (--host-gap), say who "
        "you are (--contact), or ask the owner of the site to let the crawler in",
        Retries.ON_REQUEST,
        "wall",
    ),
    Reason.RATE_LIMITED: _fails(
        Fault.LIMIT,
        "the host asks for fewer requests; try again later, or more slowly (--host-gap)",
        Retries.SOON,
        "slow down",
    ),
    Reason.DANGEROUS: _fails(
        Fault.LIMIT,
        "the response could be understood in two ways, which attackers make use of, so it "
        "was not read",
    ),
    Reason.LOGIN_REQUIRED: _fails(
        Fault.LIMIT,
        "it leads to a login page: the user may not see it, or is no longer logged in",
        badge="login",
    ),
    Reason.NO_LONGER_LINKED: _fails(Fault.LIMIT, "no longer linked"),
    Reason.NOT_RENDERED: _fails(
        Fault.LIMIT, "the browser could not render it", Retries.SOON
    ),
    Reason.PRIVATE_ADDRESS: _fails(Fault.LIMIT, "it is not on the public Internet"),
    Reason.PROXY_ERROR: _fails(
        Fault.LIMIT, "the proxy cannot be reached, or refuses", Retries.SOON, "no proxy"
    ),
    Reason.REFUSED_TO_US: _fails(
        Fault.LIMIT,
        "the host does not answer programs; a visitor may well see it",
    ),
    Reason.ROBOTS_UNREACHABLE: _fails(
        Fault.LIMIT,
        "the host answers requests for robots.txt with errors, so nothing may be fetched "
        "from it",
        Retries.ON_REQUEST,
    ),
    Reason.TOO_LARGE: _fails(
        Fault.LIMIT,
        "it is larger than --max-body-bytes allows, or its head is too large",
    ),
    # Skipped.
    Reason.EXCLUDED_BY_PATTERN: _skips("a pattern of --exclude matches it"),
    Reason.LOGS_OUT: _skips(
        "it would log the crawl out; give it as a start URL if it is a page like any other"
    ),
    Reason.NOFOLLOW: ReasonTraits(
        Category.SKIP,
        "the page asks robots not to follow the link",
        is_provisional=True,
    ),
    Reason.NOT_INCLUDED: ReasonTraits(
        Category.SKIP, "no pattern of --include matches it", spares_sitemaps=True
    ),
    Reason.OUT_OF_SCOPE: ReasonTraits(
        Category.SKIP,
        "it is outside the scope of the crawl, usually on another site",
        spares_sitemaps=True,
    ),
    Reason.PARAMETER_REPEATS: _skips("its query repeats a parameter over and over"),
    Reason.PATH_REPEATS: _skips("its path repeats a part over and over"),
    Reason.PATH_TOO_DEEP: _skips("its path has too many parts"),
    Reason.ROBOTS: _skips("the host's robots.txt asks not to fetch it"),
    Reason.SHOULD_FETCH: _skips("your callback should_fetch skipped it"),
    Reason.TOO_DEEP: ReasonTraits(
        Category.SKIP,
        "it is more links away from the start than --max-depth allows",
        is_provisional=True,
    ),
    Reason.TOO_MANY_ALIKE: _skips(
        "too many pages at URLs like it say the same; max-queries-per-path raises the limit"
    ),
    Reason.TOO_MANY_PARAMETERS: _skips("its query has too many parameters"),
    Reason.TOO_MANY_QUERIES: _skips("too many other queries of its path were found"),
    Reason.URL_TOO_LONG: _skips("it is longer than max-url-chars allows"),
}

# The server may have recovered a little later.
RETRYABLE_STATUSES = (429, 500, 502, 503, 504)

_PHRASE_BY_STATUS: dict[int, str] = {each: each.phrase for each in HTTPStatus}
_STATUS = re.compile(r"http_(\d+)")
_REASON_BY_WORD: dict[str, Reason] = {str(reason): reason for reason in Reason}


def reason_of_status(status: int) -> StatusReason:
    """Return the reason for a response with an error status.

    >>> reason_of_status(404)
    'http_404'
    """
    return StatusReason(f"http_{status}")


def reason_of_word(word: str) -> AnyReason:
    """Return the reason for a stored word; unknown words are kept unchanged.

    >>> reason_of_word("ok"), reason_of_word("http_404")
    (<Reason.OK: 'ok'>, 'http_404')
    """
    return _REASON_BY_WORD.get(word) or StatusReason(word)


def traits_of(reason: AnyReason) -> ReasonTraits:
    """Return the properties of a reason, including one stored by another version."""
    traits = TRAITS.get(reason)
    if traits is not None:
        return traits
    found = _STATUS.fullmatch(reason)
    if found is None:
        return _fails(Fault.OURS, reason.replace("_", " "))
    status = int(found[1])
    phrase = _PHRASE_BY_STATUS.get(status, "")
    retry = Retries.SOON if status in RETRYABLE_STATUSES else Retries.NEVER
    return _fails(Fault.SITE, f"{status} {phrase}".rstrip(), retry, found[1])


def meaning_of(reason: AnyReason) -> str:
    """Return the explanation of a reason, which can follow "because" or a colon.

    >>> meaning_of(reason_of_status(404)), meaning_of(Reason.TIMEOUT)
    ('404 Not Found', 'there was no response in time')
    """
    return traits_of(reason).meaning


def words_of_scripted(*, is_rendered: bool) -> str:
    """Return what is known of a page that a script makes, and what to do.

    Args:
        is_rendered: Whether the crawl ran the scripts of such pages.
    """
    if is_rendered:
        return "the page has neither text nor links, even after its scripts have run"
    return f"{meaning_of(Reason.MADE_BY_SCRIPT)}; --render auto runs its scripts"


def is_broken(reason: AnyReason) -> bool:
    """Return whether a failed URL is broken for every visitor.

    >>> is_broken(reason_of_status(404)), is_broken(Reason.TOO_LARGE)
    (True, False)
    """
    return traits_of(reason).fault in (Fault.HOST, Fault.SITE)


# The note of a page that a start URL has led to.
ASKS_FOR_PASSWORD = "it asks for a password"


def never_checked(*, is_rendered: bool = False) -> str:
    """Return what neither a crawl nor a check asks for, in words.

    Args:
        is_rendered: Whether the scripts of every page were run.
    """
    scripts = "" if is_rendered else ", what scripts add"
    return f"forms that are sent with POST{scripts}"


# Reasons of URLs that returned a page or a file.
CONTENT = frozenset(
    r for r, traits in TRAITS.items() if traits.category is Category.CONTENT
)

# Reasons of URLs that failed because their host is unreachable.
HOST_FAULTS = frozenset(r for r, traits in TRAITS.items() if traits.fault is Fault.HOST)

# Reasons of URLs of which the host keeps programs away; nothing is known of them.
WALLS = (Reason.BLOCKED, Reason.RATE_LIMITED)

# Reasons of skips that may end when another link to the URL is found.
PROVISIONAL = frozenset(r for r, traits in TRAITS.items() if traits.is_provisional)

# Reasons of failed URLs that ``--retry-failed`` fetches again.
RETRYABLE: frozenset[AnyReason] = frozenset(
    [r for r, traits in TRAITS.items() if traits.retry is not Retries.NEVER]
).union(map(reason_of_status, RETRYABLE_STATUSES))
