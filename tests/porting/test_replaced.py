"""What may take the place of a coroutine, or look it up, is listed."""

import pytest

from tests.helpers.porting.converting import HEAD, listed, reasons

SOURCE = (
    HEAD
    + """\
import inspect
from unittest import mock

class Cart(object):
    @gen.coroutine
    def total(self): yield None

def other(cart, name):
    {0}
"""
)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("cart.total = name", "replaced"),
        ("mock.patch('shop.Cart.total')", "named-in-text"),
        ("mock.patch.object(Cart, 'total')", "named-in-text"),
        ("setattr(cart, 'total', name)", "named-in-text"),
        ("getattr(cart, 'total')()", "named-in-text"),
        ("getattr(cart, name)()", "computed-name"),
        ("x = getattr(cart, name)\n    x()", "computed-name"),
        ("inspect.getmembers(cart)", "computed-name"),
        ("globals()[name]()", "computed-name"),
    ],
)
def test_place_is_listed_and_does_not_stop(body, reason):
    source = SOURCE.format(body)

    assert reasons(source) == {}
    assert f"{reason}:" in " ".join(listed(source))


@pytest.mark.parametrize(
    "body",
    [
        "cart.other = name",
        "getattr(cart, 'x', None)",
        "getattr(cart, name) == 1",
        "cart.total = None",
    ],
)
def test_other_places_are_not(body):
    assert listed(SOURCE.format(body)) == []
