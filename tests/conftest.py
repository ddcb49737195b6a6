"""Options of the test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--programs",
        type=int,
        default=None,
        metavar="N",
        help="compare N random programs on gencoro and Tornado, new ones each time "
        "(without the option: always the same 2000)",
    )
