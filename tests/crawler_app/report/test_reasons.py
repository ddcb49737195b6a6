"""Every reason that the crawler can give has a meaning."""

import ast
import pathlib

import pytest

import crawler_app
from crawler_app.crawl.host_state import HOST_FAULTS
from crawler_app.fetcher.errors import REASON_BY_CURL_ERROR
from crawler_app.fetcher.requests_.errors import REASONS
from crawler_app.models import NOFOLLOW, TOO_DEEP
from crawler_app.report.reasons import (
    BROKEN,
    OTHERWISE,
    REDIRECT_LOOP,
    REFUSED,
    is_broken,
    meaning_of,
)

SOURCE = pathlib.Path(crawler_app.__file__).parent

# Which argument of a call is the reason of a failure.
PLACE_BY_CALL = {"FetchError": 0, "failed": 1, "fail": 0}


def trees():
    for path in SOURCE.rglob("*.py"):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def constants_in_calls(place_by_name):
    """Yield the texts that are written in these places of calls of these functions."""
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                place = place_by_name.get(name)
                if place is not None and len(node.args) > place:
                    value = node.args[place]
                    if isinstance(value, ast.Constant) and isinstance(value.value, str):
                        yield value.value


def failures():
    found = set(constants_in_calls(PLACE_BY_CALL))
    found |= {reason for reason, _ in REASON_BY_CURL_ERROR.values()}
    found |= {reason for reason, _, _ in REASONS}
    return found | set(HOST_FAULTS) | {"timeout", "hook_error", "internal_error"}


def refusals():
    found = {NOFOLLOW, TOO_DEEP, *constants_in_calls({"Verdict": 1, "excluded": 0})}
    for path, tree in trees():
        if path.name == "traps.py":
            found |= set(_returned(tree))
        if path.name == "admission.py":
            found |= set(_assigned(tree, "trap"))
    return found


def _returned(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            values = [getattr(each, "value", "") for each in ast.walk(node.value)]
            yield from (v for v in values if isinstance(v, str) and v.isidentifier())


def _assigned(tree, name):
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if is_text and getattr(node.targets[0], "id", "") == name:
            yield node.value.value


def test_the_search_for_reasons_finds_those_of_each_kind():
    assert {"too_large", "tls", "bad_redirect", "robots_unreachable"} <= failures()
    assert {"private_address", "connection_closed", "dns"} <= failures()
    assert {"robots", "should_fetch", "out_of_scope", "path_repeats"} <= refusals()
    assert {"too_many_queries", "parameter_repeats", "nofollow"} <= refusals()


@pytest.mark.parametrize("reason", sorted(failures()))
def test_reason_of_a_failure_is_broken_or_our_own(reason):
    assert (reason in BROKEN) != (reason in OTHERWISE)


@pytest.mark.parametrize("reason", sorted(refusals()))
def test_reason_of_a_refusal_has_a_meaning(reason):
    assert reason in REFUSED


def test_no_meaning_is_left_of_a_reason_that_is_given_no_more():
    assert {*BROKEN, *OTHERWISE} - failures() == {REDIRECT_LOOP}
    assert set(REFUSED) == refusals()


def test_http_status_is_told_in_its_own_words():
    assert meaning_of("http_410") == "410 Gone"
    assert meaning_of("http_799") == "799"
    assert is_broken("http_503")


def test_unknown_reason_is_told_as_it_is():
    assert meaning_of("quite_new") == "quite new"
    assert not is_broken("quite_new")
