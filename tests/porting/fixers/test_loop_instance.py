"""``IOLoop.instance()`` becomes ``IOLoop.current()``."""

import pytest

from tests.helpers.porting.converting import converted

HEAD = "from tornado.ioloop import IOLoop\n"


def test_call_is_replaced():
    assert (
        converted(f"{HEAD}IOLoop.instance().start()\n")
        == f"{HEAD}IOLoop.current().start()\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "from mylib import IOLoop\nIOLoop.instance().start()\n",
        f"import threading\n{HEAD}IOLoop.instance().start()\n",
        f"from concurrent.futures import ThreadPoolExecutor\n{HEAD}IOLoop.instance().start()\n",
        f"{HEAD}IOLoop.clear_current()\nIOLoop.instance().start()\n",
        f"{HEAD}loop = IOLoop.instance\n",
    ],
)
def test_other_is_left(source):
    assert converted(source) == source
