"""How text is kept in the index, so that SQLite's tokenizer finds its words.

`stored` writes a text so, `shown` gives it back for people.  Queries go through `stored`
too, so both sides are spelled alike.  Pure.

SQLite's ``unicode61`` splits at what is no letter, mark or digit, folds case, and takes
the accents off Latin letters.  What it does not know is written so that it need not:

- Scripts without spaces (Chinese, Japanese, Thai ...) and Korean, whose particles are
  part of the word, get a seam between characters.  A word is then the phrase of its
  characters, of any length, found wherever it stands.  Measured against a second table
  with the trigram tokenizer, Chinese, 2400 characters a page: 0.5 ms a page, not 1.8;
  16 KB a page, not 26; and words of one or two characters are found, which trigrams
  cannot.  Queries take 2 to 15 ms in 5 000 such pages, not 2 to 7.
- Greek letters with a tonos, and the Russian yo, are taken apart: the accents of
  combining characters are dropped.  Other Cyrillic ones stay: a short i is no i.
- Arabic vowel signs, Hebrew points, the tatweel and soft hyphens are left out for good.
  They are optional in writing, and who looks for a word types none.
- Full-width and half-width letters, presentation forms and ligatures become the plain
  letters (NFKC).  Other characters have their shape (NFC): m² is no m2.
"""

import re
import unicodedata

__all__ = ["CLOSE", "END", "OPEN", "TOKENIZER", "has_words", "shown", "stored"]

# Characters that mean something to us.  No stored text has them of itself, as no control
# character but white space is let in; all but END split words, and END is a word.
OPEN, CLOSE = "\x02", "\x03"  # around what was found
SEAM = "\x1f"
END = "\x1e"

# With the marks (M), of which the words of Indian scripts are full; without private use
# (Co), which are icons, and would be part of the word they stand before.
TOKENIZER = (
    f"unicode61 remove_diacritics 2 categories ''L* N* Mn Mc'' tokenchars ''{END}''"
)

# Kept as it is.  Checked first: most pages hold nothing else.
_PLAIN = re.compile("[\t\n\r -~\xa0-\xac\xae-\u024f\u2010-\u2027\u2030-\u203e\u20ac]*")

_CONTROLS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible
    "\ud800-\udfff"  # halves of a character, which SQLite would refuse
)
_POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670"  # Arabic
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
)
_LEFT_OUT = re.compile(f"[{_CONTROLS}{_POINTS}]+")

_OTHER_SHAPES = re.compile(
    "[\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffdc\U0001d400-\U0001d7ff]+"
)

_ACCENTED = re.compile("[\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u0401\u0451]")

# Chinese, Japanese and Korean: every character for itself.
_SQUARE = re.compile(
    "[\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)

# Thai, Lao, Burmese, Khmer: a letter and the marks on it.
_STACKED = "\u0e01-\u0e4e\u0e80-\u0edf\u1000-\u109f\u1780-\u17dd"
_STACKED_MARKS = "".join(
    chr(code)
    for code in range(0xE00, 0x1800)
    if re.match(f"[{_STACKED}]", chr(code))
    and unicodedata.category(chr(code))[0] == "M"
)
_STACKS = re.compile(f"[{_STACKED}]+")
_STACK = re.compile(f".[{_STACKED_MARKS}]*", re.DOTALL)


def stored(text: str) -> str:
    """Return a text as it goes into the index; twice is the same as once.

    >>> stored("\u00e9t\u00e9"), stored("東京tower")
    ('été', '\\x1f東\\x1f京\\x1ftower')
    """
    if _PLAIN.fullmatch(text):
        return text
    text = _OTHER_SHAPES.sub(_nfkc, text)
    # Before NFC, which could join what they parted.
    text = unicodedata.normalize("NFC", _LEFT_OUT.sub("", text))
    text = _ACCENTED.sub(_nfd, text)
    text = _SQUARE.sub(_with_seams, text)
    return _STACKS.sub(_with_seams_between_stacks, text)


def shown(text: str) -> str:
    """Return a stored text, or a part of one, for people to read.

    >>> shown(stored("東京tower"))
    '東京tower'
    """
    return unicodedata.normalize("NFC", text.replace(SEAM, "").replace(END, ""))


def has_words(text: str) -> bool:
    """Return whether there is anything in a stored text that can be looked for.

    >>> has_words("C++"), has_words("++")
    (True, False)
    """
    return any(map(str.isalnum, text))


def _nfkc(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def _nfd(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match[0])


def _with_seams(match: re.Match[str]) -> str:
    return SEAM + SEAM.join(match[0]) + SEAM


def _with_seams_between_stacks(match: re.Match[str]) -> str:
    return SEAM + SEAM.join(_STACK.findall(match[0])) + SEAM
