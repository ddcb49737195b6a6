"""The progress table: its contents, and any terminal size."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from crawler_app.run.crawl import Failure
from crawler_app.show.terminal.live_display import CrawlTable, sparkline


def drawn(table, *, width=80, height=40, encoding="utf-8", **options):
    """Return the lines that rich prints of a table."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    Console(file=file, width=width, height=height, **options).print(table)
    file.flush()
    return file.buffer.getvalue().decode(encoding).splitlines()


def failures(*urls, reason="timeout"):
    return [Failure(0.0, url, reason, "") for url in urls]


def test_table_shows_the_whole_sample(sample):
    text = "\n".join(drawn(CrawlTable(sample(), (0.0, 52.3), "dashboard: here")))

    for part in (
        "running  1:02",
        "done      queued   under way      failed     skipped",
        "1,234      10,245           8          12          34",
        "52 fetches/s, 1.2 MB/s  ▁█",
        "45.6 MB in 1,345 fetches",
        "5  a.test",
        "3  b.test",
        "http_404  http://a.test/gone",
        "dashboard: here",
        "Ctrl-C stops the crawl; results are kept",
    ):
        assert part in text


@pytest.mark.parametrize("width", [20, 40, 63, 64, 80, 200])
@pytest.mark.parametrize("height", [5, 14, 24, 50])
def test_table_fits_into_every_terminal(sample, width, height):
    crowd = [(f"host{n}.example.org", 9) for n in range(8)]
    lost = failures(*[f"http://host{n}.example.org/{'x' * 300}" for n in range(9)])
    table = CrawlTable(
        sample(under_way_by_host=crowd, failures=lost), (1.0,) * 90, "n" * 200
    )

    lines = drawn(table, width=width, height=height)

    assert max(map(cell_len, lines)) == min(width, 120)
    # So many cannot be left out; on a smaller terminal rich cuts off the last ones.
    assert len(lines) <= max(height, 11 if width >= 64 else 14)


def test_lists_are_as_long_as_there_is_room(sample):
    crowd = [(f"host{n}.test", 9) for n in range(8)]
    lost = failures(*[f"http://a.test/{n}" for n in range(9)])
    table = CrawlTable(sample(under_way_by_host=crowd, failures=lost))

    high = "\n".join(drawn(table, height=50))
    low = "\n".join(drawn(table, height=18))

    assert high.count(".test\n") == 0 and high.count("host") == 5
    assert "and 3 more" in high
    assert high.count("timeout") == 5
    assert 0 < low.count("host") < 5
    assert 0 < low.count("timeout") < 5


def test_counts_are_stacked_on_a_narrow_terminal(sample):
    lines = drawn(CrawlTable(sample()), width=40)

    assert "│ under way             8              │" in lines


@pytest.mark.parametrize("width", [40, 80])
def test_both_ends_of_a_long_url_are_shown(sample, width):
    url = f"http://docs.example.org/{'x' * 200}/end.html"
    text = "\n".join(drawn(CrawlTable(sample(failures=failures(url))), width=width))

    assert "http://" in text and ".html" in text and "…" in text


def test_server_text_is_escaped_and_not_interpreted(sample):
    url = "http://a.test/[red]x[/red]\x1b[2J\r\n:smile:[/"
    table = CrawlTable(
        sample(failures=failures(url), under_way_by_host=[("[b]\x07host", 1)])
    )

    text = "\n".join(drawn(table, width=120))

    assert r"http://a.test/[red]x[/red]\x1b[2J\r\n:smile:[/" in text
    assert r"[b]\x07host" in text
    assert text.replace("\n", "").isprintable()


def test_terminal_without_utf8_gets_ascii(sample):
    url = f"http://a.test/ü{'x' * 200}"
    table = CrawlTable(sample(failures=failures(url)), (1.0, 2.0))

    text = "\n".join(drawn(table, encoding="ascii"))

    assert text.isascii()
    assert r"http://a.test/\xfcxxx" in text
    assert "..." in text
    assert {len(line) for line in text.splitlines() if line} == {80}


@given(st.lists(st.floats(0, 1e9)))
def test_sparkline_has_one_rising_bar_for_each_number(rates):
    bars = sparkline(rates)

    assert len(bars) == len(rates)
    assert sorted(bars) == [bar for _, bar in sorted(zip(rates, bars, strict=True))]
