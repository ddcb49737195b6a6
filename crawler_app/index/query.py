"""The query language, and what it means to SQLite's FTS5.

    generator coroutine       both words
    "event loop"              the phrase
    corout*                   words that begin so
    sleep OR wait             one or both; binds closer than the space
    -tornado, NOT tornado     pages without the word
    title:faq                 in one column: title, headings or text

Punctuation in a word splits it, in pages too: ``os.path`` is the phrase of ``os`` and
``path``.  FTS5 has a language of its own, in which punctuation is an error: it only ever
sees what is written here, each word in quotes.  Pure.
"""

import re
import string
from dataclasses import dataclass

from crawler_app.errors import SearchError
from crawler_app.index.letters import END, has_words, stored
from crawler_app.index.schema import COLUMNS

__all__ = ["MAX_QUERY_CHARS", "Query", "Term", "parse_query"]

# A long one is a text pasted by mistake, and each of its words costs a search.
MAX_QUERY_CHARS = 1000

# FTS5 reads an empty phrase as what nothing has; an empty expression is an error.
NO_PAGE = '""'

OPERATORS = ("AND", "OR", "NOT")

_ITEM = re.compile(
    r"""
    (?P<minus> -(?=[^\s-]) )?  # two are a program's option: --verbose
    (?: (?P<column> [A-Za-z]+ ): (?=[^\s:/]) )?  # but std::vec, http://a.test
    (?: "(?P<phrase> [^"]* )"  (?P<star> \* )?
      | (?P<unclosed> " .* )
      | (?P<word> [^\s"]+ )
    )
    """,
    re.VERBOSE | re.DOTALL,
)

# Ways of writing that neither we nor SQLite take for one: what to look for besides.  A
# dotless i and a sharp s are typed plain where the keyboard has none, and their capitals
# (ISPARTA, STRASSE) are plain in any case.
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
        text: As it was written, without its signs.
        column: One of COLUMNS; None for all.
        is_prefix: Whether the last word may go on.
    """

    text: str
    column: str | None = None
    is_prefix: bool = False

    def expression(self) -> str:
        """Return it as FTS5 reads it.

        >>> Term("don't", column="title").expression()
        'title : "don\\'t"'
        """
        star = " *" if self.is_prefix else ""
        found = _any_of([f'"{spelling}"{star}' for spelling in _spellings(self.text)])
        return f"{self.column} : {found}" if self.column else found


@dataclass(frozen=True, slots=True)
class Query:
    """What a page must have, and must not.

    Attributes:
        wanted: Of each group, one at least.
    """

    wanted: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...] = ()

    def expression(self) -> str:
        """Return it as FTS5 reads it.

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
        """Return what finds the pages that have all of it in the title."""
        return f"title : ({self._wanted()})"

    def whole_title(self) -> str:
        """Return what finds the pages of which it is the title, if it can be one.

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
    """Return a text as the index has it, and its other spellings, each once."""
    spellings = [stored(text)]
    for pattern, other in SPELLINGS:
        spellings += [pattern.sub(other, spelling) for spelling in spellings]
        spellings = list(dict.fromkeys(spellings))
    return spellings


def parse_query(text: str) -> Query:
    """Read a query.

    Raises:
        SearchError: it looks for nothing, or is wrong; its text says where.

    >>> parse_query("title:c++ -java").excluded
    (Term(text='java', column=None, is_prefix=False),)
    """
    if len(text) > MAX_QUERY_CHARS:
        raise SearchError(
            f"a query of {len(text):,} characters; use {MAX_QUERY_CHARS:,} at most"
        )
    parser = _Parser()
    # Telephones write these of themselves.
    for match in _ITEM.finditer(re.sub("[\u201c-\u201f]", '"', text)):
        parser.take(match)
    return parser.end(text)


class _Parser:
    """What was understood so far, and the operator that waits for its right side."""

    def __init__(self) -> None:
        self._wanted: list[list[Term]] = []
        self._excluded: list[Term] = []
        self._operator = ""
        # Whether an OR may follow: what stands before it is wanted.
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
            return  # a dash between words, an ampersand: nobody means them
        operator, self._operator = self._operator, ""
        is_excluded = bool(match["minus"]) or operator == "NOT"
        if is_excluded and operator == "OR":
            raise SearchError(
                f"OR cannot stand before an exclusion, {match[0]}; name what is wanted "
                "on both sides of it, as in: sleep OR wait"
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
                f"{operator} stands right after {self._operator}; put a word between "
                f'them, or quote it to look for the word itself: "{operator}"'
            )
        has_left = self._has_left if operator == "OR" else bool(self._wanted)
        if operator != "NOT" and not has_left:
            raise SearchError(
                f"{operator} has nothing wanted on its left; write a word on both sides "
                f"of it, as in: sleep {operator} wait; or quote it to look for the word "
                f'itself: "{operator}"'
            )
        self._operator = operator

    def _refuse_nothing(self, match: re.Match[str]) -> None:
        """Refuse what holds no word, where one must stand."""
        before = self._operator or match["minus"] or match["column"]
        if before:
            raise SearchError(
                f"{match[0]} at character {match.start() + 1} holds no letter and no "
                f"digit; write a word after {before}"
            )

    def end(self, text: str) -> Query:
        if self._operator:
            raise SearchError(
                f"{self._operator} has nothing on its right; write a word there, or "
                f'quote it to look for the word itself: "{self._operator}"'
            )
        if not self._wanted and self._excluded:
            raise SearchError(
                "the query only says what to leave out; add a word to look for, or "
                'quote what begins with a dash: "-x"'
            )
        if not self._wanted:
            raise SearchError(_nothing(text))
        return Query(tuple(map(tuple, self._wanted)), tuple(self._excluded))


def _nothing(text: str) -> str:
    if not text.strip():
        return "the query is empty; write a word to look for"
    if text.strip() == "*":
        return "a star stands at the end of a word, for its other ends: corout*"
    return (
        f"the query holds no letter and no digit: {text.strip()}; only words can be "
        "looked for"
    )


def _term(match: re.Match[str]) -> Term | None:
    """Return what an item of a query looks for; None if it holds no word."""
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
        # After punctuation it is more of that, as in "a.*" and C's "char**".
        is_prefix = word == f"{text}*" and text[-1:] not in string.punctuation
    return Term(text, column, is_prefix) if has_words(stored(text)) else None


def _refuse_column(match: re.Match[str]) -> None:
    column = match["column"]
    raise SearchError(
        f"there is no column {column}; the columns are {', '.join(COLUMNS)}; to look for "
        f'the words themselves, quote them: "{match[0].replace(chr(34), "")}"'
    )


def _refuse_group(match: re.Match[str]) -> None:
    if (match["word"] or "").startswith("("):
        raise SearchError(
            f"{match[0]} at character {match.start() + 1}: parentheses do not group; "
            "OR joins the words beside it, and each word to leave out has its own dash"
        )


def _refuse_column_alone(match: re.Match[str], word: str) -> None:
    if word.endswith(":") and word[:-1].lower() in COLUMNS:
        raise SearchError(
            f"{word} at character {match.start() + 1} has no word; write it without a "
            f"space: {word}word"
        )
