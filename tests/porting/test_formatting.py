"""Files that ruff has formatted stay formatted."""

import pytest

from gencoro.porting import formatting
from gencoro.porting.formatting import keep_formatted

FORMATTED = b"def f(a, b):\n    return a\n"
OTHER = b"def f(a,b):\n    return a\n"
LONG = (
    b"async def f("
    + b", ".join(b"parameter%d" % n for n in range(9))
    + b"):\n    return 1\n"
)


@pytest.fixture
def _ruff():
    if formatting.find_ruff() is None:
        pytest.skip("ruff is not installed")


@pytest.mark.usefixtures("_ruff")
def test_formatted_file_stays_formatted():
    [text] = keep_formatted({"m.py": FORMATTED}, {"m.py": LONG}).values()

    assert max(map(len, text.splitlines())) <= 88


@pytest.mark.usefixtures("_ruff")
def test_other_file_is_not_formatted():
    assert keep_formatted({"m.py": OTHER}, {"m.py": LONG}) == {"m.py": LONG}


def test_without_ruff_nothing_is_formatted(monkeypatch):
    monkeypatch.setattr(formatting, "find_ruff", lambda: None)

    assert keep_formatted({"m.py": FORMATTED}, {"m.py": LONG}) == {"m.py": LONG}
