"""Errors for the values of options, and their defaults."""

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import REQUIRED, options_of
from crawler_app.base.config.validators import count, seconds
from crawler_app.base.errors import ConfigError

OPTIONS = {each.name: each for each in options_of(CrawlConfig)}


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        (
            "tries",
            0,
            "--it is 0; it must be a whole number, at least 1 and at most 100",
        ),
        ("tries", None, "--it is None; it must be a whole number"),
        ("render", "hope", "--it is 'hope'; it must be never or auto or always"),
        ("host_gap_s", "1", "--it is '1'; it must be a number"),
        ("auth", 1234, "--it must be a string, not of type int"),
    ],
)
def test_invalid_value_is_reported_with_the_given_name(name, value, complaint):
    with pytest.raises(ConfigError) as caught:
        OPTIONS[name].check(value, "--it")

    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (count(1, 8), (1, 8), (0, 9)),
        (seconds("a day"), (0.001, 86_400), (0, -1, 86_401, float("nan"))),
        (seconds("a day", least_s=0.0), (0, 86_400.0), (-0.1, float("inf"))),
        (seconds("a year"), (365 * 86_400,), (366 * 86_400,)),
    ],
)
def test_number_is_within_its_range(rule, right, wrong):
    for value in right:
        rule("it", value)
    for value in wrong:
        with pytest.raises(ConfigError, match="^it is .*; it must be "):
            rule("it", value)


@pytest.mark.parametrize("each", OPTIONS.values(), ids=lambda each: each.name)
def test_default_of_each_option_can_be_given(each):
    if each.default is not REQUIRED:
        each.check(each.default, each.name)
    assert each.help
    assert each.help[0].islower() or each.help.startswith("HTTP")
    assert not each.help.endswith(".")
