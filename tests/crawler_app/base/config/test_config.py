"""The configuration: refused values, the names in errors, saving and reading."""

import dataclasses
import json
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.config import PUBLIC_HEADERS, CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.errors import ConfigError

NAN, INFINITE = float("nan"), float("inf")
SEEDS = ("http://a.test/",)
OPTION_BY_NAME = {option.name: option for option in options_of(CrawlConfig)}

FULL = CrawlConfig(
    seeds=("http://a.test/", "https://b.test:8000/x?y"),
    into="crawl",
    concurrency=3,
    processes=2,
    max_pages=0,
    max_depth=5,
    max_redirects=0,
    host_gap_s=0.25,
    include=("/docs/", r"\.html?$"),
    exclude=("ü",),
    client="curl",
    connect_timeout_s=0.5,
    request_timeout_s=1.5,
    max_body_bytes=1,
    tries=1,
    retry_pause_s=0.0,
    user_agent="test/1.0 (+http://a.test/)",
    contact="me@a.test",
    scope="domain",
    max_bytes=10,
    max_time_s=60.5,
    max_url_chars=500,
    max_path_segments=10,
    max_segment_repeats=None,
    max_queries_per_path=7,
    robots=False,
    sitemaps=False,
    per_host=4,
    deny_private=True,
    headers=("X-Test: a", "Accept-Language: de"),
    auth="user:pass:word",
    proxy="user:word@proxy.test:3128",
    cookies=False,
    render="auto",
    scroll=True,
    screenshots=True,
    render_post=True,
    browsers=2,
    ca_file="ca.pem",
    client_cert="me.pem",
    client_key="me.key",
    sign_key="sign.pem",
    sign_agent="https://bot.a.test",
    sign_always=True,
    cookie_file="cookies.txt",
    login_file="login.toml",
    archive=False,
    assets="none",
    external=True,
    external_max_age_s=3600.0,
    max_external_wait_s=5.0,
    soft_404=True,
    dedupe_against="old.wacz",
    max_archive_file_bytes=1_000,
    index=False,
    frontier="postgresql://me@a.test/crawls",
    crawl_name="docs",
    staging="staging",
    max_staging_bytes=2_000,
)


# Each of these, alone or as the last of several values, is named in the error.
UNUSABLE = {
    "seeds": ["http://a.test/"],
    "concurrency": [0, -1, True, 2.5],
    "processes": [0, 65, True, 2.5],
    "tries": [0, 3.0, "9"],
    "max_pages": [-1, 0.5],
    "max_depth": [-1, False],
    "max_redirects": [-1, None],
    "max_bytes": [0],
    "max_body_bytes": [0],
    "max_archive_file_bytes": [0],
    "max_url_chars": [0],
    "max_segment_repeats": [0],
    "max_queries_per_path": [0],
    "max_path_segments": [0],
    "per_host": [0],
    "host_gap_s": [-0.1, NAN, INFINITE, "1", True],
    "retry_pause_s": [-1.0, NAN, INFINITE, None],
    "connect_timeout_s": [0.0, NAN, None],
    "request_timeout_s": [-1.0, INFINITE, (1, 2)],
    "max_time_s": [0.0, NAN, INFINITE, "60"],
    "scope": ["world", None],
    "client": ["netscape", "", ["pooled"]],
    "robots": [None],
    "sitemaps": [1.0],
    "cookies": ["no"],
    "archive": [None],
    "index": [None],
    "deny_private": ["yes", 1],
    "cookie_file": [3, None, "a\0b"],
    "into": ["a\0b", pathlib.PurePath("kept")],
    "user_agent": ["a\r\nCookie: b", "ü", "", None],
    "contact": ["me (at) a.test", "a\nb", b"me@a.test"],
    "include": [("ok", "("), "/docs/", None],
    "exclude": [("[a",), "/docs/"],
}
AT_THE_EDGE = {
    "concurrency": [1],
    "tries": [1],
    "max_body_bytes": [1],
    "max_pages": [0, None],
    "max_depth": [0],
    "max_redirects": [0],
    "host_gap_s": [0.0, None],
    "retry_pause_s": [0.0],
    "connect_timeout_s": [0.001],
}


def each_of(values_by_name):
    return [
        (name, value) for name, values in values_by_name.items() for value in values
    ]


@pytest.mark.parametrize(("name", "value"), each_of(UNUSABLE))
def test_invalid_value_is_refused_by_name(name, value):
    with pytest.raises(ConfigError) as caught:
        CrawlConfig(**{"seeds": SEEDS, name: value})

    bad = value[-1] if isinstance(value, tuple) else value
    assert str(caught.value).startswith(f"{name} ")
    unit = OPTION_BY_NAME[name].unit
    shown = unit.render(bad) if unit and isinstance(bad, float) else repr(bad)
    assert shown in str(caught.value)


@pytest.mark.parametrize(("name", "value"), each_of(AT_THE_EDGE))
def test_value_at_the_edge_is_accepted(name, value):
    assert getattr(CrawlConfig(SEEDS, **{name: value}), name) == value


def test_every_option_has_a_value_other_than_its_default():
    for field in dataclasses.fields(CrawlConfig):
        assert getattr(FULL, field.name) != field.default


def test_seeds_are_canonical_and_unique():
    config = CrawlConfig(("HTTP://A.test", "http://a.test:80/#x", "http://b.test/%7e"))

    assert config.seeds == ("http://a.test/", "http://b.test/%7e")


@pytest.mark.parametrize(
    ("seeds", "complaint"),
    [
        ((), "start from"),
        (("ftp://a.test/",), "start from"),
        (("http://",), "start from"),
        (("a.test",), r"start from .*did you mean http://a\.test \?"),
        (("a.test:80/x",), r"start from .*did you mean http://a\.test:80/x \?"),
    ],
)
def test_invalid_seeds_are_refused(seeds, complaint):
    with pytest.raises(ConfigError, match=complaint):
        CrawlConfig(seeds)


def test_saved_configuration_is_read_back():
    assert CrawlConfig.from_json(FULL.to_json()) == FULL
    assert CrawlConfig.from_json(CrawlConfig(SEEDS).to_json()) == CrawlConfig(SEEDS)


def test_directory_is_not_saved():
    text = FULL.to_json()

    assert "into" not in json.loads(text)
    assert CrawlConfig.from_json(text).into == ""


NO_CONFIGURATIONS = ["", "{", "null", "[]", "7", "{}"]
NO_CONFIGURATIONS += ['{"seeds": null, "include": [], "exclude": []}']
NO_CONFIGURATIONS += ['{"seeds": "http://a.test/"}']
NO_CONFIGURATIONS += ['{"seeds": ["http://a.test/"], "include": [], "speed": 9}']


@pytest.mark.parametrize("text", NO_CONFIGURATIONS)
def test_other_text_is_not_a_saved_configuration(text):
    with pytest.raises(ConfigError, match="not a saved crawl configuration") as raised:
        CrawlConfig.from_json(text)
    assert "Error" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("tries", 0, "tries is 0; it must be a whole number, at least 1"),
        ("seeds", [7], r"seeds is \(7,\); it must be a tuple of strings"),
        ("include", "abc", "include is 'abc'; it must be a tuple of strings"),
    ],
)
def test_invalid_saved_value_is_named(name, value, wanted):
    values = json.loads(FULL.to_json()) | {name: value}

    with pytest.raises(ConfigError, match=wanted):
        CrawlConfig.from_json(json.dumps(values))


def test_option_missing_from_a_saved_configuration_has_its_default():
    assert CrawlConfig.from_json('{"seeds": ["http://a.test/"]}') == CrawlConfig(SEEDS)
    older = '{"seeds": ["http://a.test/"], "assets": false}'
    assert CrawlConfig.from_json(older) == CrawlConfig(SEEDS, assets="none")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("auth", 5, "must be "),
        ("auth", ("user", "hunter2"), "must be "),
        ("auth", None, "must be "),
        ("auth", "userhunter2", "must be "),
        ("auth", "user:hunter2\n", "must be "),
        ("proxy", 5, "must be "),
        ("proxy", {"http": "user:hunter2@proxy.test:3128"}, "must be "),
        ("proxy", "user:hunter2@proxy.test", "must be "),
        ("proxy", "user:hunter2@proxy\0.test:3128", "must be "),
        ("proxy", "me:hunter2@a.test:0", "port is 0"),
        ("proxy", "me:hunter2@a.test:65536", "port is 65536"),
        # Python converts no number of more than 4300 digits.
        ("proxy", "me:hunter2@a.test:" + "9" * 5000, "port is 9{20};"),
        ("headers", {"X-Key": "hunter2"}, "must be "),
        ("headers", [("X-Key", "hunter2")], "must be "),
        ("headers", ("X-Fine: 1", "Authorization hunter2"), "must be "),
        ("headers", ("X-Key: hunter2\r\nY: b",), "must be "),
        ("headers", (": hunter2",), "must be "),
        ("headers", "X-Key: hunter2", "must be "),
    ],
)
def test_refused_secret_is_not_shown(name, value, complaint):
    with pytest.raises(ConfigError, match=f"^{name}\\b.*{complaint}") as caught:
        CrawlConfig(SEEDS, **{name: value})

    assert "hunter2" not in str(caught.value)


def test_duplicate_header_is_refused_and_not_shown():
    with pytest.raises(ConfigError, match="give one of") as caught:
        CrawlConfig(SEEDS, auth="a:hunter2", headers=("authorization: Bearer x",))

    assert "hunter2" not in str(caught.value)


HEADERS_OF_THE_CONNECTION = ["Host", "content-length", "Transfer-Encoding"]
HEADERS_OF_THE_CONNECTION += ["CONNECTION", "TE", "Upgrade"]


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        ("no header", "headers, number 2: .*'Name: value'"),
        ("X-A: \t", "X-A has no value"),
        *(
            (f"{n}: x", f"{n} cannot be set: .{{20}}")
            for n in HEADERS_OF_THE_CONNECTION
        ),
    ],
)
def test_header_that_cannot_be_sent_is_refused(header, complaint):
    with pytest.raises(ConfigError, match=complaint):
        CrawlConfig(SEEDS, headers=("X-Fine: 1", header))


def test_repr_has_no_secrets():
    config = CrawlConfig(
        SEEDS,
        headers=("X-Key: hunter2",),
        auth="me:hunter2",
        proxy="me:hunter2@proxy.test:3128",
    )

    assert "hunter2" not in repr(config)
    assert "http://a.test/" in repr(config)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("max-pages = 9", "a crawl needs a URL to start from"),
        ('seeds = "http://a.test/"\nauth = "me"', "auth must be user:password"),
        ('seeds = "http://a.test/"\nprocesses = 11', "concurrency is 10, and is sh"),
    ],
)
def test_incomplete_toml_file_is_named(text, complaint, tmp_path):
    file = tmp_path / "site.toml"
    file.write_text(text)

    with pytest.raises(ConfigError, match=f"site.toml: {complaint}"):
        CrawlConfig.from_toml(file)


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=5),
    st.lists(st.text(max_size=5) | st.integers(), max_size=3).map(tuple),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(
    st.sampled_from([field.name for field in dataclasses.fields(CrawlConfig)]), ANYTHING
)
def test_any_value_of_any_option_is_accepted_or_refused(name, value):
    try:
        config = CrawlConfig(**{"seeds": SEEDS, name: value})
    except ConfigError:
        return
    assert CrawlConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    ("contact", "agent"),
    [
        ("", "bot/1"),
        ("me@a.test", "bot/1 (+mailto:me@a.test)"),
        ("https://a.test/bot", "bot/1 (+https://a.test/bot)"),
        ("mailto:me@a.test", "bot/1 (+mailto:me@a.test)"),
    ],
)
def test_user_agent_includes_the_contact(contact, agent):
    assert (
        CrawlConfig(SEEDS, user_agent="bot/1", contact=contact).full_user_agent == agent
    )


@pytest.mark.parametrize(
    ("options", "has_secrets"),
    [
        ({}, False),
        ({"proxy": "proxy.test:3128"}, False),
        ({"headers": ("ACCEPT-Language: de", "User-Agent: me", "DNT:1")}, False),
        ({"headers": ("Accept-Language: de", "X-Api-Key: 1")}, True),
        ({"headers": ("Referer: http://a.test/?key=1",)}, True),
        ({"cookie_file": "cookies.txt"}, True),
        ({"client_cert": "me.pem"}, True),
        ({"ca_file": "ca.pem"}, False),
        ({"headers": ("COOKIE: a=b",)}, True),
        ({"headers": ("Authorization: Bearer x",)}, True),
        ({"auth": "user:word"}, True),
        ({"proxy": "user:word@proxy.test:3128"}, True),
    ],
)
def test_configuration_with_secrets_is_recognized(options, has_secrets):
    assert CrawlConfig(SEEDS, **options).has_secrets is has_secrets


def test_public_headers_are_compared_without_case():
    assert all(name == name.lower() for name in PUBLIC_HEADERS)
    assert not PUBLIC_HEADERS & {"authorization", "cookie", "proxy-authorization"}
