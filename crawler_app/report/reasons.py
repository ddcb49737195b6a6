"""What each reason means to a person: for which URLs ended as they did, or were refused.

Pure.  Rule: every reason that the crawler can give is here; a test compares.  What is
broken is broken for every visitor; what failed by our own limits and faults is not.
"""

import http.client
import re

__all__ = ["BROKEN", "OTHERWISE", "REDIRECT_LOOP", "REFUSED", "is_broken", "meaning_of"]

# Of a redirect that leads back to itself; no single URL of it has failed.
REDIRECT_LOOP = "redirect_loop"

# A visitor who follows a link to such a URL gets nothing.  So does one who gets an error
# status, which is ``http_404`` and the like.
BROKEN = {
    "bad_redirect": "it redirects to what is no address",
    "bad_response": "the server's answer is no HTTP",
    "connection_closed": "the connection ended before the answer did",
    "dns": "the name of the host is unknown",
    "network": "the network does not lead there",
    REDIRECT_LOOP: "its redirects lead back to where they began",
    "refused": "nobody answers at the host",
    "timeout": "no answer came in time",
    "tls": "no secure connection: a certificate, or its protocol, is not right",
    "too_many_redirects": "one redirect followed the other, until the limit",
}

# Not the site's doing, or not for sure.
OTHERWISE = {
    "bad_request": "the HTTP client could not ask for it",
    "hook_error": "a function of your own failed on it",
    "internal_error": "the crawler itself failed on it",
    "private_address": "it is not on the public Internet; --allow-private crawls it",
    "robots_unreachable": "the host's robots.txt answered with errors, so nothing of the "
    "host may be fetched",
    "too_large": "it is larger than --max-body-bytes allows, or its head is too large",
}

REFUSED = {
    "excluded_by_pattern": "a pattern of --exclude is found in it",
    "nofollow": "the page asks robots not to follow the link",
    "not_included": "no pattern of --include is found in it",
    "out_of_scope": "it is outside of what was to be crawled, on another site mostly",
    "parameter_repeats": "a parameter of its query is there over and over",
    "path_repeats": "a part of its path is there over and over",
    "path_too_deep": "its path has too many parts",
    "robots": "the host's robots.txt asks not to fetch it",
    "should_fetch": "a function of your own left it out",
    "too_deep": "it is more links away from the start than --max-depth allows",
    "too_many_parameters": "its query has too many parameters",
    "too_many_queries": "its path has been asked for with enough other queries",
    "url_too_long": "it is longer than --max-url-chars allows",
}

_STATUS = re.compile(r"http_(\d+)")


def is_broken(reason: str) -> bool:
    """Return whether a URL that failed is of no use to any visitor.

    >>> is_broken("http_404"), is_broken("too_large")
    (True, False)
    """
    return reason in BROKEN or _STATUS.fullmatch(reason) is not None


def meaning_of(reason: str) -> str:
    """Return what a reason means, in words that go on after "because" or a colon.

    >>> meaning_of("http_404"), meaning_of("timeout")
    ('404 Not Found', 'no answer came in time')
    """
    if status := _STATUS.fullmatch(reason):
        words = http.client.responses.get(int(status[1]), "")
        return f"{status[1]} {words}".rstrip()
    for table in (BROKEN, OTHERWISE, REFUSED):
        if reason in table:
            return table[reason]
    return reason.replace("_", " ")
