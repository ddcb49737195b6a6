"""Regular expressions match the same on every supported Python."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as codes
from re import _parser

import pytest

import crawler_app
import gencoro

pytestmark = pytest.mark.once

FAILS = repr([*_parser.parse("(?!)")])

# Operations that do not match without a step.
ONE_CHARACTER = {codes.ANY, codes.IN, codes.LITERAL, codes.NOT_LITERAL}


def modules():
    for package in (crawler_app, gencoro):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def patterns_in(value) -> Iterator[re.Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in([*value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from patterns_in(item)


def possessive_groups(parsed) -> Iterator[list]:
    """Yield the content of each ``(?:...)*+``, also of those in others."""
    if isinstance(parsed, _parser.SubPattern | tuple | list):
        for item in parsed:
            yield from possessive_groups(item)
    # Codes are numbers, as the characters are.
    if isinstance(parsed, tuple) and parsed and parsed[0] is codes.POSSESSIVE_REPEAT:
        yield list(parsed[1][2])


def fails_where_it_began(content: list) -> bool:
    """Return whether a group that does not match leaves the position as it was."""
    operation, value = content[0]
    if len(content) > 1:
        return False
    if operation is codes.BRANCH:
        alternatives = [list(alternative) for alternative in value[1]]
        return repr(alternatives[-1]) == FAILS or all(
            map(fails_where_it_began, alternatives)
        )
    if operation is codes.POSSESSIVE_REPEAT:
        return fails_where_it_began(list(value[2]))
    return operation in ONE_CHARACTER


def odd_groups(pattern: re.Pattern) -> list[list]:
    # A pattern for bytes has no re.UNICODE, and one for text may not be given it as well.
    parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    found = possessive_groups(parsed)
    return [content for content in found if not fails_where_it_began(content)]


def test_possessive_groups_end_in_an_alternative_that_fails():
    """Before Python 3.11.5 the rest of a pattern starts where the last try failed.

    https://github.com/python/cpython/issues/106052
    """
    odd = {
        f"{module.__name__}: {pattern.pattern!r}"
        for module in modules()
        for pattern in patterns_in([*vars(module).values()])
        if odd_groups(pattern)
    }

    assert not odd, 'let each possessive group end in "|(?!)"'


def test_pattern_that_older_pythons_match_wrongly_is_found():
    assert odd_groups(re.compile(r"(?:ab?c)*+"))
    assert odd_groups(re.compile(r"x(y(?:[^<]++|<(?!a))*+|z)"))
    assert not odd_groups(re.compile(r"(?:ab?c|(?!))*+[a-z]++(?:a|[bc]++)?+"))
