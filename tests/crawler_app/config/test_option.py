"""Knobs: what follows from a field, and what is refused in whose words."""

from dataclasses import dataclass

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.config.option import REQUIRED, knob, knobs_of
from crawler_app.config.validators import count, seconds
from crawler_app.errors import ConfigError


@dataclass(frozen=True)
class Kettle:
    water: tuple[str, ...] = knob(REQUIRED, "which", option="")
    cups: int = knob(2, "how many", rule=count(1, 8))
    wait_time_s: float | None = knob(
        None, "how long", unit="seconds", shown_default="until it boils"
    )
    whistles: bool = knob(True, "be quiet")
    is_new: bool | None = knob(
        None, "descale it", opposite=("--is-old", "leave it as it is")
    )
    code: str = knob("", "to unlock", option="--pin", metavar="PIN", is_secret=True)
    fuel: str = knob("gas", "heat", choices=("gas", "wood"))
    shelf: str = knob("", "where", is_saved=False)


KNOBS = {each.name: each for each in knobs_of(Kettle)}


@pytest.mark.parametrize(
    ("name", "option", "key", "default_words"),
    [
        ("cups", "--cups", "cups", "2"),
        ("wait_time_s", "--wait-time", "wait-time", "until it boils"),
        ("whistles", "--no-whistles", "whistles", ""),
        ("is_new", "--is-new", "is-new", ""),
        ("code", "--pin", "code", ""),
        ("fuel", "--fuel", "fuel", "gas"),
        ("water", "", "water", ""),
    ],
)
def test_names_follow_from_the_field(name, option, key, default_words):
    found = KNOBS[name]

    assert (found.option, found.key) == (option, key)
    assert found.default_words == default_words


def test_what_stands_for_a_value_follows_from_its_type():
    metavars = {name: found.metavar for name, found in KNOBS.items()}

    assert metavars["cups"] == "N"
    assert metavars["wait_time_s"] == "SECONDS"
    assert metavars["water"] == metavars["shelf"] == "TEXT"
    assert metavars["fuel"] == "NAME"
    assert metavars["code"] == "PIN"


def test_switch_knows_the_option_that_turns_it_off():
    assert KNOBS["whistles"].off_option == "--no-whistles"
    assert KNOBS["is_new"].off_option == "--is-old"
    assert KNOBS["fuel"].off_option == ""


def test_knobs_come_in_the_order_of_the_fields_with_their_types():
    assert list(KNOBS) == list(Kettle.__annotations__)
    assert [each.annotation for each in KNOBS.values()] == list(
        Kettle.__annotations__.values()
    )


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("cups", 0, "--it is 0; it must be a whole number, at least 1 and at most 8"),
        ("cups", 9, "--it is 9; it must be a whole number, at least 1 and at most 8"),
        ("cups", None, "--it is None; it must be a whole number"),
        ("fuel", "hope", "--it is 'hope'; it must be gas or wood"),
        ("wait_time_s", "1", "--it is '1'; it must be a number or None"),
        ("code", 1234, "--it must be a string, not of type int"),
    ],
)
def test_value_that_cannot_be_is_refused_by_the_name_given(name, value, complaint):
    with pytest.raises(ConfigError) as caught:
        KNOBS[name].check(value, "--it")

    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    ("name", "value"),
    [("cups", 1), ("cups", 8), ("fuel", "wood"), ("wait_time_s", None), ("code", "1")],
)
def test_value_that_can_be_is_accepted(name, value):
    KNOBS[name].check(value, name)


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (seconds("a day"), (0.001, 86_400), (0, -1, 86_401, float("nan"))),
        (seconds("a day", may_be_0=True), (0, 86_400.0), (-0.1, float("inf"))),
        (seconds("a year"), (365 * 86_400,), (366 * 86_400,)),
    ],
)
def test_duration_has_its_edges(rule, right, wrong):
    for value in right:
        rule("wait", value)
    for value in wrong:
        with pytest.raises(ConfigError, match="^wait is .* a number of seconds"):
            rule("wait", value)


def test_secret_is_not_shown_and_what_is_not_saved_is_not_compared():
    kettle = Kettle(("tap",), code="1234", shelf="top")

    assert "1234" not in repr(kettle)
    assert kettle == Kettle(("tap",), code="1234", shelf="bottom")
    assert kettle != Kettle(("tap",), code="4321", shelf="top")


def test_no_two_knobs_of_a_crawl_share_a_name():
    knobs = knobs_of(CrawlConfig)

    for names in (
        [each.name for each in knobs],
        [each.key for each in knobs],
        [each.option for each in knobs],
    ):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("each", knobs_of(CrawlConfig), ids=lambda each: each.name)
def test_default_of_a_crawl_can_be_given_too(each):
    if each.default is not REQUIRED:
        each.check(each.default, each.name)
    assert each.help
    assert each.help[0].islower() or each.help.startswith("HTTP")
    assert not each.help.endswith(".")
