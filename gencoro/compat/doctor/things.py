"""What an expression may refer to, and what Tornado's own attributes and results are.

Rule: a name of Tornado is followed only as far as its source, or a table here, tells.

Pure.  Used by the other modules of the doctor.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeAlias

from gencoro.compat.doctor.known import ALL, has_rows, is_class, meant_by
from gencoro.compat.doctor.members import Members
from gencoro.compat.doctor.today import Today

__all__ = [
    "Function",
    "Home",
    "Thing",
    "attribute_of",
    "imported_by",
    "parameter_of",
    "result_of",
]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Functions of Tornado that return an object of one of its classes.
_RETURNS = {
    "tornado.ioloop.IOLoop.current": "tornado.ioloop.IOLoop",
    "tornado.ioloop.IOLoop.instance": "tornado.ioloop.IOLoop",
}

# Attributes of Tornado that are objects of one of its classes.
_ATTRIBUTES = {
    "tornado.testing.AsyncHTTPTestCase.http_client": "tornado.httpclient.AsyncHTTPClient",
    "tornado.testing.AsyncTestCase.io_loop": "tornado.ioloop.IOLoop",
    "tornado.web.RequestHandler.request": "tornado.httputil.HTTPServerRequest",
}

# The parameters of methods that override Tornado's, from `self` on, by their class.
_PARAMETERS = {
    ("tornado.tcpserver.TCPServer", "handle_stream", 1): "tornado.iostream.IOStream",
}

# Functions that return the module whose name is their argument.
_IMPORTERS = frozenset({"__import__", "import_module", "importorskip"})


class Home(Protocol):
    """The scope that defines a class or a function of a scanned module."""

    def things(self, node: ast.expr) -> "Iterator[Thing]":
        """Yield what an expression may refer to, as far as known."""

    def bases(self, node: ast.ClassDef) -> list[str]:
        """Return the known classes that a class that it defines inherits from."""

    def members(self, node: ast.ClassDef) -> Members:
        """Return what a class of its module defines."""

    def things_of_member(
        self, node: ast.ClassDef, name: str, seen: set[ast.ClassDef]
    ) -> "Iterator[Thing]":
        """Yield what an attribute of a class that it defines is."""


class Thing(NamedTuple):
    """What an expression refers to.

    Attributes:
        name: Its dotted name in Tornado or the standard library; empty if a scanned module
            defines it.
        is_object: Whether it is an object of the class of that name, or the result of the
            function.
        node: The class or function of a scanned module.
        home: The scope that defines it.
        file: The file, if it is a scanned module itself.
    """

    name: str
    is_object: bool = False
    node: ast.ClassDef | Function | None = None
    home: Home | None = None
    file: str = ""


def attribute_of(owner: str, name: str, today: Today) -> Iterator[Thing]:
    """Yield what an attribute of a known module or class, or of its objects, is."""
    full_name = f"{owner}.{name}"
    classes = today.owners(owner) or [owner] * is_class(owner)
    for base in classes:
        if f"{base}.{name}" in _ATTRIBUTES:
            yield Thing(_ATTRIBUTES[f"{base}.{name}"], is_object=True)
            return
    is_known = not classes or today.has(full_name)
    if is_known or any(f"{base}.{name}" in ALL for base in classes):
        yield from map(Thing, meant_by(full_name, today))


def result_of(name: str, today: Today) -> Iterator[Thing]:
    """Yield what a call of a known function or class returns."""
    if name in _RETURNS:
        yield Thing(_RETURNS[name], is_object=True)
    elif today.owners(name) or is_class(name):
        yield Thing(name, is_object=True)


def parameter_of(base: str, method: str, place: int, today: Today) -> Iterator[Thing]:
    """Yield what a parameter of a method is that overrides one of a known class."""
    for owner in today.owners(base):
        if (owner, method, place) in _PARAMETERS:
            yield Thing(_PARAMETERS[owner, method, place], is_object=True)


def imported_by(node: ast.Call) -> Iterator[Thing]:
    """Yield the module that ``importlib.import_module("...")`` and the like return."""
    if ast.unparse(node.func).rpartition(".")[2] not in _IMPORTERS:
        return
    for argument in node.args[:1]:
        name = argument.value if isinstance(argument, ast.Constant) else None
        if isinstance(name, str) and has_rows(name):
            is_builtin = isinstance(node.func, ast.Name) and len(node.args) == 1
            is_top = is_builtin and ast.unparse(node.func) == "__import__"
            yield Thing(name.partition(".")[0] if is_top else name)
