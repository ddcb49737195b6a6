"""Normalizes text for the index, so that SQLite's tokenizer finds its words.

`stored` normalizes a text, `shown` makes it readable again.  Queries go through `stored`
too, so both sides are spelled alike.  Pure.

SQLite's ``unicode61`` splits at every character that is not a letter, mark or digit,
folds case, and removes the accents of Latin letters.  The rest is done here:

- Scripts without spaces (Chinese, Japanese, Thai ...) and Korean, whose particles are
  part of the word, get a separator between characters.  A word is then the phrase of its
  characters, of any length, found anywhere in the text.  Measured against a second table
  with the trigram tokenizer, Chinese, 2400 characters a page: 0.5 ms a page, not 1.8;
  16 KB a page, not 26; and words of one or two characters are found, which trigrams
  cannot.  Queries take 2 to 15 ms in 5 000 such pages, not 2 to 7.
- Greek letters with a tonos, and the Russian yo, are decomposed: the tokenizer drops
  combining accents.  Other Cyrillic letters stay: a short i is a letter of its own.
- Arabic vowel signs, Hebrew points, the tatweel and soft hyphens are removed.  They are
  optional in writing, and people do not type them in a query.
- Full-width and half-width letters, presentation forms and ligatures become plain letters
  (NFKC).  Other characters keep their shape (NFC): m² is not m2.
"""

import re
import unicodedata

__all__ = ["CLOSE", "END", "OPEN", "TOKENIZER", "has_words", "shown", "stored"]

# Control characters with a meaning of ours.  No text has them, as all control characters
# but white space are removed from it.  END is a word; the others split words.
OPEN, CLOSE = "\x02", "\x03"  # around a match
SEAM = "\x1f"
END = "\x1e"

# With marks (M), which the words of Indian scripts are full of; without private use (Co):
# icons, which would become part of the word after them.
TOKENIZER = (
    f"unicode61 remove_diacritics 2 categories ''L* N* Mn Mc'' tokenchars ''{END}''"
)

# Text that stays as it is.  Checked first, because most pages hold nothing else.
_PLAIN = re.compile("[\t\n\r -~\xa0-\xac\xae-\u024f\u2010-\u2027\u2030-\u203e\u20ac]*")

_CONTROLS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible
    "\ud800-\udfff"  # surrogates, which SQLite would refuse
)
_POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670"  # Arabic
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
)
_LEFT_OUT = re.compile(f"[{_CONTROLS}{_POINTS}]+")

_OTHER_SHAPES = re.compile(
    "[\ufb00-\ufdf9\ufdfc-\ufdff\ufe70-\ufefc\uff01-\uffdc\U0001d400-\U0001d7ff]+"
)

_ACCENTED = re.compile("[\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u0401\u0451]")

# For text in ASCII, which takes half the time of a match.
_WITHOUT_ASCII_CONTROLS = {
    code: None if re.match(f"[{_CONTROLS}]", chr(code)) else chr(code)
    for code in range(128)
}

# Ligatures of whole phrases, of which one becomes eighteen letters; a text of nothing else
# would take all the time, so no more than MAX_PHRASES are expanded.
_PHRASES = "\ufdfa\ufdfb"
MAX_PHRASES = 1000

# Ends after white space or, if a word is longer than that, not in front of a mark.
_PIECE = re.compile(
    r".{1,255}\s|.{1,256}(?![\u0300-\u036f\u3099\u309a])|.{256}", re.DOTALL
)

# Chinese, Japanese and Korean: every character is separated.
_SQUARE = re.compile(
    "[\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)

# Thai, Lao, Burmese, Khmer: a letter stays with its marks.
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
    """Return a text normalized for the index; idempotent.

    >>> stored("\u00e9t\u00e9"), stored("東京tower")
    ('été', '\\x1f東\\x1f京\\x1ftower')
    """
    if text.isascii():
        return text.translate(_WITHOUT_ASCII_CONTROLS)
    if _PLAIN.fullmatch(text):
        return text
    for phrase in _PHRASES:
        text = text.replace(phrase, unicodedata.normalize("NFKC", phrase), MAX_PHRASES)
    text = _OTHER_SHAPES.sub(_nfkc, text)
    # Removed before NFC, so that NFC can join the characters around them.
    text = _nfc(_LEFT_OUT.sub("", text))
    text = _ACCENTED.sub(_nfd, text)
    text = _SQUARE.sub(_with_seams, text)
    return _STACKS.sub(_with_seams_between_stacks, text)


def shown(text: str) -> str:
    """Return a stored text, or a part of one, in readable form.

    >>> shown(stored("東京tower"))
    '東京tower'
    """
    return _nfc(text.replace(SEAM, "").replace(END, ""))


def has_words(text: str) -> bool:
    """Return whether a stored text has anything that can be searched for.

    >>> has_words("C++"), has_words("++")
    (True, False)
    """
    return any(map(str.isalnum, text))


def _nfc(text: str) -> str:
    """Normalize a text piece by piece.

    Python sorts the combining marks after a letter in time quadratic in their number.
    """
    return "".join(
        [unicodedata.normalize("NFC", each) for each in _PIECE.findall(text)]
    )


def _nfkc(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def _nfd(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match[0])


def _with_seams(match: re.Match[str]) -> str:
    return SEAM + SEAM.join(match[0]) + SEAM


def _with_seams_between_stacks(match: re.Match[str]) -> str:
    return SEAM + SEAM.join(_STACK.findall(match[0])) + SEAM
