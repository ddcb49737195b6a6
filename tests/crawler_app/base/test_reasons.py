"""The table of reasons is complete, and no other module contains a literal reason."""

import ast
import pathlib
import re

import pytest

import crawler_app
from crawler_app.base.reasons import (
    RETRYABLE,
    TRAITS,
    Category,
    Fault,
    Reason,
    Retries,
    is_broken,
    meaning_of,
    reason_of_status,
    reason_of_word,
    traits_of,
)

SOURCE = pathlib.Path(crawler_app.__file__).parent

# Words that mean something else there: a directive, a key, a noun, a callback's name.
HOMONYMS = {
    "nofollow": {
        "run/crawl/interpreting.py",
        "show/findings/kinds.py",
        "web/documents/links.py",
        "web/robots/directives.py",
    },
    "ok": {"show/report/tables/site_sections.py"},
    "redirect": {
        "show/findings/kinds.py",
        "show/export/tables/rows.py",
        "commands/summary_text.py",
        "web/httpclient/fetch.py",
        "show/report/as_csv.py",
        "show/report/as_markdown.py",
        "show/report/shape.py",
        "show/report/tables/site_sections.py",
    },
    "robots": {
        "run/directory/stores.py",
        "show/export/tables/columns.py",
        "show/export/tables/rows.py",
        "web/documents/page_metadata.py",
        "web/documents/html.py",
        "store/frontier/postgres/step_changes.py",
        "web/robots/directives.py",
    },
    "should_fetch": {"run/crawl/hooks.py", "run/crawler.py"},
    "unchanged": {
        "run/results/comparison.py",
        "show/check/sarif.py",
        "show/export/tables/rows.py",
    },
    "tls": {"show/watch/notices/mail.py"},
}

IS_REASON = re.compile("|".join([*Reason, r"http_\d*"]))


def literals():
    """Yield each text in the source that could be a reason, with its module."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        public = next((n for n in tree.body if is_public_names(n)), ast.Pass())
        for node in {*ast.walk(tree)} - {*ast.walk(public)}:
            word = getattr(node, "value", None)
            if isinstance(word, str) and IS_REASON.fullmatch(word):
                yield word, path.relative_to(SOURCE).as_posix()


def is_public_names(node):
    return ast.unparse(node).startswith("__all__ = ")


def test_no_other_module_contains_a_literal_reason():
    found = set(literals())
    table = {(word, "base/reasons.py") for word in (*Reason, "http_")}
    homonyms = {(word, name) for word, names in HOMONYMS.items() for name in names}
    assert found == homonyms | table


@pytest.mark.parametrize("reason", Reason)
def test_traits_of_each_reason_are_consistent(reason):
    traits = TRAITS[reason]
    assert traits.meaning
    assert (traits.fault is None) == (traits.category is not Category.FAILURE)
    if traits.category is not Category.FAILURE:
        assert traits.retry is Retries.NEVER
    if traits.fault is Fault.HOST:
        assert traits.retry is Retries.SOON
    if traits.category is not Category.SKIP:
        assert not (traits.is_provisional or traits.spares_sitemaps)


BROKEN = "bad_redirect bad_response connection_closed dns network redirect_loop refused"
BROKEN += " timeout tls too_many_redirects http_404 http_503 http_799"
NOT_BROKEN = "bad_request hook_error internal_error private_address robots_unreachable"
NOT_BROKEN += " refused_to_us blocked rate_limited dangerous too_large ok unchanged redirect robots quite_new"


def test_failures_for_every_visitor_are_broken():
    words = [*BROKEN.split(), *NOT_BROKEN.split()]

    broken = [word for word in words if is_broken(reason_of_word(word))]

    assert broken == BROKEN.split()


def test_temporary_failures_are_retried_on_request():
    words = "refused dns network timeout hook_error connection_closed"
    words += " not_rendered blocked rate_limited proxy_error robots_unreachable http_429 http_500 http_502 http_503 http_504"
    assert set(words.split()) == RETRYABLE


@pytest.mark.parametrize("reason", sorted(RETRYABLE))
def test_passing_failures_are_retried_soon(reason):
    is_soon = traits_of(reason).retry is Retries.SOON
    late = (Reason.BLOCKED, Reason.HOOK_ERROR, Reason.ROBOTS_UNREACHABLE)
    assert is_soon == (reason not in late)


def test_http_status_has_its_phrase():
    assert meaning_of(reason_of_status(410)) == "410 Gone"
    assert meaning_of(reason_of_status(799)) == "799"
    assert traits_of(reason_of_status(410)).badge == "410"


def test_unknown_reason_is_shown_unchanged():
    assert reason_of_word("quite_new") == "quite_new"
    assert meaning_of(reason_of_word("quite_new")) == "quite new"


def test_stored_word_is_read_as_its_reason():
    assert all(reason_of_word(str(reason)) is reason for reason in Reason)
