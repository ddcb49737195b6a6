"""What is wrong with one page: its markup, its language, its links to other versions.

Pure.  A page that another page may contradict is the business of `site_rules`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from http.cookies import CookieError, SimpleCookie
from itertools import islice
from xml.parsers import expat

import webencodings

from crawler_app.base.http_headers import different_values, is_html, media_type
from crawler_app.base.models import Fetched
from crawler_app.base.urls import host_of, join_or_nothing
from crawler_app.show.findings.kinds import ProblemKind
from crawler_app.web.documents.charset import charset_of_header, decode_html
from crawler_app.web.documents.html import Page
from crawler_app.web.documents.page_metadata import PageMetadata
from crawler_app.web.documents.xhtml import is_xml

__all__ = ["Fault", "faults_of_file", "faults_of_page", "is_feed", "is_plain_text"]

#: A kind, and what distinguishes it from others of its kind; empty if nothing does.
Fault = tuple[ProblemKind, str]

MAX_SUBJECT_CHARS = 200

# A shorter text is hardly smaller when it is compressed.
MIN_COMPRESSED_BYTES = 10_000

_UNKNOWN_ENCODING = expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING]

_ERROR_TITLE = re.compile(
    r"(?:error\s*)?(?:404|410|500|502|503)\b|(?:page|file)?\s*not found\b"
    r"|page (?:does not|doesn't) exist|(?:internal )?server error|internal error",
    re.IGNORECASE,
)
# As PHP writes it into a page; an article about such an error has no tags in it, or escaped ones.
_PROGRAM_ERROR = re.compile(
    rb"<b>(Fatal error|Parse error|Warning|Notice|Deprecated)</b>: [^<]{1,4000}"
    rb" in <b>[^<]{1,1000}</b> on line <b>\d{1,9}</b>"
)
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)[\s>]", re.IGNORECASE)
_SESSION = re.compile(
    r"[;?&](?:phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|cftoken)=",
    re.IGNORECASE,
)
_NO_ZOOM = re.compile(r"user-scalable\s*=\s*(?:no|0)|maximum-scale\s*=\s*1(?:\.0+)?\b")

# BCP 47, as far as pages need it: a language, a script, a region, and anything more.
_LANGUAGE = re.compile(
    r"([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}|\d{3}))?(?:-[\w-]+)?", re.IGNORECASE
)
_HREFLANG = re.compile(r"([a-z]{2})(?:-[a-z]{4})?(?:-([a-z]{2}|419))?", re.IGNORECASE)

# ISO 639-1 and ISO 3166-1 alpha-2, which search engines ask for.  Two letters in a row are a code.
_LANGUAGES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy "
    "da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu "
    "hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb "
    "lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om "
    "or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh "
    "zu"
)
_REGIONS = (
    "ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br "
    "bs bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz "
    "ec ee eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw "
    "gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky "
    "kz la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv "
    "mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py "
    "qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg "
    "th tj tk tl tm tn to tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm "
    "zw 419"
)


def faults_of_page(
    url: str, base: str, page: Page, metadata: PageMetadata, fetched: Fetched
) -> Iterator[Fault]:
    """Yield what is wrong with a page.

    Args:
        base: What its references are relative to.
    """
    if not fetched.body.strip():
        yield ProblemKind.EMPTY_PAGE, ""
        return
    if _ERROR_TITLE.match(page.title):
        yield ProblemKind.ERROR_PAGE, ""
    if shown := _PROGRAM_ERROR.search(fetched.body):
        yield ProblemKind.MARKUP, f"a PHP error is shown: {shown[1].decode()}"
    yield from _of_markup(metadata, fetched)
    yield from _of_charset(page, metadata, fetched)
    yield from _of_structured_data(metadata)
    yield from _of_canonicals(base, metadata)
    yield from _of_alternates(metadata)
    yield from _of_language(metadata)
    yield from _of_links(url, base, page, metadata)
    if url.startswith("https:") and any(
        join_or_nothing(base, action).startswith("http:") for action in metadata.actions
    ):
        yield ProblemKind.INSECURE_FORM, ""
    yield from _of_security(url, fetched.headers)
    yield from _of_compression(fetched)


def faults_of_file(fetched: Fetched) -> Iterator[Fault]:
    """Yield what is wrong with a style sheet, script or manifest, or with a plain text."""
    if is_plain_text(fetched.headers.get("Content-Type", "")):
        if _HTML.match(fetched.body):
            yield (
                ProblemKind.MARKUP,
                "HTML that is sent as text/plain; browsers show its source",
            )
        return
    if fault := _fault_of_data(fetched):
        yield ProblemKind.MARKUP, fault
    names = ("Cache-Control", "Expires", "ETag", "Last-Modified")
    if not any(name in fetched.headers for name in names):
        yield ProblemKind.HEADER, "no Cache-Control, ETag or Last-Modified"
    yield from _of_compression(fetched)


def is_feed(content_type: str) -> bool:
    """Return whether a Content-Type header means a feed.

    >>> is_feed("application/rss+xml; charset=utf-8"), is_feed("text/xml")
    (True, False)
    """
    return media_type(content_type) in ("application/rss+xml", "application/atom+xml")


def _fault_of_data(fetched: Fetched) -> str:
    """Return why programs cannot read a feed or a web app manifest; empty if they can."""
    content_type = fetched.headers.get("Content-Type", "")
    if is_feed(content_type):
        charset = charset_of_header(content_type) or None
        try:
            expat.ParserCreate(charset).Parse(fetched.body, True)
        except expat.ExpatError as exc:
            if exc.code != _UNKNOWN_ENCODING:
                return f"the feed is not well-formed XML (line {exc.lineno})"
        except ValueError:  # a charset that expat does not know
            pass
    elif media_type(content_type) == "application/manifest+json":
        try:
            json.loads(fetched.body)
        except (ValueError, RecursionError):
            return "the web app manifest is not valid JSON"
    return ""


def is_plain_text(content_type: str) -> bool:
    """Return whether a Content-Type header means a plain text.

    >>> is_plain_text("Text/Plain; charset=utf-8"), is_plain_text("text/html")
    (True, False)
    """
    return media_type(content_type) == "text/plain"


def _of_markup(metadata: PageMetadata, fetched: Fetched) -> Iterator[Fault]:
    if metadata.unclosed == "comment":
        yield ProblemKind.MARKUP, "a comment is not closed, and takes the rest"
    elif metadata.unclosed:
        yield (
            ProblemKind.MARKUP,
            f"<{metadata.unclosed}> is not closed, and takes the rest",
        )
    if is_xml(fetched.headers.get("Content-Type", "")):
        if not metadata.is_xml:
            yield (
                ProblemKind.MARKUP,
                "XHTML that is not well-formed; browsers refuse it",
            )
    elif not metadata.has_doctype:
        yield ProblemKind.QUIRKS, ""
    if metadata.repeated_ids:
        yield ProblemKind.SAME_ID, ""
    if metadata.titles > 1:
        yield ProblemKind.SEVERAL_TITLES, ""
    if metadata.descriptions > 1:
        yield ProblemKind.SEVERAL_DESCRIPTIONS, ""


def _of_charset(
    page: Page, metadata: PageMetadata, fetched: Fetched
) -> Iterator[Fault]:
    sent = charset_of_header(fetched.headers.get("Content-Type", ""))
    known = webencodings.lookup(metadata.charset) if metadata.charset else None
    if sent and known and known.name != sent:
        yield ProblemKind.CHARSET, f"the header says {sent}, the page {known.name}"
    is_ascii = fetched.body.isascii()
    if not (sent or metadata.charset or is_ascii) and not _has_mark(fetched.body):
        yield ProblemKind.CHARSET, "none is declared"
    if page.charset == "utf-8" and not is_ascii:
        text, _ = decode_html(fetched.body, fetched.headers.get("Content-Type", ""))
        if "\N{REPLACEMENT CHARACTER}" in text and b"\xef\xbf\xbd" not in fetched.body:
            yield ProblemKind.CHARSET, "the page is not in utf-8, as it says"


def _has_mark(body: bytes) -> bool:
    return body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"<?xml"))


def _of_structured_data(metadata: PageMetadata) -> Iterator[Fault]:
    errors = set()
    for text in metadata.structured_data:
        try:
            json.loads(text)
        except (ValueError, RecursionError) as exc:
            errors.add(getattr(exc, "msg", "nested too deeply"))
    for error in sorted(errors):
        yield ProblemKind.STRUCTURED_DATA, error


def _of_canonicals(base: str, metadata: PageMetadata) -> Iterator[Fault]:
    if len({join_or_nothing(base, href) for href in metadata.canonicals}) > 1:
        yield ProblemKind.CANONICAL_FAULT, "several different ones, which are ignored"
    if metadata.misplaced_canonicals:
        yield ProblemKind.CANONICAL_FAULT, "outside the head, where it is ignored"
    if metadata.canonicals and "noindex" in metadata.robots:
        yield ProblemKind.CANONICAL_FAULT, "beside noindex, which contradicts it"


def _of_alternates(metadata: PageMetadata) -> Iterator[Fault]:
    codes = {each.code for each in metadata.alternates}
    for code in islice(sorted(codes), MAX_SUBJECT_CHARS):
        if not _is_hreflang(code):
            yield ProblemKind.HREFLANG, f"unknown code “{code[:MAX_SUBJECT_CHARS]}”"


def _is_hreflang(code: str) -> bool:
    """Return whether search engines know a code.

    >>> _is_hreflang("en-gb"), _is_hreflang("en-UK"), _is_hreflang("x-default")
    (True, False, True)
    """
    if code.lower() == "x-default":
        return True
    found = _HREFLANG.fullmatch(code)
    if found is None or found[1].lower() not in _LANGUAGES:
        return False
    return found[2] is None or found[2].lower() in _REGIONS


def _is_language(code: str) -> bool:
    """Return whether a code names a language; some name a country, or one wrongly.

    >>> _is_language("sr-Latn-RS"), _is_language("jp"), _is_language("en-UK")
    (True, False, False)
    """
    found = _LANGUAGE.fullmatch(code)
    if found is None or len(found[1]) == 2 and found[1].lower() not in _LANGUAGES:
        return False
    return (found[2] or "").upper() != "UK"  # BCP 47 knows more regions than ISO 3166


def _of_language(metadata: PageMetadata) -> Iterator[Fault]:
    language = metadata.language
    if not language:
        yield ProblemKind.LANGUAGE, "the page does not say its language"
    elif not _is_language(language):
        cut = language[:MAX_SUBJECT_CHARS]
        yield ProblemKind.LANGUAGE, f"lang=“{cut}” is no language code"
    if metadata.viewport is None:
        yield ProblemKind.VIEWPORT, "no viewport, so the page is shown small"
    elif _NO_ZOOM.search(metadata.viewport):
        yield ProblemKind.VIEWPORT, "the viewport forbids to zoom"


def _of_links(
    url: str, base: str, page: Page, metadata: PageMetadata
) -> Iterator[Fault]:
    if metadata.nameless_links:
        yield ProblemKind.LINK_TEXT, ""
    if metadata.scripted_links:
        yield ProblemKind.SCRIPTED_LINK, ""
    if metadata.nameless_frames:
        yield ProblemKind.FRAME_TITLE, ""
    if any(map(_SESSION.search, page.links)):
        yield ProblemKind.SESSION_ID, ""
    if any(_is_on(url, base, link) for link in page.nofollow_links):
        yield ProblemKind.NOFOLLOW, ""


def _is_on(url: str, base: str, link: str) -> bool:
    target = join_or_nothing(base, link)
    return bool(target) and host_of(target) == host_of(url)


def _of_security(url: str, headers: Mapping[str, str]) -> Iterator[Fault]:
    """Yield the headers that protect visitors, and are missing.

    Source: OWASP Secure Headers Project.
    """
    policy = headers.get("Content-Security-Policy", "")
    if not policy:
        yield ProblemKind.HEADER, "no Content-Security-Policy"
    if "X-Frame-Options" not in headers and "frame-ancestors" not in policy:
        yield ProblemKind.HEADER, "no X-Frame-Options or frame-ancestors"
    if headers.get("X-Content-Type-Options", "").strip().lower() != "nosniff":
        yield ProblemKind.HEADER, "no X-Content-Type-Options: nosniff"
    if url.startswith("https:") and "Strict-Transport-Security" not in headers:
        yield ProblemKind.HEADER, "no Strict-Transport-Security"
    missing = _missing_in_cookies(
        different_values(headers, "Set-Cookie"), is_secure=url.startswith("https:")
    )
    for name in sorted(missing):
        yield ProblemKind.HEADER, f"a cookie without {name}"


def _missing_in_cookies(values: Iterable[str], *, is_secure: bool) -> set[str]:
    wanted = ("HttpOnly", "SameSite", "Secure")[: 3 if is_secure else 2]
    missing: set[str] = set()
    for value in values:
        cookie = SimpleCookie()
        try:
            cookie.load(value)
        except CookieError:  # which browsers read in their own way
            continue
        for morsel in cookie.values():
            missing |= {name for name in wanted if not morsel[name.lower()]}
    return missing


def _of_compression(fetched: Fetched) -> Iterator[Fault]:
    # The second: of what was decoded when it was read from the archive.
    names = ("Content-Encoding", "X-Consumed-Content-Encoding")
    is_plain = not any(fetched.headers.get(name, "").strip() for name in names)
    if is_plain and len(fetched.encoded_body) >= MIN_COMPRESSED_BYTES:
        content_type = fetched.headers.get("Content-Type", "").lower()
        if is_html(content_type) or any(
            word in content_type for word in ("css", "javascript", "json", "xml")
        ):
            yield ProblemKind.HEADER, "no compression of a large text"
