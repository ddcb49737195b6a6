"""The kinds of findings: how bad each is, what it means, and the section with the cure.

Pure.  Add a kind here; check, report, exports and SQL have it then.
"""

from enum import StrEnum
from typing import Self

from crawler_app.base.models import Severity

__all__ = [
    "DEFAULT_KINDS",
    "MAX_CLICKS",
    "MAX_DESCRIPTION_CHARS",
    "MAX_TITLE_CHARS",
    "OPTIONAL_KINDS",
    "PERMANENT",
    "REFERENCE_IS_EMPTY",
    "FindingKind",
    "ProblemKind",
    "missing_place",
]

# About as much as a search engine shows; the limits are those of Screaming Frog.
MAX_TITLE_CHARS = 60
MAX_DESCRIPTION_CHARS = 155

# From a start URL to a page.
MAX_CLICKS = 6

# RFC 9110, 15.4.2 and 15.4.9: links ought to be changed to the target.
PERMANENT = (301, 308)

REFERENCE_IS_EMPTY = "the reference is empty"

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTICE


def missing_place(fragment: str) -> str:
    """Return what is wrong with a reference whose page does not have its fragment."""
    return f'there is no "#{fragment}" on the page'


class FindingKind(StrEnum):
    """What is wrong, as ``--fail-on`` names it.

    Attributes:
        words: What is wrong, for the rules of SARIF.
        noun: One of them, where the value is not an adjective.
        is_optional: Whether it is looked for, and shown, only if it is named.
    """

    words: str
    noun: str
    is_optional: bool

    def __new__(
        cls, value: str, words: str = "", noun: str = "", is_optional: bool = False
    ) -> Self:
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.words, kind.noun, kind.is_optional = words, noun or value, is_optional
        return kind

    BROKEN = ("broken", "A URL that does not work")
    EXTERNAL = ("external", "An external URL that does not work")
    FRAGMENT = ("fragments", "A fragment that the page does not have", "fragment")
    MALFORMED = ("malformed", "A malformed reference")
    MIXED = ("mixed", "Something that an https page loads over http")
    """Browsers block it."""
    SCRIPT = ("scripts", "A script, or its request, that fails")
    """On a rendered page."""
    REDIRECT = ("redirects", "A link to a permanent redirect", "redirect", True)
    PAGE = ("pages", "A page that is wrong itself", "problem of pages", True)
    """An error or a warning of the report."""
    NOTICE = ("notices", "Something on a page that may be intended", "notice", True)


# The kinds that are only looked for, and shown, if they are named.
OPTIONAL_KINDS = tuple(kind for kind in FindingKind if kind.is_optional)

# The kinds that make a check fail by default.
DEFAULT_KINDS = tuple(kind for kind in FindingKind if not kind.is_optional)


class ProblemKind(StrEnum):
    """The kinds of page-quality problems, the most important first.

    Attributes:
        severity: How bad it is.
        section: The section of the report that lists it, and has the cure.
        words: The finding; a subject may follow after a colon.
        first: What follows the noun where it is one of those to be fixed first; empty for kinds
            that are often intended, or matter little.
        noun: What one of them is.
    """

    severity: Severity
    section: str
    words: str
    first: str
    noun: str

    def __new__(
        cls,
        value: str,
        severity: Severity = _E,
        section: str = "",
        words: str = "",
        first: str = "",
        noun: str = "page",
    ) -> Self:
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.severity, kind.section, kind.words = severity, section, words
        kind.first, kind.noun = first, noun
        return kind

    SOFT_404 = (
        *("soft_404", _E, "soft-404", "Status 200 for a URL that does not exist"),
        "answers with a page for a URL that does not exist",
        "host",
    )
    """A host answers a URL that does not exist with status 200."""
    EMPTY_PAGE = ("empty_page", _E, "markup", "An empty page", "without content")
    ERROR_PAGE = (
        *("error_page", _E, "soft-404"),
        "Status 200, but the title is that of an error",
        "that says it is an error, with status 200",
    )
    """A page with status 200 whose title is that of an error."""
    MARKUP = ("markup", _E, "markup", "Invalid markup", "with invalid markup")
    CHARSET = ("charset", _E, "markup", "Charset", "with a wrong charset")
    STRUCTURED_DATA = (
        *("structured_data", _E, "markup", "Broken JSON-LD"),
        "with broken JSON-LD",
    )
    CANONICAL_FAULT = (
        *("canonical_fault", _E, "search", "Canonical URL"),
        "with a wrong canonical URL",
    )
    HREFLANG = ("hreflang", _E, "search", "hreflang", "with wrong hreflang")
    SITEMAP = (
        *("sitemap", _E, "sitemap", "In a sitemap"),
        "in a sitemap that must not be there",
        "URL",
    )
    """A sitemap lists what search engines should not list."""
    INSECURE_FORM = (
        *("insecure_form", _E, "headers", "A form that is sent over http"),
        "with a form that is sent over http",
    )
    NOINDEX = (
        *("noindex", _W, "search", "Linked, but noindex"),
        "asks search engines not to list it",
        "linked page",
    )
    """The page is linked, but asks search engines not to list it."""
    NO_TITLE = ("no_title", _W, "titles", "No title", "without a title")
    SEVERAL_TITLES = (
        *("several_titles", _W, "titles", "Several titles"),
        "with several titles",
    )
    SAME_TITLE = (
        *("same_title", _W, "titles", "The same title"),
        "shared by several pages",
        "title",
    )
    NO_HEADING = ("no_heading", _W, "headings", "No h1", "without a main heading")
    NO_DESCRIPTION = (
        *("no_description", _W, "descriptions", "No description"),
        "without a description",
    )
    SEVERAL_DESCRIPTIONS = (
        "several_descriptions",
        _W,
        "descriptions",
        "Several descriptions",
    )
    SAME_DESCRIPTION = ("same_description", _W, "descriptions", "The same description")
    LANGUAGE = ("language", _W, "access", "Language")
    VIEWPORT = ("viewport", _W, "access", "On small screens")
    LINK_TEXT = (
        *("link_text", _W, "access", "Links without a text"),
        "with links without a text",
    )
    FRAME_TITLE = ("frame_title", _W, "access", "Frames without a title")
    NO_ALT = ("no_alt", _W, "images", "No alt", "without an alternative text", "image")
    """An image that a screen reader cannot describe."""
    NO_SIZE = (
        *("no_size", _N, "images", "No width and height"),
        "without a size",
        "image",
    )
    """An image that moves the text when it loads."""
    NEARLY_SAME = ("nearly_same", _N, "alike", "Nearly the same text as")
    ORPHAN = (
        *("orphan", _N, "orphans", "In a sitemap, but not linked"),
        "that no other page links to",
    )
    """A page that a sitemap lists, but no page links to."""
    NOT_IN_SITEMAP = ("not_in_sitemap", _N, "sitemap", "In no sitemap")
    CANONICAL = ("canonical", _N, "search", "Names another URL as canonical")
    """The page names another URL as its canonical one."""
    NOFOLLOW = ("nofollow", _N, "search", "nofollow on a link to the same host")
    SCRIPTED_LINK = (
        "scripted_link",
        _N,
        "access",
        "Links that lead nowhere without a script",
    )
    SESSION_ID = ("session_id", _N, "structure", "Links with a session id")
    DEEP = ("deep", _N, "structure", f"More than {MAX_CLICKS} clicks from the start")
    SEVERAL_HEADINGS = ("several_headings", _N, "headings", "Several h1")
    SAME_ID = ("same_id", _N, "markup", "Ids that several elements have")
    QUIRKS = ("quirks", _N, "markup", "No document type: shown in quirks mode")
    LONG_TITLE = (
        "long_title",
        _N,
        "titles",
        f"Longer than {MAX_TITLE_CHARS} characters",
    )
    LONG_DESCRIPTION = (
        *("long_description", _N, "descriptions"),
        f"Longer than {MAX_DESCRIPTION_CHARS} characters",
    )
    HEADER = ("header", _N, "headers", "Response header", "", "URL")
    """A response lacks a header for security, caching or compression."""
