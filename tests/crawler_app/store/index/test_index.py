"""The full-text index: what is found, and what survives kills and full disks."""

import asyncio
import contextlib
import itertools
import os
import random
import sqlite3
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler_app.base.errors import ConfigError, SearchError, SearchIndexError
from crawler_app.base.models import MAX_TEXT_CHARS
from crawler_app.store.index import WORDS, PageIndex
from crawler_app.store.index.columns import MAX_WORDS
from crawler_app.store.index.index_schema import words_table
from crawler_app.store.index.texts import zstd
from tests.helpers.fuzzing import examples
from tests.helpers.scripts import IMPORTS

# Adds pages for ever, and tells of each group that was flushed.
WRITER = """
import itertools, sys
from crawler_app.store.index import PageIndex

index = PageIndex(sys.argv[1])
for n in itertools.count():
    for i in range(10):
        index.add(f"http://a.test/{n}/{i}", f"Page {n}", "", f"mill group{n} " * 50, n)
    index.add("http://a.test/same", "Same", "", f"again round{n}", n)
    index.flush()
    print(n, flush=True)
"""

# Adds the words of 1, 2 ... 40 pages at a time, of 1 MB each time, and tells what grew.
BATCHES = """
import sys
from crawler_app.store.index import PageIndex

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

index = PageIndex(sys.argv[1])
for pages in range(1, 41):
    for i in range(pages):
        text = f"{i:x}" + "a" * 1000 + " "
        index.add(f"http://a.test/{pages}/{i}", "", "", text * (1000 // pages), 0.0)
    index.flush()
    if pages == 5:
        before = resident_bytes()
print(resident_bytes() - before)
"""

# Of each language a page: title and text.
PAGES = {
    "en": (
        "Naïve Bayes classifiers",
        "A naïve approach to spam: don't panic, read os.path and C++ first.",
    ),
    "de": (
        "Straßenbahn in München",
        "Die Straßenbahn fährt durch die große Fußgängerzone über die Brücke.",
    ),
    "ru": (
        "Новогодняя ёлка",
        "Под ёлкой лежат подарки; мой брат пьёт чай из самовара.",
    ),
    "el": (
        "Ιστορία της Αθήνας",
        "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας. Ο δρόμος του μαϊμού τελείωσε.",
    ),
    "tr": (
        "Işık ve ısı",
        "ISPARTA'da kırmızı ışık yandı; İstanbul'a ılık bir rüzgâr geldi.",
    ),
    "ar": (
        "تاريخ اللغة العربية",
        "كَتَبَ مُحَمَّدٌ رِسَالَةً إلى المدرســة عن اللغة العربية.",
    ),
    "he": (
        "ירושלים",
        "שָׁלוֹם עֲלֵיכֶם נאמר ברחובות העיר העתיקה.",
    ),
    "hi": (
        "हिन्दी भाषा",
        "हिन्दी भारत की राजभाषा है और किताबें बाज़ार में मिलती हैं।",
    ),
    "ja": (
        "東京都の観光案内",
        "東京タワーは港区にある。Ｐｙｔｈｏｎ入門とｶﾞｲﾄﾞも本屋で買えます。",
    ),
    "zh": (
        "中华人民共和国历史",
        "北京是中国的首都，长城在城北。我爱吃饺子。",
    ),
    "ko": (
        "서울 여행",
        "서울에서는 한강을 따라 걸을 수 있습니다.",
    ),
    "th": (
        "ประเทศไทย",
        "กรุงเทพมหานครเป็นเมืองหลวงที่มีคนมากที่สุด",
    ),
    "vi": (
        "Hà Nội",
        "Thủ đô của Việt Nam nằm bên sông Hồng.",
    ),
}

FOUND = [
    ("en", "naive", "naïve"),
    ("en", "don't", "don't"),
    ("en", "os.path c++", "os.path"),
    ("de", "STRASSENBAHN", "Straßenbahn"),
    ("de", "fahrt fussgängerzone", "fährt"),
    ("de", "brücke", "Brücke"),
    ("ru", "елкой", "ёлкой"),
    ("ru", "ПОДАРКИ", "подарки"),
    ("ru", "пьет", "пьёт"),
    ("el", "ΑΘΗΝΑ", "Αθήνα"),
    ("el", "δρομοσ", "δρόμος"),
    ("el", "ΜΑΙΜΟΥ", "μαϊμού"),
    ("tr", "ısparta", "ISPARTA"),
    ("tr", "isparta", "ISPARTA"),
    ("tr", "kirmizi", "kırmızı"),
    ("tr", "istanbul", "İstanbul"),
    ("tr", "ILIK", "ılık"),
    ("ar", "محمد", "محمد"),
    ("ar", "كَتَبَ رسالة", "كتب"),
    ("ar", "المدرسة", "المدرسة"),
    ("he", "שלום", "שלום"),
    ("he", "עֲלֵיכֶם", "עליכם"),
    ("hi", "किताबें", "किताबें"),
    ("hi", "हिन्दी राजभाषा", "हिन्दी"),
    ("hi", "किता*", "किताबें"),
    ("ja", "東京", "東京"),
    ("ja", "港", "港"),
    ("ja", "タワー", "タワー"),
    ("ja", "python入門", "Python入門"),
    ("ja", "python", "Python"),
    ("ja", "ガイド", "ガイド"),
    ("zh", "长城", "长城"),
    ("zh", "饺", "饺"),
    ("zh", "中国的首都", "中国的首都"),
    ("ko", "한강", "한강"),
    ("ko", "서울에서", "서울에서"),
    ("th", "เมืองหลวง", "เมืองหลวง"),
    ("th", "ที่", "ที่"),
    ("th", "กรุงเทพ", "กรุงเทพ"),
    ("vi", "viet nam", "Việt"),
]


ALL_IDS = "SELECT id FROM page"

# What a query is made of, so that random ones are nearly right.
QUERY_PARTS = st.sampled_from(
    ["OR", "AND", "NOT", "-", '"', "*", ":", "title:", "foo:", "(", ")", "^", "+", "'"]
    + [" ", " ", "\t", "a", "word", "c++", "don't", "\0", "\ud800", "東京", "ที่", "é"]
    + ["\x02", "\x1e", "{", "}", ",", "NEAR", "a:b", "\u0301", "ı", "ß", "½", "\u200d"]
)
QUERIES = st.one_of(st.lists(QUERY_PARTS, max_size=12).map("".join), st.text())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crawl.sqlite"


@pytest.fixture
def open_index(path):
    """Open indexes that are closed at the end, by default in one file."""
    opened = []

    def open_index(path=path, **options):
        opened.append(PageIndex(path, **options))
        return opened[-1]

    yield open_index
    for index in opened:
        index.close()


@pytest.fixture
def index(open_index):
    return open_index()


@pytest.fixture(scope="module")
def languages():
    index = PageIndex(":memory:")
    for language, (title, text) in PAGES.items():
        index.add(url(language), title, "", text, 0.0)
    yield index
    index.close()


@pytest.fixture
def writer(path, start_script):
    """A process that adds pages, and is killed at the end."""
    return start_script(WRITER, path)


def url(path):
    return f"http://a.test/{path}"


def add(index, *pages):
    """Add pages of a path and a text, or a title, headings and a text."""
    for path, *parts in pages:
        title, headings, text = ["", "", *parts] if len(parts) == 1 else parts
        index.add(url(path), title, headings, text, 1.0)


def found(index, query, **options):
    """Return the paths of what is found, best first."""
    hits = index.search(query, **options).hits
    return [hit.url.removeprefix("http://a.test/") for hit in hits]


def highlighted(snippet):
    return [text for text, is_found in snippet.pieces() if is_found]


def check(index):
    """The words are those of the pages, all of them and no others."""
    index.flush()  # SQLite 3.40 miscounts after such a check within a transaction
    index._db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    assert index._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    index._texts.forget()  # what counts is in the file
    blocks = [pages for _, pages in index._texts.after(0)]
    texts = {page_id: columns for pages in blocks for page_id, columns in pages}
    assert texts.keys() == {page_id for (page_id,) in index._db.execute(ALL_IDS)}
    with contextlib.closing(sqlite3.connect(":memory:")) as expected:
        expected.execute(words_table())
        rows = [(page_id, *columns) for page_id, columns in texts.items()]
        expected.executemany(f"INSERT INTO {WORDS} VALUES (?, ?, ?, ?)", rows)
        assert instances(index._db) == instances(expected)


def instances(db):
    """Return every word with all its occurrences."""
    db.execute(
        "CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, words, instance)"
    )
    rows = db.execute("SELECT * FROM temp.instances").fetchall()
    db.execute("DROP TABLE temp.instances")
    return rows


# What is found.


def test_all_words_of_a_query_must_be_in_a_page(index):
    add(index, ("both", "the old mill"), ("one", "the mill"), ("none", "water"))

    assert found(index, "mill old") == ["both"]
    assert found(index, '"old mill"') == ["both"]
    assert found(index, '"mill old"') == []
    assert sorted(found(index, "old OR water")) == ["both", "none"]
    assert found(index, "mill -old") == ["one"]
    assert found(index, "wat*") == ["none"]
    assert found(index, "wat") == []


def test_words_are_found_in_one_column_or_in_all(index):
    add(index, ("a", "Mill", "River", "water"), ("b", "Water", "Mill", "river"))

    assert found(index, "title:mill") == ["a"]
    assert found(index, '"mill river"') == []  # a phrase is of one column
    assert found(index, "headings:mill") == ["b"]
    assert found(index, "text:water") == ["a"]
    assert found(index, "title:mill text:water") == ["a"]
    assert found(index, "mill -title:mill") == ["b"]
    assert sorted(found(index, "mill")) == ["a", "b"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(("language", "query", "shown"), FOUND)
def test_words_are_found_in_every_script(languages, language, query, shown, form):
    result = languages.search(unicodedata.normalize(form, query))

    assert url(language) in [hit.url for hit in result.hits]
    [hit] = [hit for hit in result.hits if hit.url == url(language)]
    assert shown in highlighted(hit.snippet)


@pytest.mark.parametrize(
    ("language", "query"),
    [("ru", "мои"), ("hi", "हन्द"), ("hi", "किताब"), ("ja", "京東"), ("zh", "城长")]
    + [("th", "ที"), ("ar", "محمود"), ("en", "nave"), ("el", "Αθήνας -ιστορία")],
)
def test_different_words_are_not_found(languages, language, query):
    assert language not in found(languages, query, limit=100)


@pytest.mark.parametrize("language", PAGES)
def test_text_is_found_however_the_server_has_encoded_it(language, index):
    title, text = PAGES[language]

    index.add(url("c"), unicodedata.normalize("NFC", title), "", text, 0.0)
    index.add(url("d"), unicodedata.normalize("NFD", title), "", text, 0.0)

    assert sorted(found(index, title)) == ["c", "d"]
    assert len({hit.title for hit in index.search(title).hits}) == 1


@pytest.mark.parametrize("language", PAGES)
def test_page_whose_title_is_the_query_comes_first(languages, language):
    title = PAGES[language][0]

    assert found(languages, title)[0] == language
    assert languages.search(title).hits[0].title == title


def test_title_beats_any_number_of_words_in_the_text(index):
    add(
        index,
        ("spam", "Event loops", "", "event loop " * 200),
        ("longer", "Event loop internals", "", "Of this and that."),
        ("long", "Event loop", "", "On that. " + "So much more to say. " * 5000),
        ("heading", "Misc", "Event loop", "On this."),
        ("text", "Misc", "", "An event loop, or what is left of it."),
        *((f"other{n}", "Other", "", "nothing of that kind") for n in range(30)),
    )

    assert found(index, "event loop")[0] == "long"
    assert found(index, '"Event Loop"')[0] == "long"
    order = found(index, "loop event")
    assert order.index("longer") < order.index("spam")
    assert order.index("heading") < order.index("text")


def test_score_falls_from_hit_to_hit(index):
    add(index, *((f"{n}", "Other", "", "mill " * n + "x " * 50) for n in range(1, 9)))

    scores = [hit.score for hit in index.search("mill OR x").hits]

    assert scores == sorted(scores, reverse=True)


def test_pages_of_hits_follow_on_each_other(index):
    add(index, *((f"{n}", "mill") for n in range(25)), ("other", "water"))

    pages = [found(index, "mill", limit=10, offset=offset) for offset in (0, 10, 20)]

    assert [len(page) for page in pages] == [10, 10, 5]
    assert len(set(itertools.chain(*pages))) == 25
    assert index.search("mill", limit=1, offset=100).total == 25
    assert found(index, "mill", limit=1, offset=100) == []


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (10, -1)])
def test_invalid_limit_and_offset_are_refused(index, limit, offset):
    with pytest.raises(ConfigError, match="limit must be at least 1"):
        index.search("a", limit, offset)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("nowhere", ""),
        ("wat", r"try wat\*"),
        ("mill nowhere", "no page contains nowhere; leave it out"),
        ("mill water", "all of these words; put OR between"),
        ("mill -wheel", "exclude fewer"),
    ],
)
def test_no_hit_comes_with_a_hint(index, query, hint):
    add(index, ("a", "mill wheel"), ("b", "water"))

    result = index.search(query)

    assert (result.total, result.hits) == (0, [])
    if hint:
        assert hint.replace("\\", "") in result.hint
    else:
        assert not result.hint
    assert not index.search("mill").hint


@settings(max_examples=examples(500))
@given(query=QUERIES)
@example(query="東京 OR ısparta -x")
@example(query="a " * 500)
@example(query="a OR " * 199 + "a")
@example(query="a " + "-b " * 300)
@example(query="ısss " * 200)
@example(query='"\x1e"')
@example(query="NEAR(a b)")
def test_any_query_gives_a_result_or_a_search_error(languages, query):
    try:
        result = languages.search(query)
    except SearchError as exc:
        assert str(exc)
        return

    assert 0 <= len(result.hits) <= result.total <= len(PAGES)


TEXTS = st.text(min_size=1) | st.text("ab \x02\x03\x1e\x1f\0\ud800東é\u0301")


@settings(max_examples=examples(10))
@given(texts=st.lists(TEXTS, min_size=1, max_size=10))
def test_any_text_is_taken_in_and_shown_without_our_marks(languages, texts):
    for text in texts:
        languages.add(url("any"), text, text, f"zebra {text} zebra", 0.0)

        [hit] = languages.search("zebra").hits

        assert "zebra" in highlighted(hit.snippet)
        for shown in (hit.title, hit.snippet.text):
            assert not set("\x02\x03\x1e\x1f\0") & set(shown)
        languages.remove(url("any"))
        assert languages.search("zebra").total == 0
    check(languages)  # which takes longer than all of the above


# Snippets.


def test_snippet_shows_the_text_around_the_words(index):
    add(index, ("a", f"{'before ' * 500}the old mill {'after ' * 500}"))

    [hit] = index.search("mill").hits

    assert "the old mill after" in hit.snippet.text
    assert hit.snippet.text[0] == hit.snippet.text[-1] == "…"
    assert len(hit.snippet.text) < 400
    assert highlighted(hit.snippet) == ["mill"]


def test_snippet_falls_back_to_headings_or_the_beginning(
    index,
):
    add(index, ("a", "Title", "Some heading", "Begins so."))

    assert index.search("heading").hits[0].snippet.text == "Some heading"
    assert index.search("title").hits[0].snippet.text == "Begins so."
    assert index.search("title").hits[0].snippet.highlights == []


def test_snippet_of_chinese_has_no_seams_and_marks_whole_words(index):
    add(index, ("a", "我们" * 200 + "北京是中国的首都" + "他们" * 200))

    [hit] = index.search("中国").hits

    assert "北京是中国的首都" in hit.snippet.text
    assert highlighted(hit.snippet) == ["中国"]


# Pages that change.


def test_page_that_has_not_changed_costs_no_words(index):
    add(index, ("a", "Title", "Heading", "mill"))
    index.flush()
    before = index._db.execute("SELECT count(*), max(id) FROM words_data").fetchall()

    index.add(url("a"), "Title", "Heading", "mill", 2.0)
    index.flush()

    after = index._db.execute("SELECT count(*), max(id) FROM words_data").fetchall()
    assert after == before
    assert index._db.execute("SELECT indexed_at FROM page").fetchall() == [(2.0,)]


def test_very_long_text_is_cut(index):
    add(index, ("a", "x" * (MAX_TEXT_CHARS - 5) + " mill water"))

    assert found(index, "mill") == ["a"]
    assert found(index, "water") == []


@pytest.mark.parametrize(
    ("first", "last", "separator"),
    [
        (0x61, 0x7A, " "),
        (0x21, 0xD7FF, ""),
        (0x20000, 0x2FFFF, ""),
        (0x300, 0xFFF, "☃"),
    ],
)
def test_text_of_too_many_words_is_cut_where_they_are_too_many(
    index, first, last, separator
):
    rng = random.Random(1)
    codes = (rng.choices(range(first, last + 1), k=4) for _ in range(50_000))
    text = separator.join("".join(map(chr, each)) for each in codes)

    add(index, ("a", text))
    index.flush()

    index._db.execute(
        "CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)"
    )
    (words,) = index._db.execute("SELECT count(*) FROM terms").fetchone()
    assert 0.8 * MAX_WORDS < words <= MAX_WORDS + 1  # with the end of the title


def test_long_text_of_ordinary_words_is_not_cut(index):
    add(index, ("a", " ".join(f"word{n % 9_000}" for n in range(22_000)) + " mill"))

    assert found(index, "mill") == ["a"]


def test_index_stays_a_list_of_pages_under_random_operations(index):
    rng = random.Random(7)
    words = ["mill", "東京", "Αθήνα", "ёлка", "ısı", "water", "os.path"]
    text_by_path = {}
    for _ in range(400):
        path = str(rng.randrange(20))
        if rng.random() < 0.3:
            index.remove(url(path))
            text_by_path.pop(path, None)
        else:
            parts = rng.choices(words, k=3)
            text_by_path[path] = " ".join(parts)
            add(index, (path, *parts))
        if rng.random() < 0.2:
            index.flush()

    assert len(index) == len(text_by_path)
    for word in words:
        wanted = {path for path, text in text_by_path.items() if word in text}
        assert set(found(index, word, limit=100)) == wanted
    check(index)


# The file.


def test_search_sees_the_pages_at_one_moment(open_index):
    writer = open_index()
    add(writer, ("a", "mill"), ("b", "mill"))
    writer.flush()
    reader = open_index(read_only=True)

    def remove_all(sql):
        if "FROM block" in sql:  # the last of the steps of a search
            writer.remove(url("a"))
            writer.remove(url("b"))
            writer.flush()

    reader._db.set_trace_callback(remove_all)
    before = reader.search("mill")
    reader._db.set_trace_callback(None)
    after = reader.search("mill")

    assert (before.total, len(before.hits)) == (2, 2)
    assert (after.total, len(after.hits)) == (0, 0)


def test_killed_writer_loses_nothing_that_was_flushed(open_index, path, writer):
    flushed = [int(writer.stdout.readline()) for _ in range(30)][-1]

    writer.kill()
    flushed = max([flushed, *map(int, writer.stdout.read().splitlines())])

    index = open_index()
    groups = (len(index) - 1) // 10
    assert groups in (flushed + 1, flushed + 2)  # one that it could not tell of
    assert len(index) == groups * 10 + 1
    assert index.search("mill").total == groups * 10
    for n in range(groups):
        assert index.search(f"group{n}").total == 10
    assert found(index, "again") == ["same"]
    assert index.search(f"round{groups - 1}").total == 1
    check(index)
    add(index, ("new", "afterwards"))
    assert found(index, "afterwards") == ["new"]


def test_missing_index_is_reported(open_index, path):
    with pytest.raises(ConfigError, match=f"^{path.parent} has no index: crawl.sqlite"):
        open_index(read_only=True)

    assert not path.exists()


def test_sqlite_without_fts5_is_reported(open_index, path, monkeypatch):
    class WithoutFts5(sqlite3.Connection):
        def execute(self, sql, *values):
            if "fts5" in sql:
                raise sqlite3.OperationalError("no such function: fts5_source_id")
            return super().execute(sql, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=WithoutFts5)
    )

    with pytest.raises(ConfigError, match="built without FTS5.*crawl without an index"):
        open_index()


def test_damaged_file_is_an_error_of_ours(open_index, path):
    index = open_index()
    add(index, *((f"{n}", f"mill word{n} " * 100) for n in range(200)))
    index.close()
    damaged = bytearray(path.read_bytes())
    for start in range(8192, len(damaged), 4096):
        damaged[start : start + 2048] = b"\xff" * 2048
    path.write_bytes(damaged)

    with pytest.raises((SearchIndexError, ConfigError), match="cannot be (read|used)"):
        open_index().search("mill")


# Disks that fail.


def add_until_full(index):
    for n in itertools.count():
        for i in range(5):
            add(index, (f"{n}/{i}", f"mill group{n} " + os.urandom(2000).hex()))
        index.flush()


def test_full_disk_is_an_error_and_keeps_the_last_flush(open_index):
    index = open_index()
    add(index, ("first", "mill"))
    index.flush()
    index._db.execute("PRAGMA max_page_count = 200")

    with pytest.raises(SearchIndexError, match="full; the pages since the last commit"):
        add_until_full(index)

    index._db.execute("PRAGMA max_page_count = 100000")
    with contextlib.suppress(SearchIndexError):  # told again, if `add` has met it
        index.flush()
    assert len(index) == index.search("mill").total > 5
    assert len(index) % 5 == 1
    check(index)
    add(index, ("later", "mill later"))
    index.flush()
    assert found(open_index(read_only=True), "later") == ["later"]


class FailingCommit:
    """A connection that cannot commit."""

    def __init__(self, db):
        self._db = db

    def __getattr__(self, name):
        return getattr(self._db, name)

    def execute(self, sql, *values):
        if sql == "COMMIT":
            raise MemoryError
        return self._db.execute(sql, *values)


def add_unstorable(index, monkeypatch):
    add(index, ("\ud800", "mill"))
    len(index)  # writes it


def remove_unstorable(index, monkeypatch):
    index.remove(url("\ud800"))


def add_without_time(index, monkeypatch):
    index.add(url("bad"), "Bad", "", "bad", object())
    len(index)


def fail_to_commit(index, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(index, "_db", FailingCommit(index._db))
        index.flush()


@pytest.mark.parametrize(
    ("fail", "cause"),
    [
        (add_unstorable, UnicodeEncodeError),
        (remove_unstorable, UnicodeEncodeError),
        (add_without_time, sqlite3.Error),
        (fail_to_commit, MemoryError),
    ],
)
def test_step_that_fails_loses_its_group_and_says_so(
    open_index, monkeypatch, fail, cause
):
    index = open_index()
    add(index, ("first", "mill"))
    index.flush()
    add(index, ("second", "mill"))

    with pytest.raises(SearchIndexError, match="since the last commit") as raised:
        fail(index, monkeypatch)

    assert isinstance(raised.value.__cause__, cause)
    if fail is not fail_to_commit:
        add(index, ("third", "mill"))  # of the same group
        with pytest.raises(SearchIndexError, match="not in the index"):
            index.flush()
    assert found(index, "mill") == ["first"]
    add(index, ("next", "mill"))
    index.flush()
    check(index)
    assert sorted(found(open_index(read_only=True), "mill")) == ["first", "next"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError()])
def test_interrupt_loses_its_group_and_stays_an_interrupt(index, monkeypatch, error):
    def interrupt(page):
        raise error

    add(index, ("first", "mill"))
    index.flush()
    add(index, ("second", "mill"), ("first", "changed"))
    monkeypatch.setattr(index, "_remove", interrupt)

    with pytest.raises(type(error)) as raised:
        index.remove(url("first"))
    with pytest.raises(SearchIndexError, match=type(error).__name__):
        index.flush()

    assert raised.value is error
    assert error.__cause__ is None
    assert found(index, "mill") == ["first"]
    check(index)


def test_page_that_the_words_know_and_the_table_does_not_is_damage(index):
    add(index, ("a", "mill"))
    index.flush()
    index._db.execute("DELETE FROM page")

    with pytest.raises(SearchIndexError, match="is damaged.*; delete crawl.sqlite"):
        index.search("mill")


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"no block",
        zstd.compress(b"title\0headings\0text")[:-1],
        zstd.compress(b"title\0text"),
        zstd.compress(b"title\0headings\0\xff"),
        zstd.compress(b"title\0headings\0text" + bytes(4000)),
        zstd.compress(b"x" * 2**23),
    ],
)
def test_texts_that_are_damaged_are_an_error(index, block):
    add(index, ("a", "mill"))
    index.flush()
    index._db.execute("UPDATE block SET texts = ?", (block,))

    with pytest.raises(SearchIndexError, match="is damaged.*; delete crawl.sqlite"):
        index.search("mill")


def test_replacing_pages_reads_and_writes_a_block_once(index):
    paths = [str(number) for number in range(100)]
    add(index, *((path, "old " * 100) for path in paths))
    index.flush()
    statements = []
    index._db.set_trace_callback(statements.append)

    add(index, *((path, "new " * 100) for path in paths[::2]))
    index.flush()

    index._db.set_trace_callback(None)
    assert sum("UPDATE block SET texts" in each for each in statements) == 1
    assert sum("SELECT texts FROM block" in each for each in statements) == 1
    check(index)
    assert index.search("old").total == index.search("new").total == 50


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="it needs Linux")
def test_memory_does_not_hold_what_was_added(path):
    command = [sys.executable, "-c", BATCHES, path]

    grown = int(subprocess.check_output(command, env=IMPORTS))

    assert grown < 15 * 2**20  # of 35 MB
