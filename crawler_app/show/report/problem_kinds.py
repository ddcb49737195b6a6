"""The kinds of page-quality problems: how bad each is, and the words for it.

Pure.  Add a kind here; the report, its advice and ``gencrawl check --fail-on pages`` have it then.
"""

from enum import StrEnum
from typing import NamedTuple

from crawler_app.base.models import Severity

__all__ = [
    "MAX_CLICKS",
    "MAX_DESCRIPTION_CHARS",
    "MAX_TITLE_CHARS",
    "TRAITS_BY_KIND",
    "KindTraits",
    "ProblemKind",
]

# About as much as a search engine shows; the limits are those of Screaming Frog.
MAX_TITLE_CHARS = 60
MAX_DESCRIPTION_CHARS = 155

# From a start URL to a page.
MAX_CLICKS = 6


class ProblemKind(StrEnum):
    """The kinds of problems, the most important first."""

    SOFT_404 = "soft_404"
    """A host answers a URL that does not exist with status 200."""
    EMPTY_PAGE = "empty_page"
    ERROR_PAGE = "error_page"
    """A page with status 200 whose title is that of an error."""
    MARKUP = "markup"
    CHARSET = "charset"
    STRUCTURED_DATA = "structured_data"
    CANONICAL_FAULT = "canonical_fault"
    HREFLANG = "hreflang"
    SITEMAP = "sitemap"
    """A sitemap lists what search engines should not list."""
    INSECURE_FORM = "insecure_form"
    NOINDEX = "noindex"
    """The page is linked, but asks search engines not to list it."""
    NO_TITLE = "no_title"
    SEVERAL_TITLES = "several_titles"
    SAME_TITLE = "same_title"
    NO_HEADING = "no_heading"
    NO_DESCRIPTION = "no_description"
    SEVERAL_DESCRIPTIONS = "several_descriptions"
    SAME_DESCRIPTION = "same_description"
    LANGUAGE = "language"
    VIEWPORT = "viewport"
    LINK_TEXT = "link_text"
    FRAME_TITLE = "frame_title"
    NO_ALT = "no_alt"
    """An image that a screen reader cannot describe."""
    NO_SIZE = "no_size"
    """An image that moves the text when it loads."""
    NEARLY_SAME = "nearly_same"
    ORPHAN = "orphan"
    """A page that a sitemap lists, but no page links to."""
    NOT_IN_SITEMAP = "not_in_sitemap"
    CANONICAL = "canonical"
    """The page names another URL as its canonical one."""
    NOFOLLOW = "nofollow"
    SCRIPTED_LINK = "scripted_link"
    SESSION_ID = "session_id"
    DEEP = "deep"
    SEVERAL_HEADINGS = "several_headings"
    SAME_ID = "same_id"
    QUIRKS = "quirks"
    LONG_TITLE = "long_title"
    LONG_DESCRIPTION = "long_description"
    HEADER = "header"
    """A response lacks a header for security, caching or compression."""


class KindTraits(NamedTuple):
    """What is known of a kind of problems.

    Attributes:
        section: The anchor of the section that lists it.
        words: The finding; a subject may follow after a colon.
        noun: What one of them is.
        first: What follows the noun where it is one of those to be fixed first; empty for kinds
            that are often intended, or matter little.
    """

    severity: Severity
    section: str
    words: str
    noun: str = "page"
    first: str = ""


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTICE
_K = ProblemKind

TRAITS_BY_KIND: dict[ProblemKind, KindTraits] = {
    _K.SOFT_404: KindTraits(
        *(_E, "soft-404", "Status 200 for a URL that does not exist", "host"),
        "answers with a page for a URL that does not exist",
    ),
    _K.EMPTY_PAGE: KindTraits(_E, "markup", "An empty page", first="without content"),
    _K.ERROR_PAGE: KindTraits(
        *(_E, "soft-404", "Status 200, but the title is that of an error", "page"),
        "that says it is an error, with status 200",
    ),
    _K.MARKUP: KindTraits(_E, "markup", "Invalid markup", first="with invalid markup"),
    _K.CHARSET: KindTraits(_E, "markup", "Charset", first="with a wrong charset"),
    _K.STRUCTURED_DATA: KindTraits(
        _E, "markup", "Broken JSON-LD", first="with broken JSON-LD"
    ),
    _K.CANONICAL_FAULT: KindTraits(
        _E, "search", "Canonical URL", first="with a wrong canonical URL"
    ),
    _K.HREFLANG: KindTraits(_E, "search", "hreflang", first="with wrong hreflang"),
    _K.SITEMAP: KindTraits(
        *(_E, "sitemap", "In a sitemap", "URL"), "in a sitemap that must not be there"
    ),
    _K.INSECURE_FORM: KindTraits(
        *(_E, "headers", "A form that is sent over http", "page"),
        "with a form that is sent over http",
    ),
    _K.NOINDEX: KindTraits(
        *(_W, "search", "Linked, but noindex", "linked page"),
        "asks search engines not to list it",
    ),
    _K.NO_TITLE: KindTraits(_W, "titles", "No title", first="without a title"),
    _K.SEVERAL_TITLES: KindTraits(
        _W, "titles", "Several titles", first="with several titles"
    ),
    _K.SAME_TITLE: KindTraits(
        _W, "titles", "The same title", "title", "shared by several pages"
    ),
    _K.NO_HEADING: KindTraits(_W, "headings", "No h1", first="without a main heading"),
    _K.NO_DESCRIPTION: KindTraits(
        _W, "descriptions", "No description", first="without a description"
    ),
    _K.SEVERAL_DESCRIPTIONS: KindTraits(_W, "descriptions", "Several descriptions"),
    _K.SAME_DESCRIPTION: KindTraits(_W, "descriptions", "The same description"),
    _K.LANGUAGE: KindTraits(_W, "access", "Language"),
    _K.VIEWPORT: KindTraits(_W, "access", "On small screens"),
    _K.LINK_TEXT: KindTraits(
        _W, "access", "Links without a text", first="with links without a text"
    ),
    _K.FRAME_TITLE: KindTraits(_W, "access", "Frames without a title"),
    _K.NO_ALT: KindTraits(
        _W, "images", "No alt", "image", "without an alternative text"
    ),
    _K.NO_SIZE: KindTraits(
        _N, "images", "No width and height", "image", "without a size"
    ),
    _K.NEARLY_SAME: KindTraits(_N, "alike", "Nearly the same text as"),
    _K.ORPHAN: KindTraits(
        *(_N, "orphans", "In a sitemap, but not linked", "page"),
        "that no other page links to",
    ),
    _K.NOT_IN_SITEMAP: KindTraits(_N, "sitemap", "In no sitemap"),
    _K.CANONICAL: KindTraits(_N, "search", "Names another URL as canonical"),
    _K.NOFOLLOW: KindTraits(_N, "search", "nofollow on a link to the same host"),
    _K.SCRIPTED_LINK: KindTraits(
        _N, "access", "Links that lead nowhere without a script"
    ),
    _K.SESSION_ID: KindTraits(_N, "structure", "Links with a session id"),
    _K.DEEP: KindTraits(
        _N, "structure", f"More than {MAX_CLICKS} clicks from the start"
    ),
    _K.SEVERAL_HEADINGS: KindTraits(_N, "headings", "Several h1"),
    _K.SAME_ID: KindTraits(_N, "markup", "Ids that several elements have"),
    _K.QUIRKS: KindTraits(_N, "markup", "No document type: shown in quirks mode"),
    _K.LONG_TITLE: KindTraits(
        _N, "titles", f"Longer than {MAX_TITLE_CHARS} characters"
    ),
    _K.LONG_DESCRIPTION: KindTraits(
        _N, "descriptions", f"Longer than {MAX_DESCRIPTION_CHARS} characters"
    ),
    _K.HEADER: KindTraits(_N, "headers", "Response header", "URL"),
}
