"""Command-line options: flags, precedence, and the tables in docs/config.rst."""

import json
import pathlib
import re
from typing import NamedTuple

import pytest

from crawler_app import __version__
from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import REQUIRED, options_of
from crawler_app.base.errors import ConfigError
from crawler_app.commands.arguments import add_crawl, add_resume
from crawler_app.commands.config_options import config_of, read_options
from crawler_app.commands.parser import CommandParser

OPTIONS = options_of(CrawlConfig)
GUIDE = pathlib.Path(__file__).parents[3] / "docs" / "config.rst"
URL = "http://a.test/"

# Something that each option may be given.
VALUE_BY_METAVAR = {
    "N": "7",
    "SIZE": "7KiB",
    "DURATION": "1m7.5s",
    "TEXT": "me@a.test",
    "RE": "/docs/",
    "DIR": "kept",
    "FILE": "cookies.txt",
    "PATH": "old.wacz",
    "URL": "postgresql://a.test/crawls",
    "ORIGIN": "https://bot.a.test",
    "NAME": "docs",
    "'NAME: VALUE'": "X-A: 1",
    "USER[:PASSWORD]": "me:word",
    "[USER:PASSWORD@]HOST:PORT": "a.test:3128",
}


def parser_of(add):
    parser = CommandParser(prog="gencrawl")
    parser.add_arguments = add
    parser.load()
    return parser


def parse(*words):
    return parser_of(add_crawl).parse_args(words)


def parse_resume(*words):
    return parser_of(add_resume).parse_args(["kept", *words])


def configure(*words):
    return config_of(parse(*words))


@pytest.fixture
def file(tmp_path):
    """Return a file that says where to begin, and a few things more."""
    path = tmp_path / "site.toml"
    path.write_text(
        f"""
        seeds = ["{URL}", "http://b.test/"]
        into = "kept"
        include = ["/docs/", "/api/"]
        max-pages = 9
        tries = 5
        cookie-file = "cookies.txt"
        deny-private = true
        """
    )
    return path


# Options without which another is refused.
NEEDED = {
    "crawl_name": ["--frontier", "postgresql://me@db.test/crawls"],
    **{name: ["--render", "auto"] for name in ("browsers", "render_post", "scroll")},
}


def words_for(option):
    """Return an option with a value that is not the default."""
    if option.is_switch:
        return [option.flag if option.default is False else option.off_flag]
    other_choices = [choice for choice in option.choices if choice != option.default]
    return [option.flag, (other_choices or [VALUE_BY_METAVAR[option.metavar]])[0]]


@pytest.mark.parametrize(
    "option",
    [option for option in OPTIONS if option.name not in ("seeds", "into")],
    ids=lambda option: option.name,
)
def test_every_option_can_be_set_by_a_flag_and_in_a_file(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed = NEEDED.get(option.name, [])
    if option.is_file_only:
        with pytest.raises(ConfigError, match=f"`{option.key} = ...` in gencrawl.toml"):
            configure(URL, "--into", "kept", *words_for(option))
        value = option.parse(VALUE_BY_METAVAR[option.metavar], "it")
    else:
        by_flag = configure(URL, "--into", "kept", *needed, *words_for(option))
        value = getattr(by_flag, option.name)
    text = json.dumps(value)  # which is TOML too
    pathlib.Path("site.toml").write_text(f"{option.key} = {text}")

    assert value != option.default
    given = configure(URL, "--config", "site.toml", "--into", "kept", *needed)
    assert getattr(given, option.name) == value
    assert option.is_file_only or given == by_flag


def test_nothing_is_given_unless_it_is():
    assert read_options(parse()) == {}
    assert read_options(parse_resume()) == {}


def test_repeatable_options_and_switches_are_read():
    given = read_options(
        parse(URL, "--include", "a", "--include", "b", "--no-robots", "--allow-private")
    )

    assert given == {
        "seeds": (URL,),
        "include": ("a", "b"),
        "robots": False,
        "deny_private": False,
    }


def test_switch_overrides_the_file_and_the_last_one_counts(
    tmp_path,
):
    file = tmp_path / "off.toml"
    file.write_text("robots = false\nexternal = true")

    config = configure(
        *(URL, "--into", "kept", "--config", str(file)),
        *("--no-robots", "--robots", "--no-external", "--deny-private"),
    )

    assert (config.robots, config.external, config.deny_private) == (True, False, True)


def test_resume_accepts_resumable_options_only():
    given = read_options(parse_resume("--max-pages", "9", "--tries", "1"))

    assert given == {"max_pages": 9, "tries": 1}
    for words in (["--scope", "any"], ["--into", "kept"], ["--max-url-chars", "9"]):
        with pytest.raises(ConfigError, match="was set when the crawl began"):
            parse_resume(*words)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--concurrency", "0"], "--concurrency is 0; it must be a whole number, at l"),
        (["--host-gap", "-1"], "--host-gap is -1s; it must be a duration such as 250m"),
        (["--host-gap", "5x"], "--host-gap is '5x'; it must be a duration such as 25"),
        (["--max-bytes", "10x"], "--max-bytes is '10x'; it must be a size such as 50"),
        (["--tries", "x"], "--tries is 'x'; it must be a whole number"),
        (["--include", "("], "--include has '(', which is not a valid regular"),
        (["--header", "X"], "--header, number 1: it must be 'Name: value'"),
        (["--auth", "a:b\n"], "--auth must be user:password, in one line"),
        (["--no-cookies", "--cookies", "c"], "--cookies has no effect with --no-cook"),
        (["--scroll"], "--scroll has no effect without --render auto|always"),
        (["--proxy", "a.test"], "--proxy must be host:port, or user:password@host:po"),
    ],
)
def test_invalid_value_names_its_option(words, complaint):
    with pytest.raises(ConfigError) as caught:
        configure(URL, "--into", "kept", *words)

    assert str(caught.value).startswith(complaint)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--into", "kept"], "a URL to start from, or `seeds = "),
        ([URL], "--into DIR, or `into = "),
        ([URL, "--into", ""], "--into DIR, or `into = "),
    ],
)
def test_missing_option_is_reported_with_flag_and_key(words, complaint, tmp_path):
    empty = tmp_path / "empty.toml"
    empty.touch()

    for config in ([], ["--config", str(empty)]):
        with pytest.raises(ConfigError, match=re.escape(complaint)):
            configure(*words, *config)


def test_option_overrides_file_and_file_overrides_default(file):
    config = configure("--config", str(file), "--max-pages", "3", "--allow-private")

    assert (config.max_pages, config.tries, config.max_redirects) == (3, 5, 10)
    assert config.deny_private is False


def test_list_on_the_command_line_replaces_that_of_the_file(file):
    config = configure("http://c.test/", "--config", str(file), "--include", "/new/")

    assert config.seeds == ("http://c.test/",)
    assert config.include == ("/new/",)


def test_path_begins_where_it_was_written(file, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    by_file = configure("--config", str(file))
    by_options = configure("--config", "../site.toml", "--cookies", "c.txt")

    assert by_file.into == str(tmp_path / "kept")
    assert by_file.cookie_file == str(tmp_path / "cookies.txt")
    assert pathlib.Path(by_options.into).resolve() == tmp_path / "kept"
    assert by_options.cookie_file == str(here / "c.txt")


@pytest.mark.parametrize(
    ("given", "written", "auth"),
    [
        (["--auth", "me"], "", "me:pass:word"),
        ([], 'auth = "me"', "me:pass:word"),
        # Nothing is asked for.
        (["--auth", "me:"], "", "me:"),
        ([], "", ""),
    ],
)
def test_missing_password_is_asked_for(file, monkeypatch, given, written, auth):
    monkeypatch.setattr("getpass.getpass", lambda: "pass:word")
    file.write_text(f"{file.read_text()}\n{written}")

    assert configure("--config", str(file), *given).auth == auth


@pytest.mark.parametrize("is_new", [True, False])
def test_help_lists_each_option_with_group_and_default(is_new):
    parser = parser_of(add_crawl if is_new else add_resume)
    parser.show_all()
    text = re.sub(r"\s+", " ", parser.format_help())

    for option in OPTIONS:
        if option.is_file_only or not (is_new or option.is_resumable):
            assert not option.flag or f" {option.flag} " not in text
            continue
        begin = text.index(f"{option.group}: ") if option.group else 0
        default = option.default_words if is_new else "as before"
        flags = [flag for flag in (option.flag, option.off_flag) if flag]
        assert f" {', '.join(flags)} ".replace("  ", " ") in text[begin:]
        assert option.help in text[begin:]
        if option.default_words and option.name != "cookies":
            assert re.search(
                re.escape(f"{option.help} (default: ")
                + f'"?{re.escape(default)}"?'
                + re.escape(")"),
                text[begin:],
            )


class Row(NamedTuple):
    """What the guide says about an option."""

    heading: str
    option: str
    field: str
    default: str
    meaning: str


def read_rows():
    """Return the rows of the guide's tables, but for their heads."""
    rows, heading = [], ""
    text = GUIDE.read_text(encoding="utf-8")
    for part in re.split(r"\n(?=   \* - |[^\n ].*\n[-~]+\n)", text):
        if part.startswith("   * - "):
            # What comes after the table is no cell of it.
            row = re.split(r"\n\n(?=\S)", part)[0].removeprefix("   * - ")
            cells = [re.sub(r"\s+", " ", cell) for cell in row.split("\n     - ")]
            if len(cells) == 4 and cells[0] != "Option":
                rows.append(Row(heading, *cells))
        else:
            heading = part.partition("\n")[0]
    return rows


ROWS = read_rows()


def test_guide_has_a_row_for_every_option_in_the_same_order():
    assert [row.field for row in ROWS] == [f"``{option.name}``" for option in OPTIONS]


each_option = pytest.mark.parametrize(
    ("row", "option"),
    [
        pytest.param(row, option, id=option.name)
        for row, option in zip(ROWS, OPTIONS, strict=False)
    ],
)


@each_option
def test_guide_spells_the_option_and_marks_what_resume_takes(row, option):
    wanted = f"``{option.flag} {option.metavar}``"
    if option.is_switch:
        flags = (option.flag, option.off_flag)
        wanted = ", ".join(f"``{flag}``" for flag in flags if flag)
    elif option.is_file_only:
        wanted = f"``{option.key}`` in a file"
    elif not option.flag:
        wanted = f"``{option.metavar}...``"

    assert row.option == wanted + " *" * option.is_resumable
    assert row.heading.lower() == (option.group or "all options")


@each_option
def test_guide_has_the_default(row, option):
    wanted = option.default_words.replace(__version__, "")
    if option.default is REQUIRED:
        wanted = "required"
    elif not wanted:
        wanted = "no limit" if option.default is None else "none"

    assert re.match(re.escape(wanted) + r"(?!\w)", row.default.replace("`", ""))


@each_option
def test_guide_has_what_is_allowed(row, option):
    for choice in option.choices:
        assert f"``{choice}``" in row.meaning
    if option.metavar not in ("N", "SIZE", "DURATION"):
        return
    with pytest.raises(ConfigError) as caught:
        option.check(-1, "it")

    numbers = re.findall(r"at (?:least|most) (\d+)", str(caught.value))
    if numbers:
        assert f"; {int(numbers[0]):,} to {int(numbers[1]):,}." in row.meaning
    else:
        allowed = str(caught.value).partition("1h30m, ")[2]
        assert f"; {allowed}." in row.meaning


@pytest.mark.parametrize("error", [EOFError, AttributeError])
def test_missing_password_without_a_terminal_is_an_error(monkeypatch, error):
    def nobody():  # as getpass does without a terminal
        raise error

    monkeypatch.setattr("getpass.getpass", nobody)

    with pytest.raises(ConfigError, match="--auth USER:PASSWORD"):
        configure(URL, "--into", "kept", "--auth", "me")
