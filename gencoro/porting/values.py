"""What a ``yield`` gets, and so how an ``async def`` waits for it.

Rule: a wrapper is written only where the value is known to need it, from the source or from
a run: a list or a dict, None, or the Future of an executor.  A value that is not known is
awaited as it is, and the place is listed: in real suites 525 of 529 such values were
Futures, and the others fail at once, with a TypeError.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
import enum
from collections.abc import Collection

from gencoro.compat.doctor.program import Function, Module, Program
from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.common_names import COMMON_METHODS
from gencoro.porting.coroutines import ENGINE, Coroutine, callee
from gencoro.porting.families import Families

__all__ = ["Kind", "Values", "always_leaves", "kinds_of_evidence", "wrapper_of"]


class Kind(enum.Enum):
    """What an expression may be."""

    AWAITABLE = "a Future, or another object that can be awaited"
    COLLECTION = "a list or a dict"
    NONE = "None or gen.moment"
    CONCURRENT = "a Future of an executor"
    CONVERTED = "an object with a registered converter"
    LEGACY = "a YieldPoint, for which only a generator can wait"
    OWN_RESULT = "a Future with a result of its own, which an await does not ask"
    UNKNOWN = "not known"


_KIND_BY_EVIDENCE = {
    "awaitable": Kind.AWAITABLE,
    "concurrent": Kind.CONCURRENT,
    "coroutine": Kind.AWAITABLE,
    "dict": Kind.COLLECTION,
    "future": Kind.AWAITABLE,
    "legacy": Kind.LEGACY,
    "list": Kind.COLLECTION,
    "moment": Kind.NONE,
    "none": Kind.NONE,
    "other": Kind.CONVERTED,
}

_LEGACY = frozenset(
    f"tornado.gen.{name}"
    for name in ("Callback", "MultiYieldPoint", "Wait", "WaitAll", "YieldPoint")
)
_FUTURES = frozenset(
    [
        "asyncio.Future",
        "asyncio.futures.Future",
        "tornado.concurrent.Future",
        "tornado.concurrent.TracebackFuture",
        "tornado.gen.Future",
    ]
)
# Functions of Tornado that return a Future, though their annotations do not say so.
_RETURN_FUTURES = frozenset(
    f"tornado.gen.{name}"
    for name in (
        "Multi",
        "Task",
        "convert_yielded",
        "maybe_future",
        "multi",
        "multi_future",
        "sleep",
        "with_timeout",
    )
)
_MOMENT = {"tornado.gen.moment"}
_RETURN_LISTS = frozenset({"builtins.dict", "builtins.list", "builtins.sorted"})
_MAKE_FUTURES = frozenset(
    {"tornado.concurrent.return_future", "tornado.concurrent.run_on_executor"}
)

# Decorators whose functions return what the body does.
_SAME_RESULT = frozenset(
    {"builtins.classmethod", "builtins.staticmethod", "functools.wraps"}
)

# Decorators of handlers, which may answer the request themselves and return None.
_MAY_ANSWER = frozenset(
    {"tornado.web.addslash", "tornado.web.authenticated", "tornado.web.removeslash"}
)

_Kinds = frozenset[Kind]

_UNKNOWN = frozenset({Kind.UNKNOWN})
_AWAITABLE = frozenset({Kind.AWAITABLE})
_CONVERTED = frozenset({Kind.CONVERTED})
_OWN_RESULT = frozenset({Kind.OWN_RESULT})


def kinds_of_evidence(words: Collection[str]) -> _Kinds:
    """Return the kinds for the words of evidence.

    >>> sorted(k.name for k in kinds_of_evidence({"none", "list of future"}))
    ['COLLECTION', 'NONE']
    """
    return frozenset(_KIND_BY_EVIDENCE[word.partition(" ")[0]] for word in words)


def wrapper_of(kinds: _Kinds) -> str:
    """Return the function that makes a value of some kinds awaitable; empty if none is needed.

    >>> wrapper_of(frozenset({Kind.AWAITABLE})), wrapper_of(frozenset({Kind.COLLECTION}))
    ('', 'multi')
    """
    needing = kinds - {Kind.AWAITABLE, Kind.UNKNOWN}
    if not needing:
        return ""
    if kinds == {Kind.COLLECTION}:
        return "multi"
    if kinds <= {Kind.CONCURRENT, Kind.AWAITABLE}:
        return "wrap_future"
    return "convert_yielded"


class Values:
    """Tells what the expressions of a program may be."""

    def __init__(
        self,
        program: Program,
        coroutines: dict[Function, Coroutine],
        families: Families,
    ) -> None:
        self._program = program
        self._coroutines = coroutines
        self._families = families
        self._results: dict[Function, _Kinds] = {}
        self._pending: set[ast.AST] = set()
        self._own_results = {
            heir
            for node in program.module_by_class
            if _FUTURES.intersection(program.bases_of(node))
            if any(getattr(part, "name", "") == "result" for part in node.body)
            for heir in families.heirs(node)
        }

    def kinds(self, module: Module, node: ast.expr | None) -> _Kinds:
        """Return what an expression may be."""
        if node is None:
            return frozenset({Kind.NONE})
        if node in self._pending:  # it is bound to what uses it
            return frozenset()
        self._pending.add(node)
        try:
            return self._kinds(module, node)
        finally:
            self._pending.discard(node)

    def yielded(self, module: Module, node: ast.Yield) -> _Kinds:
        """Return what a ``yield`` may get.

        A ``with`` takes the result of a Future that has one of its own, in a program with
        such a class.
        """
        found = self.kinds(module, node.value)
        is_managed = isinstance(module.parents[node], ast.withitem)
        if is_managed and self._own_results and Kind.UNKNOWN in found:
            return found | _OWN_RESULT
        return found

    def has_legacy(self, module: Module, node: ast.expr | None) -> ast.AST | None:
        """Return the part of an expression that is a YieldPoint; None if there is none."""
        for part in ast.walk(node) if node is not None else ():
            if isinstance(part, ast.expr) and module.names(part) & _LEGACY:
                return part
        return None

    def _kinds(self, module: Module, node: ast.expr) -> _Kinds:
        match node:
            case ast.Constant(value=None):
                return frozenset({Kind.NONE})
            case ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp():
                return frozenset({Kind.COLLECTION})
            case ast.IfExp(body=body, orelse=orelse):
                return self.kinds(module, body) | self.kinds(module, orelse)
            case ast.BoolOp(values=[*_, last]):
                return self.kinds(module, last) | _UNKNOWN
            case ast.NamedExpr(value=value):
                return self.kinds(module, value)
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
                found = self.kinds(module, left) | self.kinds(module, right)
                is_list = Kind.COLLECTION in found
                return frozenset({Kind.COLLECTION}) if is_list else _UNKNOWN
            case ast.Call():
                return self._of_call(module, node)
            case ast.Name() | ast.Attribute() if module.names(node) == _MOMENT:
                return frozenset({Kind.NONE})
            case ast.Name():
                return self._of_name(module, node)
            case ast.Attribute():
                return self._of_attribute(module, node)
        return _UNKNOWN

    def _of_call(self, module: Module, node: ast.Call) -> _Kinds:
        if functions := self._families.targets(module, node.func):
            return frozenset().union(*map(self._of_result, functions)) or _UNKNOWN
        if names := module.names(node.func):
            return frozenset().union(*map(_of_outside, names))
        taker = self._taker_of(module, node.func)
        if taker is not None:
            return self._of_decorated(taker)
        found: _Kinds = frozenset()
        for thing in module.things(node.func):
            if isinstance(thing.node, ast.ClassDef) and thing.is_object:
                called = self._families.methods(thing.node, "__call__")
                found |= frozenset().union(*map(self._of_result, called)) or _UNKNOWN
            elif isinstance(thing.node, ast.ClassDef):
                found |= self._of_object(thing.node)
        return found or self._of_unresolved(node.func)

    def _of_unresolved(self, func: ast.expr) -> _Kinds:
        """Return what a method of an unknown object returns, by its name."""
        if not isinstance(func, ast.Attribute):
            return _UNKNOWN
        owner = ast.unparse(func.value).lower()
        if func.attr == "submit" and ("executor" in owner or "pool" in owner):
            return frozenset({Kind.CONCURRENT})
        named = self._program.functions_by_name.get(func.attr, [])
        if any(Kind.OWN_RESULT in self._of_result(f) for f in named):
            return _OWN_RESULT
        is_ours = bool(named) and func.attr not in COMMON_METHODS
        if is_ours and all(self._of_result(f) == _AWAITABLE for f in named):
            return _AWAITABLE
        return _UNKNOWN

    def _taker_of(self, module: Module, func: ast.expr) -> Function | None:
        """Return the decorator whose first parameter an expression is; None if it is none."""
        name = getattr(func, "id", "")
        scope = module.scope_at(func).scope_of(name)
        taker = module.function_by_node.get(scope.node) if scope is not None else None
        return taker if taker is not None and [name] == taker.parameters[:1] else None

    def _of_decorated(self, taker: Function) -> _Kinds:
        """Return what the functions return that a decorator of the program gets."""
        found: _Kinds = frozenset()
        for module, node in self._program.uses_by_name.get(taker.node.name, ()):
            if taker not in self._program.functions_of(module, node):
                continue
            function = module.function_by_node.get(module.parents[node])
            if function is None or node not in function.node.decorator_list:
                return _UNKNOWN
            applied = function.node.decorator_list
            found |= self._of_undecorated(function, applied[applied.index(node) + 1 :])
        return found or _UNKNOWN

    def _of_undecorated(self, function: Function, below: list[ast.expr]) -> _Kinds:
        """Return what a function with some of its decorators returns."""
        coroutine = self._coroutines.get(function)
        if not below:
            is_plain = isinstance(function.node, ast.FunctionDef) and coroutine is None
            return self._of_body(function) if is_plain else _UNKNOWN
        names = function.module.names(callee(below[0]))
        if names & _MAKE_FUTURES or (
            coroutine is not None
            and coroutine.kind != ENGINE
            and coroutine.decorator is below[0]
        ):
            return _AWAITABLE
        if not names:
            return self._of_replaced(function.module, below[0])
        if not names <= _SAME_RESULT | _MAY_ANSWER:
            return _UNKNOWN
        found = self._of_undecorated(function, below[1:])
        return found | {Kind.NONE} if names & _MAY_ANSWER else found

    def _of_result(self, function: Function) -> _Kinds:
        """Return what a call of a function of the program returns."""
        if function not in self._results:
            self._results[function] = frozenset()  # it may call itself
            coroutine = self._coroutines.get(function)
            is_waited = coroutine is not None and coroutine.kind != ENGINE
            if is_waited or isinstance(function.node, ast.AsyncFunctionDef):
                self._results[function] = _AWAITABLE
            else:
                decorators = function.node.decorator_list
                self._results[function] = self._of_undecorated(function, decorators)
        return self._results[function]

    def _of_replaced(self, module: Module, decorator: ast.expr) -> _Kinds:
        """Return what a function returns that a decorator of the program has replaced."""
        inner = (
            function
            for taker in self._program.functions_of(module, decorator)
            for part in taker.own
            if isinstance(part, ast.Return) and part.value is not None
            for function in self._program.functions_of(taker.module, part.value)
        )
        found: _Kinds = frozenset().union(*map(self._of_result, inner))
        # It may serve several kinds.
        return found if len(found) == 1 else _UNKNOWN

    def _of_body(self, function: Function) -> _Kinds:
        """Return what a body returns, whatever decorates it."""
        module = function.module
        if function.is_generator:
            return _UNKNOWN
        returns = [node for node in function.own if isinstance(node, ast.Return)]
        found = frozenset().union(*(self.kinds(module, r.value) for r in returns))
        return found if always_leaves(function.node.body) else found | {Kind.NONE}

    def _of_object(self, node: ast.ClassDef) -> _Kinds:
        bases = set(self._program.bases_of(node))
        if bases & _LEGACY:
            return frozenset({Kind.LEGACY})
        if bases & _FUTURES and node in self._own_results:
            return _OWN_RESULT
        if bases & _FUTURES or any(
            getattr(part, "name", "") == "__await__"
            for owner in self._families.ancestors(node)
            for part in owner.body
        ):
            return _AWAITABLE
        return _UNKNOWN if self._families.unread_base(node) else _CONVERTED

    def _of_name(self, module: Module, node: ast.Name) -> _Kinds:
        owner = module.scope_at(node).scope_of(node.id)
        found: _Kinds = frozenset()
        for binding in owner.bindings[node.id] if owner is not None else [None]:
            if isinstance(binding, ast.Constant) and binding.value is None:
                found |= _UNKNOWN  # it is not yielded then
            elif isinstance(binding, ast.expr):
                found |= self.kinds(module, binding)
            else:
                found |= self._of_items(module, node)
        return found or _UNKNOWN

    def _of_items(self, module: Module, node: ast.Name) -> _Kinds:
        """Return what a variable is that takes the items of a list; unknown for others."""
        found: _Kinds = frozenset()
        for part in ast.walk(module.enclosing(node)):
            match part:
                case (
                    ast.For(target=ast.Name(id=name), iter=items)
                    | ast.comprehension(target=ast.Name(id=name), iter=items)
                ) if name == node.id:
                    found |= self._of_each(module, items)
        return found or _UNKNOWN

    def _of_each(self, module: Module, node: ast.expr) -> _Kinds:
        match node:
            case ast.List(elts=[_, *_] as parts) | ast.Tuple(elts=[_, *_] as parts):
                kinds = (self.kinds(module, part) for part in parts)
                # Some items may be None: each of them is yielded.
                return frozenset().union(*kinds)
            case ast.ListComp(elt=item):
                return self.kinds(module, item)
            case ast.Name(id=name):
                scope = module.scope_at(node).scope_of(name)
                bindings = scope.bindings[name] if scope is not None else []
                if len(bindings) == 1 and isinstance(bindings[0], ast.expr):
                    return self._of_each(module, bindings[0])
        return _UNKNOWN

    def _of_attribute(self, module: Module, node: ast.Attribute) -> _Kinds:
        found: _Kinds = frozenset()
        for owner in self._program.classes_of(module, node.value):
            for ancestor in self._families.ancestors(owner):
                home = self._program.module_by_class.get(ancestor)
                if home is None:
                    continue
                values = home.scope_at(ancestor).members(ancestor).values
                for _, value in values.get(node.attr, ()):
                    found |= self.kinds(home, value) if value is not None else _UNKNOWN
        return _without_none(found or _UNKNOWN)


def _without_none(kinds: _Kinds) -> _Kinds:
    """Return the kinds of a variable: one that is None at times is not yielded then."""
    return kinds - {Kind.NONE} | _UNKNOWN if Kind.NONE in kinds else kinds


def always_leaves(body: list[ast.stmt]) -> bool:
    """Return whether no path leads to the end of a block."""
    match body[-1]:
        case ast.Raise() | ast.Return():
            return True
        case ast.If(body=inner, orelse=[_, *_] as orelse):
            return always_leaves(inner) and always_leaves(orelse)
        case ast.With(body=inner):
            return always_leaves(inner)
        case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=last):
            blocks = [orelse or inner, *(handler.body for handler in handlers)]
            return all(map(always_leaves, blocks)) or bool(last and always_leaves(last))
    return False


def _of_outside(name: str) -> _Kinds:
    """Return what a function outside of the program returns."""
    if name in _LEGACY:
        return frozenset({Kind.LEGACY})
    if name in _RETURN_LISTS:
        return frozenset({Kind.COLLECTION})
    if name in _FUTURES | _RETURN_FUTURES or name.startswith("asyncio."):
        return _AWAITABLE
    if name == "concurrent.futures.Future" or (
        name.startswith("concurrent.futures.") and name.endswith(".submit")
    ):
        return frozenset({Kind.CONCURRENT})
    found = TODAY.find(name) if name.startswith("tornado.") else None
    node = found[1] if found is not None else None
    if isinstance(node, ast.AsyncFunctionDef):
        return _AWAITABLE
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        text = ast.unparse(node.returns).strip("'\"")
        if text == "None":
            return frozenset({Kind.NONE})
        if text.startswith(("Future", "Awaitable")):
            return _AWAITABLE
    return _UNKNOWN
