"""Finds the uses of legacy Tornado in the source of a module.

Rule: a use is something that today's Tornado or the running Python rejects.  A name that
Tornado still has counts only if the call shows it: an argument or a function in a position
where Tornado accepts none.  Something the module can do without, such as an import with an
``except ImportError``, is not a use.

Nothing that is scanned is run or imported.  Used by `gencoro.compat.doctor` and
`gencoro.compat.doctor.eras`.
"""

import ast
from collections.abc import Sequence

from gencoro.compat.doctor.branches import has_optional_import
from gencoro.compat.doctor.known import mentions
from gencoro.compat.doctor.naming import Modules
from gencoro.compat.doctor.parsing import TOO_DEEP, all_statements, parse_older
from gencoro.compat.doctor.project import Project, imports_tornado
from gencoro.compat.doctor.removed import ASYNC
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.uses import Use, use_of
from gencoro.compat.doctor.visitor import Visitor

__all__ = ["Scanner", "scan", "without_modern"]


def scan(source: str | bytes) -> list[Use]:
    """Return the uses of legacy names in a module by itself, sorted by line.

    Args:
        source: Its source.

    Raises:
        SyntaxError: the source is not valid Python 3.

    >>> source = "from tornado import gen, web\\n@gen.engine\\ndef get(self): pass\\n"
    >>> for use in scan(source):
    ...     print(use.line, use.name, use.row.first, use.row.last, use.is_served)
    2 tornado.gen.engine 2.1 5.1 True
    """
    text = source if isinstance(source, bytes) else source.encode(errors="replace")
    return without_modern(Scanner([]).scan(text))


def without_modern(uses: list[Use]) -> list[Use]:
    """Leave out what differs only for code that was written for legacy Tornado.

    >>> source = b"from tornado.httpclient import AsyncHTTPClient as C\\n"
    >>> source += b"C().fetch(url, raise_error=False)"
    >>> found = Scanner([]).scan(source)
    >>> [use.name for use in found], without_modern(found)
    (['tornado.httpclient.AsyncHTTPClient.fetch'], [])
    """
    is_legacy = any(u.name.startswith("tornado.") and not u.note for u in uses)
    return [use for use in uses if is_legacy or not use.note]


class Scanner:
    """Scans the modules of a project, which may import each other's names.

    Args:
        files: The files of the project.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._project = Project(files, TODAY, _find_dispensable)

    def scan(self, source: bytes, file: str = "") -> list[Use]:
        """Return the uses of legacy names in a module, sorted by line.

        Args:
            file: Its file; empty if it is not in the project.

        Raises:
            SyntaxError: the source is not valid Python 3.
        """
        module, lines = parse_older(source)
        uses = {use_of(ASYNC, line) for line in lines}
        has_tornado = imports_tornado(source) or self._project.leads_to_tornado(file)
        if has_tornado or mentions(source):
            try:
                ignored = _find_dispensable(self._project, module, file)
                visitor = Visitor(module, self._project, file, ignored, has_tornado)
            except RecursionError:
                raise SyntaxError(TOO_DEEP) from None
            uses.update(found.use for found in visitor.found)
        return sorted(uses, key=lambda use: use[:3])


def _find_dispensable(
    modules: Modules, module: ast.Module, file: str
) -> frozenset[ast.alias]:
    """Return the imports that a module does not need."""
    if not any(map(has_optional_import, all_statements(module.body))):
        return frozenset()
    return frozenset(Visitor(module, modules, file, frozenset()).dispensable)
