"""The query language, and its translation to SQLite's FTS5.

    generator coroutine       both words
    "event loop"              the phrase
    corout*                   words that begin with corout
    sleep OR wait             one or both; binds closer than the space
    -tornado, NOT tornado     pages without the word
    title:faq                 in one column: title, headings or text

Punctuation in a word splits it, in pages too: ``os.path`` is the phrase of ``os`` and
``path``.  FTS5 has its own query language, in which punctuation is an error; so it gets
only what is built here, with each word in quotes.  Pure.
"""

import re
import string
from dataclasses import dataclass

from crawler_app.base.errors import SearchError
from crawler_app.store.index.index_schema import COLUMNS
from crawler_app.store.index.letters import END, has_words, stored

__all__ = ["MAX_QUERY_CHARS", "Query", "Term", "parse_query"]

# A longer query is text pasted by mistake, and each of its words costs a search.
MAX_QUERY_CHARS = 1000

# In FTS5 an empty phrase matches nothing; an empty expression is an error.
NO_PAGE = '""'

OPERATORS = ("AND", "OR", "NOT")

_ITEM = re.compile(
    r"""
    (?P<minus> -(?=[^\s-]) )?  # not --verbose, an option of a program
    (?: (?P<column> [A-Za-z]+ ): (?=[^\s:/]) )?  # not std::vec, http://a.test
    (?: "(?P<phrase> [^"]* )"  (?P<star> \* )?
      | (?P<unclosed> " .* )
      | (?P<word> [^\s"]+ )
    )
    """,
    re.VERBOSE | re.DOTALL,
)

# Alternative spellings that neither `stored` nor SQLite treats as equal, to be searched
# for too.  Where the keyboard has no dotless i or sharp s, people type i and ss, and the
# capitals (ISPARTA, STRASSE) are plain in any case.
SPELLINGS = (
    (re.compile("[iI\u0130]"), "\u0131"),
    (re.compile("\u0131"), "i"),
    (re.compile("[sS][sS]"), "\xdf"),
    (re.compile("[\xdf\u1e9e]"), "ss"),
)


@dataclass(frozen=True, slots=True)
class Term:
    """One word or phrase.

    Attributes:
        text: As written, without operators and quotes.
        column: One of COLUMNS; None for all.
        is_prefix: Whether the last word is only the beginning of one.
    """

    text: str
    column: str | None = None
    is_prefix: bool = False

    def expression(self) -> str:
        """Return the term as an FTS5 expression.

        >>> Term("don't", column="title").expression()
        'title : "don\\'t"'
        """
        star = " *" if self.is_prefix else ""
        found = _any_of([f'"{spelling}"{star}' for spelling in _spellings(self.text)])
        return f"{self.column} : {found}" if self.column else found


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    Attributes:
        wanted: Groups of terms; a page must contain at least one of each group.
        excluded: Terms that a page must not contain.
    """

    wanted: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...] = ()

    def expression(self) -> str:
        """Return the query as an FTS5 expression.

        >>> parse_query('a "b c" d OR e* -f').expression()
        '("a" AND "b c" AND ("d" OR "e" *)) NOT "f"'
        """
        wanted = self._wanted()
        if not self.excluded:
            return wanted
        return (
            f"({wanted}) NOT {_any_of([term.expression() for term in self.excluded])}"
        )

    def in_title(self) -> str:
        """Return an expression for the pages with all wanted terms in the title."""
        return f"title : ({self._wanted()})"

    def whole_title(self) -> str:
        """Return an expression for the pages whose whole title is the query.

        >>> parse_query('the "event loop"').whole_title()
        'title : ^ "the event loop \\x1e"'
        """
        terms = [group[0] for group in self.wanted]
        if (
            self.excluded
            or any(len(group) > 1 for group in self.wanted)
            or any(
                term.is_prefix or term.column not in (None, "title") for term in terms
            )
        ):
            return NO_PAGE
        words = " ".join(stored(term.text) for term in terms)
        return f'title : ^ "{words} {END}"'

    def _wanted(self) -> str:
        groups = [
            _any_of([term.expression() for term in group]) for group in self.wanted
        ]
        return " AND ".join(groups)


def _any_of(expressions: list[str]) -> str:
    if len(expressions) == 1:
        return expressions[0]
    return f"({' OR '.join(expressions)})"


def _spellings(text: str) -> list[str]:
    """Return a text as it is in the index, and its alternative spellings."""
    spellings = [stored(text)]
    for pattern, other in SPELLINGS:
        spellings += [pattern.sub(other, spelling) for spelling in spellings]
        spellings = list(dict.fromkeys(spellings))
    return spellings


def parse_query(text: str) -> Query:
    """Parse a query.

    Raises:
        SearchError: it has nothing to search for, or is invalid; the text says where.

    >>> parse_query("title:c++ -java").excluded
    (Term(text='java', column=None, is_prefix=False),)
    """
    if len(text) > MAX_QUERY_CHARS:
        raise SearchError(
            f"a query of {len(text):,} characters; use {MAX_QUERY_CHARS:,} at most"
        )
    parser = _QueryParser()
    # Phones insert typographic quotes by themselves.
    for match in _ITEM.finditer(re.sub("[\u201c-\u201f]", '"', text)):
        parser.take(match)
    return parser.end(text)


class _QueryParser:
    """The terms parsed so far, and the operator that waits for its right side."""

    def __init__(self) -> None:
        self._wanted: list[list[Term]] = []
        self._excluded: list[Term] = []
        self._operator = ""
        # Whether an OR may follow: the term before it is wanted.
        self._has_left = False

    def take(self, match: re.Match[str]) -> None:
        if match["unclosed"]:
            raise SearchError(
                f"the quote at character {match.end() - len(match['unclosed']) + 1} "
                f"is not closed: {match['unclosed']}; close it, or leave it out"
            )
        if match[0] in OPERATORS:
            self._take_operator(match[0])
            return
        if match["minus"] or self._operator in ("OR", "NOT"):
            _refuse_group(match)
        term = _term(match)
        if term is None:
            self._refuse_nothing(match)
            return  # a dash between words, an ampersand: ignored
        operator, self._operator = self._operator, ""
        is_excluded = bool(match["minus"]) or operator == "NOT"
        if is_excluded and operator == "OR":
            raise SearchError(
                f"OR cannot stand before an excluded word, {match[0]}; write a wanted "
                "word on both sides of it, as in: sleep OR wait"
            )
        if is_excluded:
            self._excluded.append(term)
        elif operator == "OR":
            self._wanted[-1].append(term)
        else:
            self._wanted.append([term])
        self._has_left = not is_excluded

    def _take_operator(self, operator: str) -> None:
        if self._operator and (self._operator, operator) != ("AND", "NOT"):
            raise SearchError(
                f"{operator} follows directly after {self._operator}; put a word between "
                f'them, or quote it to search for the word itself: "{operator}"'
            )
        has_left = self._has_left if operator == "OR" else bool(self._wanted)
        if operator != "NOT" and not has_left:
            raise SearchError(
                f"{operator} has no wanted word on its left; write a word on both sides "
                f"of it, as in: sleep {operator} wait; or quote it to search for the "
                f'word itself: "{operator}"'
            )
        self._operator = operator

    def _refuse_nothing(self, match: re.Match[str]) -> None:
        """Refuse an item without a word where a word is required."""
        before = self._operator or match["minus"] or match["column"]
        if before:
            raise SearchError(
                f"{match[0]} at character {match.start() + 1} has no letter or digit; "
                f"write a word after {before}"
            )

    def end(self, text: str) -> Query:
        if self._operator:
            raise SearchError(
                f"{self._operator} has no word on its right; write one there, or quote "
                f'it to search for the word itself: "{self._operator}"'
            )
        if not self._wanted and self._excluded:
            raise SearchError(
                "the query only excludes words; add a word to search for, or quote a "
                'word that begins with a dash: "-x"'
            )
        if not self._wanted:
            raise SearchError(_nothing(text))
        return Query(tuple(map(tuple, self._wanted)), tuple(self._excluded))


def _nothing(text: str) -> str:
    if not text.strip():
        return "the query is empty; write a word to search for"
    if text.strip() == "*":
        return "a star stands for the rest of a word; write it after the beginning: corout*"
    return (
        f"the query has no letter or digit: {text.strip()}; only words can be "
        "searched for"
    )


def _term(match: re.Match[str]) -> Term | None:
    """Return the term of an item of a query; None if it has no word."""
    column = match["column"] and match["column"].lower()
    word = match["word"]
    if column and column not in COLUMNS:
        if word and not word[0].isalpha():  # localhost:8080
            column, word = None, f"{match['column']}:{word}"
        else:
            _refuse_column(match)
    if word is None:
        text, is_prefix = match["phrase"], bool(match["star"])
    else:
        _refuse_column_alone(match, word)
        text = word.rstrip("*")
        # After punctuation a star is punctuation too, as in "a.*" and C's "char**".
        is_prefix = word == f"{text}*" and text[-1:] not in string.punctuation
    return Term(text, column, is_prefix) if has_words(stored(text)) else None


def _refuse_column(match: re.Match[str]) -> None:
    column = match["column"]
    raise SearchError(
        f"there is no column {column}; the columns are {', '.join(COLUMNS)}; to search "
        f'for the words themselves, quote them: "{match[0].replace(chr(34), "")}"'
    )


def _refuse_group(match: re.Match[str]) -> None:
    if (match["word"] or "").startswith("("):
        raise SearchError(
            f"{match[0]} at character {match.start() + 1}: parentheses do not group; "
            "OR joins the words beside it, and each excluded word needs its own dash"
        )


def _refuse_column_alone(match: re.Match[str], word: str) -> None:
    if word.endswith(":") and word[:-1].lower() in COLUMNS:
        raise SearchError(
            f"{word} at character {match.start() + 1} has no word; write it without a "
            f"space: {word}word"
        )
