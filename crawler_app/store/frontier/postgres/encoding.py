"""The encoding of steps and answers: JSON that PostgreSQL can store.

Pure.  A text in PostgreSQL has no NUL, and no half of a surrogate pair.  Sites do send them,
so they are escaped, and everything else is readable in SQL as it is.
"""

import json
import re
from typing import Any

__all__ = ["decode", "decode_text", "encode", "encode_text"]

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

# What is escaped, and what that becomes: a character that no text on the web has a use for,
# and four digits.
ESCAPE = "\x1a"
_UNSTORABLE = re.compile(f"[\0{ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{ESCAPE}([0-9a-f]{{4}})")


def encode(value: Any) -> str:
    r"""Return JSON for a value.

    >>> encode(["a", None, 1.5])
    '["a",null,1.5]'
    >>> decode(encode(["\0", "\ud800", "\x1a", "\\u0000"]))
    ['\x00', '\ud800', '\x1a', '\\u0000']
    """
    text = _dumps(value)
    # In JSON, control characters are escaped already.
    if "\\u00" in text or _UNSTORABLE.search(text) is not None:
        return _dumps(_each_text(value, encode_text))
    return text


def decode(text: str) -> Any:
    """Return the value that JSON of PostgreSQL stands for."""
    value = json.loads(text)
    return _each_text(value, decode_text) if "\\u001a" in text else value


def decode_text(text: str) -> str:
    """Return a text as it was before it was stored."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def encode_text(text: str) -> str:
    """Return a text as it is stored."""
    return _UNSTORABLE.sub(lambda found: f"{ESCAPE}{ord(found[0]):04x}", text)


def _each_text(value: Any, change: Any) -> Any:
    match value:
        case str():
            return change(value)
        case dict():
            return {key: _each_text(each, change) for key, each in value.items()}
        case list() | tuple():
            return [_each_text(each, change) for each in value]
    return value
