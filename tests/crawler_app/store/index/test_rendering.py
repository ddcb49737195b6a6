"""The query language, and how hits are shown."""

import json
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler_app.base.errors import SearchError
from crawler_app.store.index import Hit, SearchResult, Snippet
from crawler_app.store.index.hits import read_snippet
from crawler_app.store.index.letters import CLOSE, OPEN, TOKENIZER, shown, stored
from crawler_app.store.index.query import MAX_QUERY_CHARS, Term, parse_query
from crawler_app.store.index.rendering import render_hits, to_json
from tests.helpers.fuzzing import examples

TEXTS = st.one_of(
    st.text(),
    st.text("aé\u0301\u0308έё東京ab がｶﾞＡหิ่ \x1e\x1f\xad\u064b\u0654ا\u05b0ש\ufb01"),
)


@pytest.fixture(scope="module")
def fts():
    """A table like the one of the index, to see how SQLite reads a query."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute(
        f"CREATE VIRTUAL TABLE words USING fts5(title, headings, text,"
        f" tokenize='{TOKENIZER}')"
    )
    db.execute("INSERT INTO words VALUES ('a word', 'foo', 'a b c')")
    yield db
    db.close()


def matches(fts, expression):
    return fts.execute(
        "SELECT count(*) FROM words WHERE words MATCH ?", (expression,)
    ).fetchone()[0]


# The language.


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("a", '"a"'),
        ("a b", '"a" AND "b"'),
        ("a AND b", '"a" AND "b"'),
        ('"a b" c', '"a b" AND "c"'),
        ("“a b”", '"a b"'),
        ('a"b c"d', '"a" AND "b c" AND "d"'),
        ("a*", '"a" *'),
        ('"a b"*', '"a b" *'),
        ("a OR b", '("a" OR "b")'),
        ("a b OR c OR d e", '"a" AND ("b" OR "c" OR "d") AND "e"'),
        ("a -b", '("a") NOT "b"'),
        ("-b a", '("a") NOT "b"'),
        ("a NOT b -c", '("a") NOT ("b" OR "c")'),
        ("a AND NOT b", '("a") NOT "b"'),
        ('a -"b c"', '("a") NOT "b c"'),
        ("title:a", 'title : "a"'),
        ('HEADINGS:"a b" text:c*', 'headings : "a b" AND text : "c" *'),
        ("a -title:b", '("a") NOT title : "b"'),
    ],
)
def test_query_says_what_a_page_must_have(query, expression):
    assert parse_query(query).expression() == expression


@pytest.mark.parametrize(
    "word",
    ["os.path", "c++", "don't", "foo_bar", "std::vec", "http://a.test/x?y=1", "10:30"]
    + [
        "localhost:8080",
        "--verbose",
        "f(x)",
        "(2019)",
        "a^b",
        "{x}",
        "#1",
        "a,b",
        "C:\\x",
    ]
    + ["a.*", "char**", "NEAR", "or", "*args"],
)
def test_word_with_punctuation_is_the_phrase_of_its_tokens(fts, word):
    [[term]] = parse_query(word).wanted

    assert not term.is_prefix
    before = matches(fts, term.expression())
    fts.execute("SAVEPOINT page")
    fts.execute("INSERT INTO words (text) VALUES (?)", (f"x {word} y",))
    assert matches(fts, term.expression()) == before + 1
    fts.execute("ROLLBACK TO page")


def test_punctuation_between_words_is_passed_over():
    query = parse_query("salt & pepper - a study ...")

    assert query == parse_query("salt pepper a study")


@pytest.mark.parametrize(
    ("query", "wrong", "cure"),
    [
        ("", "empty", "write a word"),
        (" \t", "empty", "write a word"),
        ("*", "star", r"corout\*"),
        ("++ ::", r"no letter or digit: \+\+ ::", "only words"),
        ('a "b c', 'quote at character 3 .*: "b c', "close it"),
        ('5"', "quote at character 2 ", "leave it out"),
        ("-a -b", "only excludes words", 'quote .* "-x"'),
        ("NOT a", "only excludes words", "add a word"),
        ("OR a", "OR has no wanted word on its left", "sleep OR wait"),
        ("-a OR b", "OR has no wanted word on its left", "sleep OR wait"),
        ("AND a", "AND has no wanted word on its left", "sleep AND wait"),
        ("a OR", "OR has no word on its right", '"OR"'),
        ("a NOT", "NOT has no word on its right", '"NOT"'),
        ("a OR OR b", "OR follows directly after OR", '"OR"'),
        ("a OR -b", "OR cannot stand before an excluded word, -b", "both sides"),
        ("a OR &", "& at character 6", "word after OR"),
        ("a -&", "-& at character 3", "word after -"),
        ("title:&", "title:& at character 1", "word after title"),
        ("a title: b", "title: at character 3", "title:word"),
        ("body:a", "no column body", 'title, headings, text; .* quote them: "body:a"'),
        ('body:"a b"', "no column body", 'quote them: "body:a b"'),
        ("a OR (b c)", r"\(b at character 6", "OR joins the words beside it"),
        ("a -(b c)", r"-\(b at character 3", "its own dash"),
        ("x" * (MAX_QUERY_CHARS + 1), "1,001 characters", "1,000 at most"),
    ],
)
def test_bad_query_is_reported_with_position_and_cure(query, wrong, cure):
    with pytest.raises(SearchError, match=f"(?s){wrong}.*{cure}"):
        parse_query(query)


def test_word_is_looked_for_in_its_other_spellings():
    assert Term("KIZ").expression() == '("KIZ" OR "KıZ" OR "KiZ")'
    assert Term("Straße").expression() == '("Straße" OR "Strasse")'
    assert Term("cat").expression() == '"cat"'


# Letters.


@settings(max_examples=examples(400))
@given(TEXTS)
def test_storing_is_idempotent_and_leaves_no_control_characters(text):
    once = stored(text)

    assert stored(once) == once
    assert stored(shown(once)) == once
    assert not {OPEN, CLOSE, "\x1e"} & set(once)
    once.encode()


@pytest.mark.parametrize(
    "text",
    ["Ünïcödé", "Αθήνα ΐ", "ёлка мой", "東京tower。第2回", "ที่นี่ประเทศไทย", "हिन्दी भाषा"]
    + [
        "ışık İstanbul",
        "m² ½ ™",
        "👨\u200d👩\u200d👧 ❤️",
        "می\u200cخواهم أحمد",
        "서울에서 봄",
    ],
)
def test_text_is_shown_as_it_was(text):
    assert shown(stored(text)) == text


# Snippets.


def test_highlights_are_counted_in_what_is_shown():
    marked = f" \n a{OPEN}{stored('東京')}{CLOSE} \t {OPEN}{stored('Αθήνα')}{CLOSE}  b "

    snippet = read_snippet(marked)

    assert snippet.text == "a東京 Αθήνα b"
    assert [snippet.text[a:b] for a, b in snippet.highlights] == ["東京", "Αθήνα"]


def test_long_snippet_is_cut_around_the_first_highlight():
    snippet = read_snippet(f"{'x' * 5000} {OPEN}word{CLOSE} {OPEN}{'y' * 5000}{CLOSE}")

    assert len(snippet.text) <= 400
    places = [snippet.text[a:b] for a, b in snippet.highlights]
    assert places[0] == "word" and set(places[1]) == {"y"}


@given(st.lists(st.tuples(st.text(" ab\n東"), st.booleans())))
def test_pieces_of_a_snippet_are_its_text(parts):
    marked = "".join(f"{OPEN}{t}{CLOSE}" if is_found else t for t, is_found in parts)

    snippet = read_snippet(marked)

    assert "".join(text for text, _ in snippet.pieces()) == snippet.text
    found = [text for text, is_found in snippet.pieces() if is_found]
    assert found == [snippet.text[a:b] for a, b in snippet.highlights]
    assert all(found)


# For a person, and for a program.


def hit(title="Home", url="http://a.test/", text="the mill", highlights=((4, 8),)):
    return Hit(url, title, Snippet(text, list(highlights)), 1.5)


NUMBERED = """\
1,234 pages found for: mill (21 to 22 are shown)

 21. Home
     http://a.test/
     the mill

 22. (no title)
     http://a.test/
     the mill"""


BOLD = """\
1 page found for: mill

  1. Home
     http://a.test/
     the \x1b[1mmill\x1b[0m"""

ALL = """\
2 pages found for: mill

  1. Home
     http://a.test/

  2. Home
     http://a.test/"""


@pytest.mark.parametrize(
    ("result", "bold", "text"),
    [
        (SearchResult("mill", 1234, 20, [hit(), hit(title="")]), False, NUMBERED),
        (SearchResult("mill", 1, 0, [hit()]), True, BOLD),
        (SearchResult("mill", 2, 0, [hit(text="")] * 2), False, ALL),
        (
            SearchResult("a b", 0, 0, [], hint="no page contains b; leave it out"),
            True,
            "no page found for: a b\n\nno page contains b; leave it out",
        ),
        (
            SearchResult("a", 3, 10, []),
            False,
            "3 pages found for: a (none after the first 10)",
        ),
    ],
)
def test_hits_are_shown_to_a_person(result, bold, text):
    assert render_hits(result, bold=bold) == text


def test_page_cannot_send_codes_to_the_terminal():
    evil = "a\x1b[2J\x9b31m\u202eb\x07"
    result = SearchResult(evil, 0, 0, [hit(evil, evil, evil, [(0, len(evil))])], evil)

    for bold in (False, True):
        text = render_hits(result, bold=bold)
        for code in ("\x1b[1m", "\x1b[0m", "\n"):
            text = text.replace(code, "")
        assert text.isprintable()


def test_json_has_numbers_for_highlights():
    result = SearchResult("mill", 1, 0, [hit()])

    read = json.loads(json.dumps(to_json(result)))

    assert read == {
        "query": "mill",
        "total": 1,
        "offset": 0,
        "hits": [
            {
                "url": "http://a.test/",
                "title": "Home",
                "snippet": "the mill",
                "highlights": [[4, 8]],
                "score": 1.5,
            }
        ],
        "hint": None,
    }
