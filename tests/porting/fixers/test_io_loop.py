"""``io_loop=`` of Tornado's own functions is left out."""

import pytest

from tests.helpers.porting.converting import converted

HEAD = """\
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop, PeriodicCallback

"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("AsyncHTTPClient(IOLoop.current())", "AsyncHTTPClient()"),
        (
            "AsyncHTTPClient(io_loop=None, max_clients=2)",
            "AsyncHTTPClient(max_clients=2)",
        ),
        (
            "PeriodicCallback(print, 9, io_loop=IOLoop.current())",
            "PeriodicCallback(print, 9)",
        ),
        ("AsyncHTTPClient(io_loop=loop)", "AsyncHTTPClient(io_loop=loop)"),
        ("connect(io_loop=None)", "connect(io_loop=None)"),
    ],
)
def test_argument(before, after):
    assert converted(f"{HEAD}{before}\n").endswith(f"\n\n{after}\n")


def test_loop_of_a_test_is_the_current_one():
    source = """\
from tornado.httpclient import AsyncHTTPClient
from tornado.testing import AsyncTestCase

class Test(AsyncTestCase):
    def client(self):
        return AsyncHTTPClient(self.io_loop)
"""

    assert "AsyncHTTPClient()\n" in converted(source)
