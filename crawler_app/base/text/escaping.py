"""Makes text from servers safe to print: a terminal obeys control characters.

What a GitHub workflow prints is read by its runner, which obeys ``##[command]`` anywhere in a
line, and ``::command`` at its start; so these are escaped, too.

Pure.  Use `printable` where the reader should see that something was there, as in a URL
or an error; `without_controls` where only the words count, as in a title.
"""

import json
import re
from typing import Any

__all__ = [
    "defused",
    "json_text",
    "one_line",
    "printable",
    "without_commands",
    "without_controls",
]

COMMAND = "##["
_COMMAND_FIRST = re.compile(r"^(\s*):(?=:)", re.MULTILINE)

# A spreadsheet takes a cell that begins with one of these as a formula, which may send
# other cells to the site that chose the title; the last four are fullwidth.  Source: OWASP,
# CSV Injection.
_FORMULA = re.compile(r"[=+\-@\x00-\x1f\x7f\uff1d\uff0b\uff0d\uff20]")


def printable(text: str) -> str:
    """Return a text with its control characters and commands escaped, as in Python source.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return without_commands(text)


def without_commands(text: str) -> str:
    """Return lines in which a runner finds no command.

    >>> without_commands("##[error]\\n ::error::")
    '#\\\\x23[error]\\n \\\\x3a:error::'
    """
    if "::" in text:
        text = _COMMAND_FIRST.sub(r"\1\\x3a", text)
    return text.replace(COMMAND, "#\\x23[")


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, with the same escaped in its texts.

    >>> json_text({"é": "a\\x9bb ##[error]"})
    '{"é": "a\\\\u009bb #\\\\u0023[error]"}'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    lines = text.split("\n") if indent else [text]
    return "\n".join(map(_json_line, lines)).replace(COMMAND, "#\\u0023[")


def _json_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def without_controls(text: str) -> str:
    """Return a text without its control characters.

    >>> without_controls("a\\x1b[2Jb")
    'a[2Jb'
    """
    return text if text.isprintable() else "".join(filter(str.isprintable, text))


def one_line(text: str, most: int) -> str:
    """Return a text as one line of at most `most` characters, without controls.

    >>> one_line(" The\\n  Mill\\x07 of old", 8)
    'The Mill'
    """
    # Split only what may be shown: some sites put a whole page into a title.
    line = " ".join(text[: 4 * most].split())
    return without_controls(line)[:most]


def defused(value: Any) -> Any:
    """Return a cell as text that no spreadsheet takes for a formula, and no terminal obeys.

    >>> defused("=1+1"), defused("1+1"), defused(-1)
    ("'=1+1", '1+1', -1)
    """
    if not isinstance(value, str):
        return value
    return ("'" if _FORMULA.match(value) else "") + printable(value)
