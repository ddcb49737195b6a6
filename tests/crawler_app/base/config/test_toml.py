"""Configuration files in TOML: names of keys, errors, and paths."""

import doctest
import pathlib
import re
import shlex

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.config.toml import read_config_file
from crawler_app.base.errors import ConfigError
from crawler_app.commands.arguments import add_crawl
from crawler_app.commands.config_options import config_of
from crawler_app.commands.parser import CommandParser

OPTIONS = options_of(CrawlConfig)
GUIDE = pathlib.Path(__file__).parents[4] / "docs" / "config.rst"


# TOML and Python read hexadecimal numbers too long to write in decimal.
HUGE = f"0x{'f' * 5000}"


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a text as if it were a file site.toml."""

    def read_text(text):
        file = tmp_path / "site.toml"
        file.write_text(text, encoding="utf-8")
        return read_config_file(file, OPTIONS)

    return read_text


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("max-pages = 9", "max_pages", 9),
        ("max_pages = 9", "max_pages", 9),
        ("host-gap = 0.5", "host_gap_s", 0.5),
        ("host_gap = 2", "host_gap_s", 2),
        ("host_gap_s = 2", "host_gap_s", 2),
        ("host-gap-s = 2", "host_gap_s", 2),
        ("host-gap = '1m30s'", "host_gap_s", 90),
        ("max-bytes = '10MB'", "max_bytes", 10_000_000),
        ("header = ['X-A: 1']", "headers", ("X-A: 1",)),
        ("headers = ['X-A: 1']", "headers", ("X-A: 1",)),
        ("seeds = ['http://a.test/']", "seeds", ("http://a.test/",)),
        ("seeds = 'http://a.test/'", "seeds", ("http://a.test/",)),
        ("include = '/docs/'", "include", ("/docs/",)),
        ("include = []", "include", ()),
        ("cookies = false", "cookies", False),
        ("robots = true", "robots", True),
        ("deny-private = false", "deny_private", False),
        ("into = ''", "into", ""),
    ],
)
def test_key_is_the_name_of_the_field_or_the_option(read, line, name, value):
    assert read(line) == {name: value}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("max-page = 9", "there is no option 'max-page'; did you mean max-pages?"),
        ("hostgap = 9", "there is no option 'hostgap'; did you mean host-gap?"),
        ("zzz = 9", "there is no option 'zzz'; see gencrawl crawl --help"),
        ("max-pages = 1\nmax_pages = 1", "max-pages and max_pages are the same; "),
        ("host_gap_s = 1\nhost-gap = 1", "host_gap_s and host-gap are the same; "),
        ("max-pages = -1", "max-pages is -1; it must be a whole number, at least 0"),
        ("max_pages = '9'", 'max_pages is "9"; it must be a whole number'),
        ("max-pages = true", "max-pages is true; it must be a whole number"),
        ("host-gap = nan", "host-gap is nan; it must be a duration"),
        ("max-bytes = 'much'", 'max-bytes is "much"; it must be a size such as 500kB'),
        ("max-bytes = [1]", "max-bytes is [1]; it must be a size such as 500kB"),
        ("host-gap = '1x'", 'host-gap is "1x"; it must be a duration such as 250ms,'),
        ("include = 7", "include is 7; it must be a list of strings"),
        ("include = ['/a/', 7]", 'include is ["/a/", 7]; it must be a list of str'),
        ("include = ['(']", "include has '(', which is not a valid regular ex"),
        ("robots = 'no'", 'robots is "no"; it must be true or false'),
        ("robots = 0", "robots is 0; it must be true or false"),
        ("contact = 2026-01-01", 'contact is "2026-01-01"; it must be a string'),
        ("scope = 'world'", "scope is 'world'; it must be host or domain or prefix"),
        ("contact = 'ü.test'", "contact is 'ü.test'; it must be an e-mail address"),
        ("seeds = []", "a crawl needs a URL to start from"),
        ("seeds = 'a.test'", "cannot start from this URL: 'a.test' is not an http(s)"),
        ("no-robots = true", "no-robots is not a key; write `robots = false`"),
        ("no_cookies = true", "no_cookies is not a key; write `cookies = false`"),
        ("allow-private = true", "allow-private is not a key; write `deny-private = f"),
        ("cookies = 'c.txt'", "cookies must be true or false; did you mean cookie-f"),
        ("headers = ['X-A: 1', 'b']", "headers, number 2: it must be 'Name: value'"),
        ("header = ['Host: a']", "header, number 1: Host cannot be set: it is set"),
        ("[site]\nmax-pages = 1", "'site' is a table; every option is a key by it"),
        ("max-pages.a = 1", 'max-pages is {"a": 1}; it must be a whole number'),
        ("max-pages = \n", "is not valid TOML: Invalid value (at line 1, column 13)"),
        ("tries = 1\ntries = 2", "is not valid TOML: Cannot overwrite a value"),
        ("max-pages = " + "9" * 5000, "is not valid TOML: "),
        ("include = " + "[" * 9000, "is nested too deeply; "),
        (f"max-pages = {HUGE}", "max-pages is a number too long to show; it must"),
        (f"host-gap = {HUGE}", "host-gap is a number too long to show; it must"),
        (f"contact = {HUGE}", "contact is a number too long to show; it must"),
        (f"include = [{HUGE}]", "include is a list too long to show; it must"),
        ("into = '~nobody-of-that/x'", "into is '~nobody-of-that/x'; it must be"),
    ],
)
def test_error_names_the_file_and_the_key(read, text, complaint):
    with pytest.raises(ConfigError, match=re.escape(f"site.toml: {complaint}")):
        read(text)


@pytest.mark.parametrize(
    "text", ["auth = 57005", "proxy = ['57005']", "header = 57005", "headers = [57005]"]
)
def test_invalid_secret_is_not_shown(read, text):
    with pytest.raises(ConfigError, match="must be a ") as caught:
        read(text)

    assert "57005" not in str(caught.value)


@pytest.mark.parametrize("line", ["max-time = 5m", "max-bytes = 1.5 GiB  # much\r"])
def test_value_with_a_unit_needs_quotes(read, line):
    with pytest.raises(ConfigError, match='with a unit in quotes, such as "5m"$'):
        read(f"tries = 1\n{line}\n")


def test_relative_paths_are_relative_to_the_file(read, tmp_path):
    values = read("into = 'kept/docs'\ncookie-file = '/etc/cookies.txt'")

    assert values["into"] == str(tmp_path / "kept" / "docs")
    assert values["cookie_file"] == "/etc/cookies.txt"


def test_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no.toml: cannot be read: No such file"):
        read_config_file(tmp_path / "no.toml", OPTIONS)


def test_endless_file_is_refused():
    with pytest.raises(ConfigError, match=r"/dev/zero: cannot be read: it has more"):
        read_config_file("/dev/zero", OPTIONS)


def test_file_in_another_charset_is_refused(tmp_path):
    file = tmp_path / "site.toml"
    file.write_bytes(b"contact = '\xff'")

    with pytest.raises(ConfigError, match=r"site.toml: is not valid TOML: .*utf-8"):
        read_config_file(file, OPTIONS)


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    file = tmp_path / "site.toml"
    file.write_bytes(b"\xef\xbb\xbfmax-pages = 1\r\ntries = 2\r\n")

    assert read_config_file(file, OPTIONS) == {"max_pages": 1, "tries": 2}


def code_block(language):
    """Return the first such block of the guide, without its indent."""
    text = GUIDE.read_text(encoding="utf-8")
    found = re.search(rf"\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", text)
    return re.sub("(?m)^   ", "", found[1])


def test_three_ways_in_the_guide_are_equivalent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("site.toml").write_text(code_block("toml"), encoding="utf-8")
    program, command, *words = shlex.split(code_block("sh").replace("\\\n", " "))
    examples = doctest.DocTestParser().get_doctest(
        GUIDE.read_text(encoding="utf-8"), {}, GUIDE.name, str(GUIDE), 0
    )
    doctest.DocTestRunner().run(examples, clear_globs=False)
    parser = CommandParser()
    add_crawl(parser)

    by_options = config_of(parser.parse_args(words))
    by_file = config_of(parser.parse_args(["--config", "site.toml"]))

    assert (program, command) == ("gencrawl", "crawl")
    assert by_options == by_file == CrawlConfig.from_toml("site.toml")
    by_python = examples.globs["config"]
    assert by_options == by_python != CrawlConfig(by_options.seeds)
    assert by_options.into == by_file.into == by_python.into == "docs-crawl"


def test_tilde_is_the_home_directory(read, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")

    assert read("into = '~/crawls'") == {"into": "/home/me/crawls"}
