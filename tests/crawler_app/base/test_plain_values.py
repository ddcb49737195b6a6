"""Dataclasses of what JSON has."""

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import pytest

from crawler_app.base.plain_values import from_plain


class Color(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Part:
    color: Color
    weight: float | None = None


@dataclass
class Whole:
    name: str
    parts: dict[int, list[Part]] = field(default_factory=dict)


WHOLE = Whole("a", {3: [Part(Color.RED, 1.5), Part(Color.RED)]})
PLAIN = json.loads(json.dumps(asdict(WHOLE)))


def test_what_was_made_plain_is_the_same_again():
    assert from_plain(Whole, PLAIN) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"name": 3},
        {"name": None},
        {"more": 3},
        {"parts": []},
        {"parts": {"x": []}},
        {"parts": {"3": {}}},
        {"parts": {"3": ["red"]}},
        {"parts": {"3": [{"color": "red"}]}},
        {"parts": {"3": [{"color": "blue", "weight": 1}]}},
        {"parts": {"3": [{"color": "red", "weight": True}]}},
    ],
    ids=str,
)
def test_value_of_another_type_is_refused(change):
    with pytest.raises((TypeError, ValueError)):
        from_plain(Whole, PLAIN | change)


@pytest.mark.parametrize("value", [None, 3, "x", [], Whole])
def test_what_is_no_object_is_no_dataclass(value):
    with pytest.raises(TypeError, match="is not of type Whole"):
        from_plain(Whole, value)
