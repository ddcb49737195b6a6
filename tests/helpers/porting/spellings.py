"""Writes a program in other words: the same functions, called and named in another way.

Each spelling changes the syntax tree of a module.  Not every program then does the same, as
one that prints its names does not, so the result is played before the conversion, too.
"""

import ast
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["SPELLINGS", "respelled"]

_Spelling: TypeAlias = Callable[[ast.Module], None]


def respelled(files: dict[str, bytes], spelling: _Spelling) -> dict[str, bytes]:
    """Return the files of a program in other words; the same ones if nothing changes."""
    found = dict(files)
    for path, source in files.items():
        tree = ast.parse(source)
        before = ast.dump(tree)
        spelling(tree)
        if path != "tools.py" and ast.dump(tree) != before:
            found[path] = ast.unparse(ast.fix_missing_locations(tree)).encode()
    return found


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions of a module, but ``main``, whose names are bound once."""
    bound = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    bound += [n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)]
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    bound += [n.id for n in names if not isinstance(n.ctx, ast.Load)]
    own = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    return [f for f in own if bound.count(f.name) == 1 and f.name != "main"]


def _calling(called: str, kept: str = "") -> _Spelling:
    """Return what calls functions by another expression, and keeps them for that."""

    def respell(tree: ast.Module) -> None:
        names = {function.name for function in _functions(tree)}
        definitions = [s for s in tree.body if hasattr(s, "name")]
        used = set()
        for node in (n for s in definitions for n in ast.walk(s)):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in names:
                    node.func = ast.parse(called.format(name), mode="eval").body
                    used.add(name)
        place = tree.body.index(definitions[-1]) + 1 if definitions else 0
        for name in sorted(used):
            tree.body[place:place] = ast.parse(kept.format(name)).body

    return respell


def _calling_methods(called: str) -> _Spelling:
    """Return what calls the methods of variables by another expression."""

    def respell(tree: ast.Module) -> None:
        classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
        names = {getattr(s, "name", "") for c in classes for s in c.body}
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
                    if name in names:
                        text = called.format(owner, name)
                        node.func = ast.parse(text, mode="eval").body

    return respell


def _defining(name: str, then: str) -> _Spelling:
    """Return what defines functions in another way.

    Args:
        name: That of the function.
        then: What comes instead of it; a function with that name around it, or after it.
    """

    def respell(tree: ast.Module) -> None:
        for function in _functions(tree):
            new = ast.parse(then.format(function.name)).body
            place = tree.body.index(function)
            tree.body[place : place + 1] = new
            function.name = name.format(function.name)
            if isinstance(new[0], ast.FunctionDef):
                new[0].body.insert(0, function)
            else:
                tree.body.insert(place, function)

    return respell


def _making_returns(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        match node:
            case ast.Raise(
                exc=ast.Call(func=ast.Attribute(attr="Return") as func) as call
            ):
                call.func = ast.Name("answer", ast.Load())
                answer = f"answer = lambda *value: {ast.unparse(func)}(*value)"
                places = [i for i, s in enumerate(tree.body) if hasattr(s, "name")]
                place = min(places, default=0)
                tree.body[place:place] = ast.parse(answer).body


SPELLINGS: dict[str, _Spelling] = {
    "made by functions": _defining(
        "{}", "def make_{0}():\n    return {0}\n{0} = make_{0}()"
    ),
    "by another name": _defining("first_{}", "{0} = first_{0}"),
    "in tables": _calling("TABLE_{0}['{0}']", "TABLE_{0} = {{'{0}': {0}}}"),
    "on objects": _calling(
        "held_{0}.{0}_of",
        "class Held_{0}:\n    def __init__(self):\n        self.{0}_of = {0}\n"
        "held_{0} = Held_{0}()",
    ),
    "in variables": _calling("(function_ := {0})"),
    "methods by name": _calling_methods("getattr({0}, '{1}')"),
    "methods of classes": _calling_methods("(method_ := {0}.{1})"),
    "returns made elsewhere": _making_returns,
}
