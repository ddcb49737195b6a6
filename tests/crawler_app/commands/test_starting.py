"""Start URLs that lead to a login page."""

import pytest

LOGIN = b"<form method=post><input name=u><input name=p type=Password></form>"


@pytest.mark.parametrize("given", [(), ("--auth", "me:word")])
@pytest.mark.parametrize("command", ["crawl", "check"])
def test_start_that_leads_to_a_login_page_is_named(
    site, gencrawl, tmp_path, command, given
):
    site.redirect("/", "/login")
    site.answer("/login", LOGIN, headers={"Content-Type": "text/html"})

    ended = gencrawl(command, site.url, "--into", tmp_path / "x", *given)

    cure = (
        "is not accepted, or has expired."
        if given
        else "with --cookies, or --login RECIPE."
    )
    lines = (ended.out + ended.err).splitlines()
    (line,) = [each for each in lines if "asks for a password" in each]
    assert f"{site.url} leads to {site.url}login, which asks for" in line
    assert line.endswith(cure)

    assert ended.status == (1 if command == "check" else 0)


@pytest.mark.parametrize("links", [3, 20])
def test_start_that_is_only_a_login_page_leaves_a_check_incomplete(
    site, gencrawl, links
):
    paths = [f"/{number}" for number in range(links)]
    anchors = "".join(f'<a href="{path}">x</a>' for path in paths)
    site.answer("/", LOGIN + anchors.encode())
    site.pages(*paths)

    ended = gencrawl("check", site.url)

    is_mere = links == 3
    assert (
        "is a login page, which asks for a password" in ended.out + ended.err
    ) is is_mere
    assert ended.status == int(is_mere)
