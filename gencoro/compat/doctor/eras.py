"""Detects which version of Tornado a module's tests were written for.

Rule: what the source uses decides; where a conversion has left nothing of it, a comment does.

Nothing that is read is run or imported.  Used by `gencoro.compat.modules.testing` and by the
converter, which writes the comment.
"""

import ast
import re

from gencoro.compat.doctor.parsing import parse
from gencoro.compat.doctor.scan import scan

__all__ = ["MARK", "is_of_tornado_5"]

# A line of its own.
MARK = "# gencoro: tests of Tornado 5"

_MARKED = re.compile(rf"^{re.escape(MARK)}\s*$".encode(), re.MULTILINE)

# Names of `from __future__ import` that Python 3 does not need.
_OF_PYTHON_2 = frozenset(
    {
        "absolute_import",
        "division",
        "print_function",
        "unicode_literals",
        "with_statement",
    }
)


def is_of_tornado_5(source: str | bytes) -> bool:
    """Return True if tests were written for Tornado 5 or earlier.

    Their module uses something that Tornado 6 has removed, or supports Python 2, which
    Tornado 6 does not, or has the comment.

    Raises:
        SyntaxError: the source is not valid Python 3.

    >>> is_of_tornado_5("from __future__ import print_function")
    True
    >>> is_of_tornado_5("from __future__ import annotations")
    False
    >>> is_of_tornado_5("# gencoro: tests of Tornado 5\\nimport time\\n")
    True
    """
    text = source if isinstance(source, bytes) else source.encode(errors="replace")
    if _MARKED.search(text) or _is_for_python_2(text):
        return True
    return any(use.name.startswith("tornado.") for use in scan(text))


def _is_for_python_2(source: bytes) -> bool:
    """Return True if a source has a ``__future__`` import that only Python 2 needs."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name in _OF_PYTHON_2 for alias in node.names)
        for node in parse(source).body
    )
