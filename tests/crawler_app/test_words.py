"""How numbers are shown: the right unit, and no rounding past it."""

from crawler_app.words import size


def test_size_has_the_unit_that_fits():
    assert [size(n) for n in (0, 999, 1_000, 1_234_567, 2.5e9, 3e12)] == [
        "0 B",
        "999 B",
        "1.0 KB",
        "1.2 MB",
        "2.5 GB",
        "3.0 TB",
    ]
