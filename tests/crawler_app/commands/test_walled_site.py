"""What a crawl and its report say about a page that a bot wall stands before."""

CURE = "1 URL: a bot wall answered in place of the page; crawl more slowly"


def test_wall_is_counted_in_one_line_with_the_cure(site, cli):
    site.page("/", "/wall", "/gone")
    site.answer("/wall", status=403, headers={"cf-mitigated": "challenge"})

    crawl = cli("crawl", "--retry-pause", "0")
    report = cli("report", "--format", "md")

    assert f"http_404    {site.url}gone" in crawl.out
    assert f"blocked     {site.url}wall" not in crawl.out
    assert crawl.err.count(CURE) == report.out.count(CURE) == 1
    assert "Not checked: 1 URL that the host keeps from programs" in report.out
