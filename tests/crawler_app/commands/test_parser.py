"""Usage errors: one sentence that names the cure, and exit status 2."""

import pytest

from crawler_app.commands.main import COMMANDS, make_parser

URL = "http://a.test/"
NO_START = "cannot start from this URL:"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("crwl x", "there is no command 'crwl'; did you mean crawl?"),
        ("zzz", "there is no command 'zzz'; there are crawl, resume, check, report,"),
        (URL, f"give a command before {URL}, such as `gencrawl check {URL}`"),
        ("--jsn", "there is no option --jsn; see `gencrawl --help`"),
        (
            "--quiet crawl x",
            "--quiet comes after the command: `gencrawl crawl --quiet`",
        ),
        (
            f"crawl {URL} --max-pges 3",
            "there is no option --max-pges; did you mean --max-pages? See `gencrawl",
        ),
        ("crawl --zzz=3", "there is no option --zzz; see `gencrawl crawl --help`"),
        (
            "status x --quiet",
            "there is no option --quiet; see `gencrawl status --help`",
        ),
        ("search x a --limt 3", "there is no option --limt; did you mean --limit? See"),
        ("status", "DIR is missing; see `gencrawl status --help`"),
        ("status x y", "unexpected argument 'y'; see `gencrawl status --help`"),
        ("crawl --into", "--into needs a value; see"),
        ("crawl --quiet=1", "--quiet takes no value, but has '1'; see"),
        ("crawl -q -v", "--quiet and --verbose exclude each other; see"),
        ("crawl --no-assets --assets", "--no-assets and --assets exclude each other"),
        (
            "crawl --max-p 3",
            "--max-p is ambiguous: it could be --max-pages, --max-path",
        ),
        ("export x --format jsn", "--format is 'jsn'; it must be jsonl or csv or cdxj"),
        (
            "crawl --scope hots",
            "--scope is 'hots'; it must be host or domain or prefix",
        ),
        ("search x --limit 0", "--limit is '0'; it must be a whole number, at least 1"),
        ("search x --limit a", "--limit is 'a'; it must be a whole number, at least 1"),
        ("check --format jsno .", "--format is 'jsno'; it must be text or json or jso"),
        ("help crwl", "there is no command 'crwl'; did you mean crawl?"),
        ("crawl --host-gap -1s", "--host-gap is '-1s'; it must be a duration"),
        (
            "crawl ./build/html --into x",
            f"{NO_START} './build/html' is not an http(s) URL; for files, use `gencrawl c",
        ),
        (
            "crawl file:///srv --into x",
            f"{NO_START} 'file:///srv' is not an http(s) URL; for files, use `gencrawl c",
        ),
        (
            "crawl http://me:secret@a.test/ --into x",
            f"{NO_START} the URL for 'a.test' contains a user name; give it with --auth",
        ),
        (
            f"crawl {URL} --into /proc/x",
            "cannot write into /proc/x: No such file or directory\n",
        ),
        (
            f"crawl {URL} --into /proc/x --cookies /nowhere",
            "cannot read the cookies in /nowhere: No such file or directory\n",
        ),
    ],
)
def test_usage_error_is_one_line_that_names_the_cure(gencrawl, words, complaint):
    ended = gencrawl(*words.split())

    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"gencrawl: {complaint}")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("words", [["help"], ["help", "crawl"], ["crawl", "-h"]])
def test_help_can_be_asked_for_as_a_command(gencrawl, words):
    ended = gencrawl(*words)

    assert ended.status == 0
    assert "usage: gencrawl" in ended.out


def test_program_alone_shows_the_commands_and_examples(gencrawl):
    ended = gencrawl()

    assert (ended.status, ended.out) == (2, "")
    for name in COMMANDS:
        assert f"\n  {name} " in ended.err
    assert "  gencrawl demo\n" in ended.err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns(gencrawl, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")

    shown = gencrawl(*command.split(), "--help").out

    assert max(map(len, shown.splitlines())) <= 80


def test_urls_may_be_interrupted_by_options(gencrawl):
    ended = gencrawl(
        "crawl", URL, "--tries", 3, "http://b.test/", "--into", "/dev/null/x"
    )

    assert "cannot write" in ended.err


def test_search_words_may_look_like_options():
    arguments, rest = make_parser()[0].parse_known_args(
        ["search", "kept", "a", "-without", "--limit", "3", "b"]
    )

    assert (arguments.words, arguments.limit, rest) == (["a", "-without", "b"], 3, [])
