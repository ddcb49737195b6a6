"""A site whose server answers every URL with the same shell, which a script fills."""

import json

import pytest

from tests.helpers.site import Answer

SHELL = (
    b"<!doctype html><title>App</title><link rel=stylesheet href=/gone.css>"
    b"<div id=root></div><script src=/app.js></script><link rel=icon href=/empty.png>"
)
HTML = {"Content-Type": "text/html"}


@pytest.fixture
def shell(site):
    site.answer("/", SHELL, headers=HTML)
    site.answer("/gone.css", SHELL, headers=HTML)
    site.answer("/app.js", b"alert(1)", headers={"Content-Type": "text/javascript"})
    site.answer("/empty.png", headers={"Content-Type": "image/png"})
    return site


def test_page_in_place_of_an_asset_is_broken(shell, gencrawl):
    ended = gencrawl("check", shell.url, "--format", "json")

    found = json.loads(ended.out)
    targets = {each["target"]: each["reason"] for each in found["findings"]}
    assert targets == {
        f"{shell.url}{name}": "wrong_type" for name in ("gone.css", "empty.png")
    }
    assert found["summary"]["made_by_script"] == 1
    assert ended.status == 3


@pytest.mark.parametrize(
    ("name", "kind", "body"),
    [
        ("a.js", "text/html", b"alert(1)"),
        ("a.png", "text/html", b"\x89PNG\r\n\x1a\n"),
        ("a.css", "text/css", b""),
        ("a.js", "application/javascript", b""),
    ],
)
def test_asset_that_browsers_use_is_not_broken(site, gencrawl, name, kind, body):
    site.answer("/", f"<a href=/>x</a><img src=/{name}>".encode())
    site.answer(f"/{name}", body, headers={"Content-Type": kind})

    assert gencrawl("check", site.url).status == 0


def test_shell_in_a_folder_is_named_as_a_file(gencrawl, tmp_path):
    (tmp_path / "app.html").write_bytes(b"<div id=root></div><script>x</script>")

    ended = gencrawl("check", tmp_path, "--quiet")

    assert ended.status == 1
    assert (
        f"start URL: {tmp_path / 'app.html'}: a script makes" in ended.out + ended.err
    )


def test_shell_is_never_green(site, gencrawl, tmp_path):
    site.answer("/", b"<div id=root></div><script>x</script>", headers=HTML)

    check = gencrawl("check", site.url)
    crawl = gencrawl("crawl", site.url, "--into", tmp_path / "x", "--quiet")
    report = gencrawl("report", tmp_path / "x", "--format", "md", "--fail-on", "broken")
    status = json.loads(gencrawl("status", tmp_path / "x", "--json").out)

    assert (check.status, crawl.status, report.status) == (1, 1, 1)
    assert crawl.err.startswith("Nothing was read: a script makes the page in the")
    for text in (check.out, crawl.out, report.out):
        assert "a script makes the page in the browser" in " ".join(text.split())
    assert "No broken links\n" not in report.out
    assert status["made_by_script"] == 1


@pytest.mark.parametrize("option", ["--soft-404", "--no-soft-404"])
def test_host_that_has_a_page_for_everything_is_a_finding(site, gencrawl, option):
    site.page("/", "/a")
    site.page("/a")
    site.otherwise = [Answer(b"No such page")]

    ended = gencrawl("check", site.url, option, "--assets", "none", "--no-external")

    assert ended.status == (3 if option == "--soft-404" else 0)
    line = f"host -> {site.url}  it answers a URL that does not exist with a page"
    assert (line in ended.out) is (option == "--soft-404")
