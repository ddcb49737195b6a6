"""gencrawl.toml in the working directory: when it is read, and its limits."""

import pathlib

import pytest

from crawler_app.base.errors import ConfigError

URL = "http://a.test/"
INVALID = "tries = 0"  # so that a crawl that reads it ends before it begins


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize("command", ["crawl", "check"])
@pytest.mark.parametrize(
    ("options", "is_read"),
    [((), True), (("--no-config",), False), (("--config", "other.toml"), False)],
)
def test_found_file_is_used_unless_another_is_named(
    gencrawl, here, command, options, is_read
):
    pathlib.Path("gencrawl.toml").write_text(INVALID)
    pathlib.Path("other.toml").write_text("retry-pause = -1")

    done = gencrawl(command, *options)

    assert done.status == 2
    assert ("Using gencrawl.toml; --no-config ignores it.\n" in done.err) is is_read
    assert ("gencrawl.toml: tries is 0;" in done.err) is is_read


def test_file_of_a_parent_directory_is_not_read(gencrawl, here):
    here.with_name("gencrawl.toml").write_text(INVALID)

    assert "give a URL" in gencrawl("crawl").err


def test_crawl_needs_only_the_file(gencrawl, site, here):
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")
    pathlib.Path("gencrawl.toml").write_text(
        f"seeds = '{site.url}'\ninto = 'kept'\nmax-bytes = '1MB'\nrobots = false"
    )

    done = gencrawl("crawl", "--quiet", "--max-pages", 2)

    assert done.status == 0
    assert site.paths[0] == "/"
    assert len(site.paths) == 2
    assert (here / "kept" / "crawl.json").exists()


def test_resume_reads_no_file(gencrawl, here):
    pathlib.Path("gencrawl.toml").write_text(INVALID)

    assert gencrawl("resume", "kept").err.startswith("gencrawl: kept does not exist")


@pytest.mark.parametrize(
    ("line", "given", "complaint"),
    [
        ("into = '../kept'", (), "into is"),
        ("into = '~/kept'", (), "into is"),
        ("into = 'link/kept'", (), "into is"),
        ("baseline = '../accepted.json'", (), "baseline is"),
        (
            "cookie-file = '/etc/passwd'",
            (),
            "cookie-file is /etc/passwd, which is outs",
        ),
        ("proxy = 'p.test:80'", (), "proxy would see every request"),
        ("ca = 'ca.pem'", (), "ca-file could vouch for every site"),
        ("deny-private = false", (), "deny-private = false would open your own netw"),
        (
            f"seeds = '{URL}'",
            ("--auth", "me:x"),
            "its start URLs would be sent your --a",
        ),
        (
            f"seeds = '{URL}'",
            ("--cookies", "c"),
            "its start URLs would be sent your --c",
        ),
        (
            f"seeds = '{URL}'\nauth = 'me'",
            (),
            "auth asks for a password for its own URLs",
        ),
    ],
)
def test_found_file_cannot_reach_beyond_its_directory(
    gencrawl, here, line, given, complaint
):
    here.joinpath("link").symlink_to(here.parent)
    pathlib.Path("gencrawl.toml").write_text(line)

    refused = gencrawl("check", *given)
    named = gencrawl("check", "--config", "gencrawl.toml", "--tries", 0, *given)

    assert (refused.status, named.status) == (2, 2)
    assert f"gencrawl: gencrawl.toml: {complaint}" in refused.err
    assert "--config gencrawl.toml" in refused.err
    assert "--tries is 0" in named.err


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("into = 'kept'", ()),
        ("into = '../kept'", ("--into", "kept")),
        ("deny-private = true", ()),
        ("baseline = 'a.json'\nfail-on = 'broken'\nignore = ['x']\nprocesses = 4", ()),
        ("deny-private = false", ("--deny-private",)),
        ("header = 'X-A: 1'", ()),
        (f"seeds = '{URL}'\nauth = 'me:x'", ()),
        (f"seeds = '{URL}'", (URL, "--auth", "me:x")),
    ],
)
def test_harmless_or_overridden_values_are_accepted(
    gencrawl, here, monkeypatch, line, given
):
    pathlib.Path("gencrawl.toml").write_text(line)

    def check(*_):
        raise ConfigError("the values are taken")

    monkeypatch.setattr("crawler_app.commands.check._targets", check)

    done = gencrawl("check", *given)

    assert done.status == 2
    assert "gencrawl: the values are taken" in done.err
