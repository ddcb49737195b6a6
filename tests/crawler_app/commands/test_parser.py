"""Usage errors: one sentence that names the cure, and exit status 2."""

import re

import pytest

from crawler_app.commands.command_table import COMMANDS, POSTGRES, make_parser

URL = "http://a.test/"
NO_START = "cannot start from this URL:"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("crwl x", "there is no command 'crwl'; did you mean crawl?"),
        (
            "zzz",
            "there is no command 'zzz'; there are crawl, resume, check, watch, report,",
        ),
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
        # Other commands have these, and nothing here is like them.
        ("check x --json", "there is no option --json; see `gencrawl check --help`"),
        ("search x a --max-pages 3", "there is no option --max-pages; see"),
        (f"crawl {URL} --retry-failed", "there is no option --retry-failed; see"),
        (f"crawl {URL} --into x --stay", "--stay needs --dashboard"),
        (f"check {URL} --update-baseline", "--update-baseline needs --baseline FILE"),
        (f"check {URL} --fail-on new", "--fail-on new needs --baseline FILE or --into"),
        ("check", "give a URL, a file or a folder to check"),
        ("check nothing/there", "there is no file or folder 'nothing/there'; a URL"),
        ("check /dev/null", "/dev/null is neither a file nor a folder"),
        ("status", "DIR is missing; see `gencrawl status --help`"),
        ("status x y", "unexpected argument 'y'; see `gencrawl status --help`"),
        ("crawl --into", "--into needs a value; see"),
        ("crawl --quiet=1", "--quiet takes no value, but has '1'; see"),
        ("crawl -q -v", "--quiet and --verbose exclude each other; see"),
        ("crawl --no-robots=1", "--no-robots takes no value, but has '1'; see"),
        (
            "crawl --max-b 3",
            "--max-b is ambiguous: it could be --max-bytes, --max-body-bytes",
        ),
        (
            "crawl --max-url-chars 9",
            "--max-url-chars is set in a file only: `max-url-chars = ...` in gencrawl.toml",
        ),
        (
            "check --processes=2 x",
            "--processes is not an option of `check`, which runs in one process; leave",
        ),
        (
            "resume x --scope any",
            "--scope was set when the crawl began, and cannot be changed",
        ),
        (
            "postgres work --quiet",
            "URL is missing; see `gencrawl postgres work --help`",
        ),
        (
            "postgres --quiet list postgresql://a.test/x",
            "there is no option --quiet; see `gencrawl postgres --help`",
        ),
        (
            "export x --format jsn",
            "--format is 'jsn'; it must be jsonl or csv or parquet",
        ),
        (
            "crawl --scope hots",
            "--scope is 'hots'; it must be host or domain or prefix",
        ),
        ("search x --limit 0", "--limit is '0'; it must be a whole number, at least 1"),
        (
            f"search x --limit {2**64}",
            f"--limit is '{2**64}'; it must be a whole number",
        ),
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


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("help", "gencrawl COMMAND"),
        ("help crawl", "gencrawl crawl URL"),
        ("crawl -h", "gencrawl crawl URL"),
        ("help postgres", "gencrawl postgres COMMAND"),
        ("help postgres drop", "gencrawl postgres drop URL"),
    ],
)
def test_help_can_be_asked_for_as_a_command(gencrawl, words, usage):
    ended = gencrawl(*words.split())

    assert ended.status == 0
    assert ended.out.startswith(f"usage: {usage}")


def shown_options(text):
    return re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", text)


@pytest.mark.parametrize("command", ["crawl", "check"])
def test_help_shows_common_options_and_help_all_every_option(gencrawl, command):
    common = shown_options(gencrawl(command, "--help").out)
    every = shown_options(gencrawl(command, "--help-all").out)

    assert len(common) <= 23
    assert set(common) < set(every)
    rest = len(every) - len(common)
    assert f"show {rest} more options" in gencrawl(command, "--help").out


def test_check_offers_applicable_options_only(gencrawl):
    text = re.sub(r"\s+", " ", gencrawl("check", "--help-all").out)

    assert not set(shown_options(text)) & {"--processes", "--frontier", "--crawl"}
    assert "with one request each (default: on)" in text
    assert "build the full-text index (default: on with --into)" in text


def test_no_arguments_show_commands_and_examples(gencrawl):
    ended = gencrawl()

    assert (ended.status, ended.out) == (2, "")
    for name in COMMANDS:
        assert f"\n  {name} " in ended.err
    assert "  gencrawl demo\n" in ended.err


def test_group_alone_shows_its_commands(gencrawl):
    ended = gencrawl("postgres")

    assert (ended.status, ended.out) == (2, "")
    for name in POSTGRES:
        assert f"\n  {name} " in ended.err


@pytest.mark.parametrize(
    "command", ["", *COMMANDS, *(f"postgres {name}" for name in POSTGRES)]
)
def test_help_fits_80_columns(gencrawl, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    words = command.split()

    for option in ("--help", "--help-all"):
        shown = gencrawl(*words, option).out

        assert max(map(len, shown.splitlines()), default=0) <= 80


def test_urls_may_be_interrupted_by_options(gencrawl):
    ended = gencrawl(
        "crawl", URL, "--tries", 3, "http://b.test/", "--into", "/dev/null/x"
    )

    assert "cannot write" in ended.err


def test_search_words_may_look_like_options():
    arguments, rest = make_parser().parse_known_args(
        ["search", "kept", "a", "-without", "--limit", "3", "b"]
    )

    assert (arguments.words, arguments.limit, rest) == (["a", "-without", "b"], 3, [])
