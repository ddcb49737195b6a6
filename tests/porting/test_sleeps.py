"""``gen.Task`` of a timer."""

import pytest

from tests.helpers.porting.converting import converted

HEAD = "import time\nfrom datetime import timedelta\nfrom tornado import gen\n\n"


@pytest.mark.parametrize(
    ("task", "after"),
    [
        ("loop.add_timeout, time.time() + 5", "gen.sleep(5)"),
        ("loop.add_timeout, x + loop.time()", "gen.sleep(x)"),
        ("loop.add_timeout, timedelta(seconds=x)", "gen.sleep(x)"),
        ("loop.call_later, 5", "gen.sleep(5)"),
        ("loop.add_timeout, x", "gen.Task(loop.add_timeout, x)"),
        ("loop.other, 5", "gen.Task(loop.other, 5)"),
    ],
)
def test_task(task, after):
    text = converted(
        f"{HEAD}@gen.coroutine\ndef f(loop, x):\n    yield gen.Task({task})\n"
    )

    assert text.endswith(f"    await {after}\n")
