"""Infers what a yielded expression is, and so how it can be awaited.

Rule: certain, or `ANYTHING`.  What is only likely is not certain.

Pure.  Used by `gencoro.porting.coroutines`, `gencoro.porting.callbacks` and the
fixers.
"""

import ast
import enum
import functools

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.coroutines.candidates import GEN_TEST, candidates_of
from gencoro.porting.program import Definition, Function, Module, Program
from gencoro.porting.program.foreign_objects import foreign_of
from gencoro.porting.program.inheritance import has_unknown_base
from gencoro.porting.program.receivers import is_certain_receiver
from gencoro.porting.program.references import references_of
from gencoro.porting.program.replacements import replacements_of
from gencoro.porting.program.scopes import canonical
from gencoro.porting.source.helpers import is_helper

__all__ = ["Awaitables", "Kind", "awaitables_of"]


class Kind(enum.Enum):
    """What an expression is."""

    MOMENT = "None or gen.moment"
    FUTURE = "a Future, or another object that can be awaited"
    COLLECTION = "a list or a dict"
    ANYTHING = "anything"


_FUTURES = frozenset(
    {
        "tornado.concurrent.Future",
        "tornado.concurrent.TracebackFuture",
        "tornado.gen.Future",
        "tornado.gen.TracebackFuture",
        "asyncio.Future",
        "asyncio.futures.Future",
    }
)

# Legacy functions that return a Future, and others whose annotations do not tell.
_RETURN_FUTURES = frozenset(
    {
        "tornado.gen.Task",
        "tornado.gen.multi",
        "tornado.gen.multi_future",
        "tornado.gen.Multi",
        "tornado.gen.sleep",
        "tornado.gen.with_timeout",
        "tornado.ioloop.IOLoop.run_in_executor",
    }
)

# Functions of asyncio that may be awaited without a Task of their own.
_OF_ASYNCIO = frozenset(
    {"Future", "create_task", "ensure_future", "gather", "shield", "sleep"}
)

# Decorators whose functions return a Future.
_FUTURE_MAKERS = frozenset(
    {
        "tornado.concurrent.return_future",
        "tornado.concurrent.run_on_executor",
    }
)

_MAYBE_FUTURE = "tornado.gen.maybe_future"

_LEGACY_YIELDABLES = frozenset(
    f"tornado.gen.{name}"
    for name in ("Callback", "Wait", "WaitAll", "YieldFuture", "YieldPoint")
) | {"tornado.gen.MultiYieldPoint"}


class Awaitables:
    """Tells what expressions of a program are.

    Args:
        program: The program.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._references = references_of(program)
        self._replacements = replacements_of(program)
        self._foreign = foreign_of(program)
        self._coroutines = {
            c.function
            for c in candidates_of(program)
            if c.kind != GEN_TEST and not c.above
        }
        self._returns: dict[Function, bool] = {}
        self._kinds: dict[tuple[ast.AST, str], Kind] = {}

    def kind(self, module: Module, node: ast.expr | None) -> Kind:
        """Return what an expression certainly is."""
        kind = self._kind(module, node)
        if kind is Kind.MOMENT and self._replacements.is_replaced("sleep"):
            return Kind.ANYTHING  # a test may replace asyncio.sleep
        return kind

    def _kind(self, module: Module, node: ast.expr | None) -> Kind:
        match node:
            case None | ast.Constant(value=None):
                return Kind.MOMENT
            case ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp():
                return Kind.COLLECTION
            case ast.Call(func=ast.Name(id="list" | "dict" as name)):
                is_builtin = not module.scope_at(node)._scope_of(name)
                return Kind.COLLECTION if is_builtin else Kind.ANYTHING
            case ast.IfExp(body=body, orelse=orelse):
                kinds = {self.kind(module, body), self.kind(module, orelse)}
                return kinds.pop() if len(kinds) == 1 else Kind.ANYTHING
            case ast.Call():
                return self._kind_of_call(module, node)
            case ast.Name():
                return self._kind_of_name(module, node)
            case ast.Attribute():
                names = module.names(node)
                is_moment = names == {"tornado.gen.moment"}
                return Kind.MOMENT if is_moment else Kind.ANYTHING
        return Kind.ANYTHING

    def is_legacy(self, module: Module, node: ast.expr | None) -> bool:
        """Return whether an expression has a YieldPoint of Tornado in it."""
        if node is None:
            return False
        return any(
            module.names(part) & _LEGACY_YIELDABLES
            for part in ast.walk(node)
            if isinstance(part, (ast.Name, ast.Attribute))
        )

    def _kind_of_name(self, module: Module, node: ast.Name) -> Kind:
        if module.names(node) == {"tornado.gen.moment"}:
            return Kind.MOMENT
        scope = module.scope_at(node)
        owner = scope._scope_of(node.id)
        is_rebound = node.id in self._replacements.rebound
        if owner is not scope or isinstance(scope.node, ast.Module) or is_rebound:
            return Kind.ANYTHING
        key = (scope.node, node.id)
        if key not in self._kinds:
            self._kinds[key] = Kind.ANYTHING  # it may be bound to what uses it
            kinds = {
                self.kind(module, binding) if isinstance(binding, ast.expr) else None
                for binding in owner._bindings[node.id]
            }
            kind = kinds.pop() if len(kinds) == 1 else None
            if kind in (Kind.FUTURE, Kind.COLLECTION):
                self._kinds[key] = kind
        return self._kinds[key]

    def _kind_of_call(self, module: Module, node: ast.Call) -> Kind:
        func = self._bound_to(module, node.func) or node.func
        things = module.things(func)
        if self._is_owner_replaced(module, node.func, func):
            return Kind.ANYTHING
        if isinstance(func, ast.Attribute) and _is_of_asyncio(module, func):
            is_replaced = self._replacements.is_replaced(func.attr)
            return Kind.ANYTHING if is_replaced else Kind.FUTURE
        functions = [
            self._program.function_by_node[t.node]
            for t in things
            if t.node in self._program.function_by_node and not t.is_object
        ]
        names = {canonical(t.name) for t in things if t.name and not t.is_object}
        if names == {_MAYBE_FUTURE} and len(node.args) == 1:
            # A Future of a class with a result of its own is returned as it is.
            kind = self.kind(module, node.args[0])
            return kind if kind is Kind.FUTURE else Kind.ANYTHING
        if names and not functions:
            is_certain = all(map(self._is_future_of_tornado, names))
            is_certain = is_certain and self._is_of_tornado(module, func)
            return Kind.FUTURE if is_certain else Kind.ANYTHING
        functions = self.callees(module, func)
        is_certain = bool(functions) and all(map(self.returns_awaitable, functions))
        return Kind.FUTURE if is_certain else Kind.ANYTHING

    def callees(self, module: Module, func: ast.expr) -> list[Function]:
        """Return every function that a call may run; empty if that is not known."""
        bound = self._bound_to(module, func)
        if bound is not None:
            is_replaced = self._is_owner_replaced(module, func, bound)
            return [] if is_replaced else self.callees(module, bound)
        things = module.things(func)
        functions = [
            self._program.function_by_node[t.node]
            for t in things
            if t.node in self._program.function_by_node and not t.is_object
        ]
        if isinstance(func, ast.Attribute):
            functions = self._possible_methods(module, func, functions)
        elif len(things) != len(functions) or not self._is_bound_once(module, func):
            return []
        is_other = any(
            self._replacements.may_replace(f)
            or self._foreign.may_change(f)
            or not _are_all_bindings(f, functions)
            for f in functions
        )
        return [] if is_other else functions

    def _is_owner_replaced(self, module: Module, *functions: ast.expr) -> bool:
        return any(self._replacements.is_owner_replaced(module, f) for f in functions)

    def _bound_to(self, module: Module, func: ast.expr) -> ast.Attribute | None:
        """Return the attribute that a name stands for: ``load = self.load``."""
        if not isinstance(func, ast.Name) or not self._is_bound_once(module, func):
            return None
        value = module.values_of(func)[-1]
        return value if isinstance(value, ast.Attribute) else None

    def _is_bound_once(self, module: Module, func: ast.expr) -> bool:
        """Return whether nothing binds the name of a function again."""
        scope = module.scope_at(func)
        name = func.id if isinstance(func, ast.Name) else ""
        is_global = scope._scope_of(name) in (None, module.top)
        is_hidden = is_global and self._foreign.may_bind(module, name)
        return scope.is_sure(func) and not is_hidden

    def _is_of_tornado(self, module: Module, func: ast.expr) -> bool:
        """Return whether a function of Tornado certainly is what is called."""
        if not isinstance(func, ast.Attribute):
            return True
        if self._replacements.is_replaced(func.attr):
            return False
        owners = module.things(func.value)
        if not any(thing.is_object for thing in owners):
            return True
        overriding = [
            f
            for f in self._program.functions_by_name.get(func.attr, [])
            if f.owner is not None and f.module.scope_at(f.owner).bases(f.owner)
        ]
        return (
            module.scope_at(func).is_sure(func)
            and is_certain_receiver(self._program, module, func.value, func.attr)
            and all(map(self.returns_awaitable, overriding))
        )

    def _is_future_of_tornado(self, name: str) -> bool:
        """Return whether a function of Tornado returns a Future, and is not replaced."""
        is_replaced = self._replacements.is_replaced(name.rpartition(".")[2])
        return _returns_future(name) and not is_replaced

    def _possible_methods(
        self, module: Module, func: ast.Attribute, found: list[Function]
    ) -> list[Function]:
        """Return every function that an attribute may be; empty if that is not known."""
        is_value = any(function.node.name != func.attr for function in found)
        if is_value or (found and all(function.owner is None for function in found)):
            return [] if self._replacements.is_replaced(func.attr) else found
        if self._foreign.may_have(module, func.value, func.attr):
            return []
        named = self._program.functions_by_name.get(func.attr, [])
        if found:
            named = [f for f in named if f.owner is not None or f in found]
        elif any(map(has_unknown_base, named)):
            return []
        is_unknown = self._replacements.may_be_elsewhere(func.attr) or (
            self._references.is_common(func.attr)
        )
        is_known = self._replacements.is_known(module, func.value)
        if is_unknown and not (found and is_known):
            return []
        if is_known:  # a function outside classes is no method of a certain class
            named = [f for f in named if f.owner is not None]
        return list({*found, *named})

    def returns_awaitable(self, function: Function) -> bool:
        """Return whether a function certainly returns an awaitable."""
        if function not in self._returns:
            self._returns[function] = True  # it may call itself
            self._returns[function] = self._find_returns(function)
        return self._returns[function]

    def _find_returns(self, function: Function) -> bool:
        if function in self._coroutines or is_helper(function.node):
            return True
        if isinstance(function.node, ast.AsyncFunctionDef):
            return False  # a Task runs it, which starts in the next turn of the loop
        if any(function.has_decorator(name) for name in _FUTURE_MAKERS):
            return len(function.node.decorator_list) == 1
        if function.is_generator or not _are_plain(function):
            return False
        returns = [node for node in function.own if isinstance(node, ast.Return)]
        return _never_falls_through(function.node) and all(
            self.kind(function.module, r.value) is Kind.FUTURE for r in returns
        )


@functools.lru_cache(maxsize=1)
def awaitables_of(program: Program) -> Awaitables:
    """Return the inference of expressions for a program (cached)."""
    return Awaitables(program)


def _are_all_bindings(function: Function, functions: list[Function]) -> bool:
    """Return whether a module binds the name of a function to these functions only."""
    if function.name != function.node.name:
        return True  # it is inside a class or a function
    nodes = {f.node for f in functions}
    bindings = function.module.top._bindings[function.name]
    return all(isinstance(b, ast.AST) and b in nodes for b in bindings)


def _are_plain(function: Function) -> bool:
    """Return whether a function has no decorator that could change its result."""
    return all(
        isinstance(decorator, ast.Name)
        and decorator.id in ("classmethod", "staticmethod")
        for decorator in function.node.decorator_list
    )


def _never_falls_through(node: Definition) -> bool:
    return isinstance(node.body[-1], (ast.Return, ast.Raise))


def _is_of_asyncio(module: Module, func: ast.Attribute) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id="asyncio") as owner, attr=name):
            is_imported = not module.scope_at(owner)._scope_of("asyncio") is None
            return is_imported and name in _OF_ASYNCIO
    return False


def _returns_future(name: str) -> bool:
    """Return whether a function of Tornado returns an awaitable."""
    if name in _FUTURES or name in _RETURN_FUTURES:
        return True
    found = TODAY.find(name)
    node = found[1] if found is not None else None
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    if not isinstance(node, ast.FunctionDef) or node.returns is None:
        return False
    annotation = ast.unparse(node.returns).strip("'\"")
    return annotation.startswith(("Future", "Awaitable"))
