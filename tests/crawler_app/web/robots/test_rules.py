"""Rules of a robots.txt, by the sections of RFC 9309."""

import re
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler_app.base.urls import canonicalize
from crawler_app.web.politeness import MAX_CRAWL_DELAY_S
from crawler_app.web.robots import rules
from crawler_app.web.robots.rules import MAX_PATTERNS, Rules, parse_rules, product_token

USER_AGENT = "gencoro-crawler/0.1 (+mailto:me@a.test)"


def rules_of(text, user_agent=USER_AGENT):
    body = text.encode() if isinstance(text, str) else text
    return parse_rules(body, user_agent, "http://a.test")


def allows(text, path, user_agent=USER_AGENT):
    return rules_of(text, user_agent).allows(canonicalize(f"http://a.test{path}"))


def for_all(*lines):
    return "\n".join(["User-agent: *", *lines])


# Groups: RFC 9309, 2.2.1.

# 5.1 and 5.2.
SIMPLE_EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


LONGEST_MATCH_EXAMPLE = """\
User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""

SAME_AGENT_TWICE = """\
user-agent: ExampleBot
disallow: /foo
disallow: /bar

user-agent: other
disallow: /qux

user-agent: ExampleBot
disallow: /baz
"""

OWN_GROUP = "User-agent: *\nDisallow: /\nCrawl-delay: 9\n\nUser-agent: bot\nDisallow:"
NO_TOKEN = "User-agent: *\nDisallow: /a\n\nUser-agent:\nDisallow: /b"


@pytest.mark.parametrize(
    ("text", "user_agent", "allowed", "disallowed"),
    [
        (SIMPLE_EXAMPLE, "otherbot", "/a.gif?b /publications/ /", "/a.gif /example/"),
        (
            SIMPLE_EXAMPLE,
            "foobot",
            "/example/page.html /example/allowed.gif",
            "/ /publications/",
        ),
        (SIMPLE_EXAMPLE, "barbot", "", "/example/page.html"),
        (SIMPLE_EXAMPLE, "bazbot", "/example/", "/example/page.html"),
        (SIMPLE_EXAMPLE, "quxbot", "/example/page.html /a.gif", ""),
        (
            LONGEST_MATCH_EXAMPLE,
            "foobot",
            "/example/page/allowed.gif",
            "/example/page/disallowed.gif",
        ),
        (SAME_AGENT_TWICE, "ExampleBot", "/qux", "/foo /bar /baz"),
        (OWN_GROUP, "bot", "/", ""),
        (NO_TOKEN, "1", "/b", "/a"),
        # Rules before any agent apply to none.
        ("Disallow: /\nUser-agent: *\nDisallow: /a", "bot", "/", "/a"),
    ],
)
def test_rules_of_all_groups_for_us_apply(text, user_agent, allowed, disallowed):
    assert all(allows(text, path, user_agent) for path in allowed.split())
    assert not any(allows(text, path, user_agent) for path in disallowed.split())


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("gencoro-crawler/0.1 (+mailto:x@a.test)", "gencoro-crawler"),
        ("Gencoro_Crawler", "gencoro_crawler"),
        ("Mozilla/5.0 (compatible; Bot/1.0; +http://a.test)", "bot"),
        ("Mozilla/5.0 (X11; Linux)", "mozilla"),
        ("bot2/1.0", "bot"),
        ("", ""),
        ("*", ""),
        ("1/2", ""),
    ],
)
def test_product_token(user_agent, token):
    assert product_token(user_agent) == token


OURS = ["gencoro-crawler", "GENCORO-Crawler", "gencoro-crawler/0.1", "*", "* "]
OURS += ["gencoro-crawler 0.1"]
OTHERS = ["gencoro", "gen", "g", "crawler", "gencoro-crawler-news", "", "1"]
OTHERS += ["*gencoro-crawler", "Mozilla/5.0 (compatible; gencoro-crawler)"]


@pytest.mark.parametrize("agent", OURS + OTHERS)
def test_agent_line(agent):
    assert allows(f"User-agent: {agent}\nDisallow: /", "/") is (agent in OTHERS)


@pytest.mark.parametrize(
    "line",
    [
        "Sitemap: http://a.test/s.xml",
        "Noindex: /",
        "Host: a.test",
        "# Disallow: /",
        "",
        "???",
    ],
)
def test_other_lines_do_not_end_the_head_of_a_group(line):
    # 2.2.4: "Parsing of other records MUST NOT interfere".
    text = f"User-agent: bot\n{line}\nUser-agent: other\nDisallow: /"

    assert not allows(text, "/", "bot")


@pytest.mark.parametrize(
    "rule", ["Allow: /", "Disallow: /", "Disallow:", "Allow:", "Crawl-delay: 2"]
)
def test_rule_ends_the_head_of_a_group(rule):
    text = f"User-agent: other\n{rule}\nUser-agent: bot\nDisallow: /a"

    assert allows(text, "/b", "bot")
    assert not allows(text, "/a", "bot")
    assert allows(text, "/a", "other") is (rule != "Disallow: /")


# Matching: RFC 9309, 2.2.2 and 2.2.3.


@pytest.mark.parametrize(
    ("rule", "hits", "misses"),
    [
        # The table of 2.2.2.
        ("/foo/bar?baz=quz", ["/foo/bar?baz=quz"], []),
        (
            "/foo/bar?baz=https://foo.bar",
            ["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"],
            [],
        ),
        ("/foo/bar?baz=https%3a%2f%2Ffoo.bar", ["/foo/bar?baz=https://foo.bar"], []),
        ("/foo/bar/\u30c4", ["/foo/bar/%E3%83%84"], []),
        ("/foo/bar/%E3%83%84", ["/foo/bar/\u30c4"], []),
        ("/foo/bar/%e3%83%84", ["/foo/bar/%E3%83%84"], []),
        ("/foo/bar/%62%61%7A", ["/foo/bar/baz"], []),
        ("/foo/bar/baz", ["/foo/bar/%62%61%7A"], []),
        # The special characters of 2.2.3.
        ("/this/*/exactly", ["/this/or/that/exactly/now"], ["/this/exactly"]),
        ("/a/exactly$", ["/a/exactly"], ["/a/exactly/not", "/a/exactly?q"]),
        ("/a-%2A.html", ["/a-*.html"], ["/a-b.html"]),
        ("/foo-%24", ["/foo-$"], ["/foo-"]),
        ("*.gif$", ["/a/b.gif"], []),
        ("/a**b", ["/axb"], []),
        ("/*", ["/"], []),
        ("/", ["/a/robots.txt"], ["/robots.txt"]),
        # A match is of the beginning, of octets, and case-sensitive.
        ("/fish", ["/fish.html"], ["/catfish", "/Fish"]),
        ("/fish/", [], ["/fish"]),
        ("fish", [], ["/fish"]),
        # Queries count.
        ("/*?", ["/a?b"], ["/a"]),
        ("/a?b=1", ["/a?b=12"], ["/a?c=1&b=1"]),
        # Escapes.
        ("/a%2Fb", [], ["/a/b"]),
        ("/a/b", [], ["/a%2Fb"]),
        ("/a%2fb", ["/a%2Fb"], []),
        ("/a b", ["/a%20b"], []),
        ("/%E9", ["/%E9"], ["/%E8", "/%C3%A9"]),
        ("/%e9t%e9", ["/%E9t%E9"], []),
        ("/100%", ["/100%25"], []),
    ],
)
def test_pattern(rule, hits, misses):
    text = for_all(f"Disallow: {rule}")

    assert not any(allows(text, path) for path in hits)
    assert all(allows(text, path) for path in misses)


@pytest.mark.parametrize("charset", ["utf-8", "latin-1"])
# The last byte of the second in UTF-8 is what Latin-1 calls a space.
@pytest.mark.parametrize(
    ("char", "other"), [("\u00e9", "\u00e8"), ("\u00e0", "\u00e1")]
)
def test_pattern_in_any_charset(charset, char, other):
    text = for_all(f"Disallow: /{char}").encode(charset)

    assert not allows(text, quote(f"/{char}".encode(charset)))
    assert allows(text, quote(f"/{other}".encode(charset)))


@pytest.mark.parametrize(
    ("allow", "disallow", "path", "is_allowed"),
    [
        ("/p", "/", "/page", True),
        ("/folder", "/folder", "/folder/page", True),
        ("/page", "/*.htm", "/page.htm", False),
        ("/page", "/*.ph", "/page.php5", True),
        ("/$", "/", "/", True),
        ("/$", "/", "/page.htm", False),
        ("/a/", "/a", "/a/b", True),
        ("/a", "/a/", "/a/b", False),
    ],
)
def test_longest_rule_wins_and_allow_if_they_are_equal(
    allow, disallow, path, is_allowed
):
    lines = [f"Allow: {allow}", f"Disallow: {disallow}"]

    assert allows(for_all(*lines), path) is is_allowed
    assert allows(for_all(*reversed(lines)), path) is is_allowed


def test_where_protego_differs_from_the_rfc():
    """Documented at `Rules.allows`; if this fails, that note can be removed."""
    index = for_all("Disallow: /a/", "Allow: /a/index.html")
    lengths = for_all("Disallow: /*bcd", "Allow: /a?b")

    assert allows(index, "/a/")
    assert allows(lengths, "/a?bcd")


# Lines.


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", " \t\n", "\n# x\n"])
def test_line_ends(end):
    text = end.join(["User-agent: *", "Disallow: /a", "Disallow: /b", ""])

    assert not allows(text, "/a")
    assert not allows(text, "/b")
    assert allows(text, "/c")


@pytest.mark.parametrize(
    ("agent", "rule"),
    [
        ("User-agent: *", "DISALLOW: /a"),
        ("useragent:*", "disallow:/a"),
        ("User Agent: *", "  Disallow  :  /a  # why"),
        ("user-agent *", "Disallow: /a#why"),
        ("\ufeffUser-agent: *", "Disallow /a"),
        ("User-agent: *", "Dissallow: /a"),
        ("User-agent: *", "disalow: /a"),
        ("User-agent: *", "Diasllow: /a"),
        ("User-agent: *", "Disallaw: /a"),
    ],
)
def test_spellings_of_the_fields(agent, rule):
    assert not allows(f"{agent}\n{rule}", "/a")
    assert allows(f"{agent}\n{rule}", "/b")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0",
        b"<!doctype html><html><body>User-agent: *\nDisallow: /</body>",
        b"<pre>\nDisallow: /\n</pre>",
        "User-agent: *\nDisallow: /".encode("utf-16"),
        b"User-agent: *\nDis\0allow: /",
        b"User-agent\nDisallow\nAllow:",
    ],
)
def test_other_documents_have_no_rules(body):
    assert rules_of(body) == Rules()
    assert allows(body, "/")


@pytest.mark.parametrize("char", ["\0", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_other_white_space_is_part_of_a_pattern(char):
    text = for_all(f"Disallow: /a{char}Disallow: /")

    assert allows(text, "/a")
    assert not allows(text, f"/a{quote(char)}Disallow:%20/")


def test_half_a_mebibyte_is_read_up_to_a_line_end():
    head = for_all("Disallow: /a", "#")
    last = "\nDisallow: /"
    text = head + "x" * (rules.MAX_BYTES - len(head) - len(last)) + f"{last}b"

    assert not allows(text, "/a")
    assert allows(text, "/b")
    assert allows("x" * rules.MAX_BYTES + "\n" + for_all("Disallow: /"), "/")


@given(st.binary() | st.text().map(str.encode), st.text())
def test_any_file_is_parsed(body, path):
    url = canonicalize(f"http://a.test/{path}")
    for head in (
        b"",
        b"User-agent: *\nDisallow: ",
        b"User-agent: *\nAllow: /a\nSitemap:",
    ):
        rules = parse_rules(head + body, USER_AGENT, "http://a.test")

        assert rules.allows(url) in (True, False)
        assert all(canonicalize(sitemap) == sitemap for sitemap in rules.sitemaps)


PATH_CHARS = st.text(st.sampled_from("ab/?=&%;:,$\u00e9\u30c4 "), max_size=8)


@given(PATH_CHARS, PATH_CHARS)
def test_a_url_matches_its_own_path(path, more):
    url = canonicalize(f"http://a.test/{path}")
    rule = url.removeprefix("http://a.test").removesuffix("$")
    rules = rules_of(for_all(f"Disallow: {rule}"))

    assert not rules.allows(url)
    # Not "/%a" and then "a", which is another byte.
    assume(not re.search("%.?$", url))
    assert not rules.allows(canonicalize(f"{url}{more}"))


# Crawl-delay and Sitemap.


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("0.5", 0.5),
        (" 10 # seconds", 10.0),
        ("86400", MAX_CRAWL_DELAY_S),
        ("ten", None),
        ("", None),
    ],
)
def test_crawl_delay(value, delay_s):
    assert rules_of(for_all(f"Crawl-delay: {value}")).crawl_delay_s == delay_s


@pytest.mark.parametrize(("user_agent", "delay_s"), [("a", 9.0), ("bot", None)])
def test_crawl_delay_belongs_to_the_agents_above(user_agent, delay_s):
    assert rules_of(OWN_GROUP, user_agent).crawl_delay_s == delay_s


def test_sitemaps_are_those_of_all_groups():
    text = """\
Sitemap: http://B.test:80/s.xml
User-agent: other
Disallow: /
Sitemap: /relative.xml # comment
sitemap:https://a.test/caf\u00e9.xml
Sitemap: http://b.test/s.xml
Sitemap: ftp://a.test/s.xml
Sitemap: http://
Sitemap:
"""
    assert rules_of(text).sitemaps == (
        "http://b.test/s.xml",
        "http://a.test/relative.xml",
        "https://a.test/caf%C3%A9.xml",
        "http://a.test/",
    )


def test_number_of_sitemaps_is_limited():
    lines = [f"Sitemap: /{i}" for i in range(rules.MAX_SITEMAPS + 1)]

    assert len(rules_of("\n".join(lines)).sitemaps) == rules.MAX_SITEMAPS


def test_patterns_beyond_the_limit_only_forbid_more():
    patterns = "".join(f"Allow: /p{number}/*x\n" for number in range(MAX_PATTERNS))
    more = "Allow: /a*/open\nDisallow: /a\nDisallow: /b/*.pdf$\nDisallow: /c\nAllow: /c/d\n"

    rules = parse_rules(f"User-agent: *\n{patterns}{more}".encode(), "bot", "")

    allowed = {
        path: rules.allows(f"http://a.test{path}")
        for path in ("/ab/open", "/b/x.pdf", "/b/x", "/c/d", "/c/e", "/x")
    }
    assert allowed == {
        "/ab/open": False,
        "/b/x.pdf": False,
        "/b/x": False,
        "/c/d": True,
        "/c/e": False,
        "/x": True,
    }


def test_what_is_said_of_use_is_kept_and_forbids_nothing():
    body = (
        "Content-Signal: search=yes # for everybody\n"
        "User-agent: other\nContent-Usage: train-ai=y\n"
        "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: /a/ train-ai=n\n"
        "Allow: /\n"
    )

    assert rules_of(body).usage == (
        "Content-Signal: search=yes",
        "Content-Signal: ai-train=no",
        "Content-Usage: /a/ train-ai=n",
    )
    assert allows(body, "/a/")
