"""Options: the properties derived from a field, and the errors for values."""

from dataclasses import dataclass

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import REQUIRED, option, options_of
from crawler_app.base.config.units import SECONDS
from crawler_app.base.config.validators import count, seconds
from crawler_app.base.errors import ConfigError


@dataclass(frozen=True)
class Kettle:
    water: tuple[str, ...] = option(REQUIRED, "which", flag="")
    cups: int = option(2, "how many", rule=count(1, 8))
    wait_time_s: float | None = option(
        None, "how long", unit=SECONDS, shown_default="until it boils"
    )
    whistles: bool = option(True, "announce it")
    is_new: bool | None = option(None, "descale it", named_off_flag="--is-old")
    lid: bool = option(False, "close it", flag="")
    code: str = option("", "to unlock", flag="--pin", metavar="PIN", is_secret=True)
    fuel: str = option("gas", "heat", choices=("gas", "wood"))
    shelf: str = option("", "where", is_saved=False)


OPTIONS = {each.name: each for each in options_of(Kettle)}


@pytest.mark.parametrize(
    ("name", "flag", "off_flag", "key", "metavar", "default_words"),
    [
        ("cups", "--cups", "", "cups", "N", "2"),
        ("wait_time_s", "--wait-time", "", "wait-time", "DURATION", "until it boils"),
        ("whistles", "--whistles", "--no-whistles", "whistles", "", "on"),
        ("lid", "", "--no-lid", "lid", "", "off"),
        ("is_new", "--is-new", "--is-old", "is-new", "", ""),
        ("code", "--pin", "", "code", "PIN", ""),
        ("fuel", "--fuel", "", "fuel", "NAME", "gas"),
        ("water", "", "", "water", "TEXT", ""),
        ("shelf", "--shelf", "", "shelf", "TEXT", ""),
    ],
)
def test_names_follow_from_the_field(name, flag, off_flag, key, metavar, default_words):
    found = OPTIONS[name]

    assert (found.flag, found.off_flag, found.key) == (flag, off_flag, key)
    assert found.is_switch or found.metavar == metavar
    assert found.default_words == default_words


def test_options_have_the_order_and_types_of_the_fields():
    assert list(OPTIONS) == list(Kettle.__annotations__)
    assert [each.annotation for each in OPTIONS.values()] == list(
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
def test_invalid_value_is_reported_with_the_given_name(name, value, complaint):
    with pytest.raises(ConfigError) as caught:
        OPTIONS[name].check(value, "--it")

    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    ("name", "value"),
    [("cups", 1), ("cups", 8), ("fuel", "wood"), ("wait_time_s", None), ("code", "1")],
)
def test_allowed_value_is_accepted(name, value):
    OPTIONS[name].check(value, name)


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (seconds("a day"), (0.001, 86_400), (0, -1, 86_401, float("nan"))),
        (seconds("a day", least_s=0.0), (0, 86_400.0), (-0.1, float("inf"))),
        (seconds("a year"), (365 * 86_400,), (366 * 86_400,)),
    ],
)
def test_duration_is_within_its_range(rule, right, wrong):
    for value in right:
        rule("wait", value)
    for value in wrong:
        with pytest.raises(ConfigError, match="^wait is .* a duration"):
            rule("wait", value)


def test_secret_is_not_shown():
    kettle = Kettle(("tap",), code="1234", shelf="top")

    assert "1234" not in repr(kettle)
    assert kettle == Kettle(("tap",), code="1234", shelf="bottom")
    assert kettle != Kettle(("tap",), code="4321", shelf="top")


def test_no_two_options_of_a_crawl_share_a_name():
    options = options_of(CrawlConfig)

    for names in (
        [each.name for each in options],
        [each.key for each in options],
        [flag for each in options for flag in (each.flag, each.off_flag) if flag],
    ):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("each", options_of(CrawlConfig), ids=lambda each: each.name)
def test_default_of_each_option_can_be_given(each):
    if each.default is not REQUIRED:
        each.check(each.default, each.name)
    assert each.help
    assert each.help[0].islower() or each.help.startswith("HTTP")
    assert not each.help.endswith(".")
