"""The file of a watch, its schedule and its secrets."""

import textwrap
from datetime import datetime
from pathlib import Path

import pytest

from crawler_app.base.config.option import options_of
from crawler_app.base.config.secret_values import secrets_in
from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.issue import GitHubIssue
from crawler_app.show.watch.schedule import end_of_quiet, next_check_at
from crawler_app.show.watch.watch_config import CHANNEL_BY_KIND, WatchConfig, read_watch

SITE = '[sites.docs]\nseeds = "http://a.test/"\n'
TOP = 'state = "m"\n'
OPEN = "encryption = 'none'\nhost = 'm.test'\nuser = 'u'\npassword = '${X}'"
MAIL = '[notices.team]\nkind = "mail"\nsender = "a@b.test"\nto = "c@d.test"\n'


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "watch.toml"
        path.write_text(text)
        return read_watch(path)

    return read


def test_whole_file_is_read(read, tmp_path):
    watch = read(
        'state = "memory"\nat = "03:00"\nquiet = "22:00-07:00"\nexternal-over = "2d"\n'
        + SITE
        + 'ignore = "x"\nfail-on = "broken"\n'
        + MAIL
        + 'user = "u"\npassword = "${PW}"\nsites = "docs"\n'
    )

    assert watch.config.state == str(tmp_path / "memory")
    assert watch.config.rule_of("external").over_s == 2 * 86400
    assert watch.sites["docs"]["ignore"] == ("x",)
    assert watch.channels["team"].password == "${PW}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (SITE, "state is missing"),
        ("state = 'm'", "there is no site"),
        ("state = 'm'\n[sites.docs]", "sites.docs: give a URL"),
        ("state = 'm'\n[sites.'../x']", "other characters than"),
        ("state = 'm'\nsites = 3", "sites holds tables"),
        ("state = 'm'\n[notes]", "there is no table 'notes'"),
        ("at = '25:00'\n[sites]", "at is '25:00'; it must be a time"),
        ("quiet = '22-7'\n[sites]", "it must be two times"),
        ("every = 5\n[sites]", "every is 5s; it must be a duration such as"),
        ("zzz = 4\n[sites]", "the keys are state, every, at, quiet,"),
        (TOP + "at = '3:00'\nevery = '1d'\n" + SITE, "exclude each other"),
        (TOP + SITE + "baseline = 'x'", "baseline is not for a site"),
        (TOP + SITE + "fail-on = 'new'", "what a watch does anyway"),
        (TOP + SITE + "tires = 3", "did you mean tries?"),
        (TOP + SITE + "zzz = 3", "see gencrawl check --help"),
        (TOP + SITE + "tries = 0", "sites.docs: tries is 0"),
        (TOP + SITE + "auth = 'x'", "auth must be user:password"),
        (TOP + SITE + "[notices.x]\nkind = 'maill'", "did you mean mail?"),
        (TOP + SITE + "[notices.x]\nkind = 'webhook'", "notices.x: url is missing"),
        (TOP + SITE + MAIL + "sites = 'dosc'", "did you mean docs?"),
        (TOP + SITE + MAIL + "user = 'u'", "a user needs a password"),
        (TOP + SITE + MAIL + "password = 'hush'", "does not belong in the file"),
        (TOP + SITE + MAIL + OPEN, "not sent without encryption"),
        (TOP + SITE + MAIL + "to = 'x'", "is not valid TOML"),
    ],
)
def test_mistake_is_named(read, text, complaint):
    with pytest.raises(ConfigError) as error:
        read(text)

    assert complaint in str(error.value)
    assert "hush" not in str(error.value)


def test_example_of_the_guide_is_read(read):
    guide = (Path(__file__).parents[4] / "docs/watch.rst").read_text()
    block = guide.split(".. code-block:: toml\n", 1)[1].split(".. code-block::")[0]

    watch = read(textwrap.dedent(block))

    assert (len(watch.sites), len(watch.channels)) == (2, 2)


def test_guide_names_every_key():
    guide = (Path(__file__).parents[4] / "docs/watch.rst").read_text()
    made = [WatchConfig, *CHANNEL_BY_KIND.values()]
    keys = {each.key for config in made for each in options_of(config)}

    assert [key for key in sorted(keys) if f"``{key}``" not in guide] == []


def test_secret_is_in_the_environment_or_a_private_file(tmp_path):
    path = tmp_path / "secret"
    path.write_text("TOKEN=hush\n")
    path.chmod(0o600)
    channel = GitHubIssue(project="o/n", token="${TOKEN}")

    assert channel.with_secrets(secrets_in(path)).token == "hush"
    assert "hush" not in repr(channel.with_secrets({"TOKEN": "hush"}))
    with pytest.raises(ConfigError, match=r"\$\{TOKEN\} is neither in the environment"):
        channel.with_secrets({})


def test_line_of_secrets_without_a_value_is_named_and_not_shown(tmp_path):
    path = tmp_path / "secrets"
    path.touch(0o600)
    path.write_text("# of the tracker\nTOKEN hush\n")

    with pytest.raises(ConfigError, match="^line 2 of .*/secrets is not NAME=VALUE$"):
        secrets_in(str(path))


def at(day, hour, minute=0):
    return datetime(2026, 11, day, hour, minute).timestamp()


@pytest.mark.parametrize(
    ("last", "due"),
    [(at(3, 3), at(4, 3)), (at(3, 2, 59), at(3, 3)), (at(3, 12), at(4, 3))],
)
def test_time_of_day_comes_once_a_day(last, due):
    assert next_check_at(last, 1.0, "03:00", now=last) == due
    # The clock was set back.
    assert next_check_at(last, 1.0, "03:00", now=last - 9) == last - 9


def test_quiet_hours_go_over_midnight():
    night = "22:00-07:00"

    assert end_of_quiet(night, at(3, 23)) == at(4, 7)
    assert end_of_quiet(night, at(4, 6, 59)) == at(4, 7)
    assert end_of_quiet(night, at(4, 7)) == at(4, 7)
    assert end_of_quiet(night, at(4, 21)) == at(4, 21)
