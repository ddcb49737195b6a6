"""Finds every use of a coroutine, and whether it waits for the result at once.

Rule: what is resolved decides; what is not resolved is listed.  A value is followed through
returns, lambdas, ``partial``, decorators and parameters of the program, until something
waits for it, or keeps it, drops it or passes it on.

**Depths.**  What an expression is, is counted in calls: at depth 0 it is the Future of the
coroutine, at depth 1 a function that returns it when it is called, at depth 2 a decorator or
a factory that returns such a function, and so on.  ``return f()`` gives depth 0 to the
function around it, whose own name then is at depth 1; ``return f`` makes it depth 2.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from gencoro.compat.doctor.program import Function, Module, Program, block_of
from gencoro.porting.common_names import COMMON_METHODS
from gencoro.porting.coroutines import Coroutine, callee, is_wrapper_of_coroutine
from gencoro.porting.families import Families
from gencoro.porting.gates import gated_calls
from gencoro.porting.hooks import caller_that_does_not_wait, is_awaited_hook
from gencoro.porting.replaced import lookups, texts_of

__all__ = ["Use", "Uses", "returned_functions"]

# Functions that wait for what they get if they are waited for themselves.
_COMBINATORS = frozenset(
    [
        "asyncio.ensure_future",
        "asyncio.gather",
        "asyncio.shield",
        "asyncio.tasks.ensure_future",
        "tornado.gen.Multi",
        "tornado.gen.convert_yielded",
        "tornado.gen.multi",
        "tornado.gen.multi_future",
        "tornado.gen.with_timeout",
    ]
)
_MAYBE_FUTURE = frozenset({"tornado.gen.maybe_future"})
_COLLECTIONS = frozenset({"builtins.dict", "builtins.list", "builtins.tuple"})

# Methods of a loop that call a function and wait for its result, or log its errors.
_STARTERS = frozenset(
    [
        "add_callback",
        "add_callback_from_signal",
        "add_timeout",
        "call_at",
        "call_later",
        "run_sync",
        "spawn_callback",
    ]
)
_STARTING_CLASSES = frozenset({"tornado.ioloop.PeriodicCallback"})
_WAITING_METHODS = frozenset({"run_until_complete"})

# Functions that look at a function without calling it.
_LOOKING = frozenset(
    [
        "builtins.callable",
        "builtins.getattr",
        "builtins.hasattr",
        "builtins.id",
        "builtins.isinstance",
        "builtins.print",
        "builtins.repr",
        "builtins.setattr",
        "builtins.str",
        "functools.update_wrapper",
        "functools.wraps",
        "inspect.getdoc",
        "inspect.isawaitable",
        "inspect.signature",
    ]
)
# Methods that show that an object is a Future.
_OF_FUTURES = frozenset(
    [
        "add_done_callback",
        "cancel",
        "cancelled",
        "done",
        "exc_info",
        "exception",
        "result",
        "set_exception",
        "set_result",
    ]
)
_PARTIAL = frozenset({"functools.partial", "functools.partialmethod"})

# Decorators that return what a coroutine returns, or wait for it.
_HARMLESS_DECORATORS = frozenset(
    [
        "abc.abstractmethod",
        "builtins.classmethod",
        "builtins.property",
        "builtins.staticmethod",
        "functools.wraps",
        "tornado.web.addslash",
        "tornado.web.asynchronous",
        "tornado.web.authenticated",
        "tornado.web.removeslash",
        "typing.no_type_check",
        "unittest.expectedFailure",
        "unittest.skip",
        "unittest.skipIf",
        "unittest.skipUnless",
    ]
)


class Use(NamedTuple):
    """A use that does not wait at once, or may not.

    Attributes:
        reason: A key of `gencoro.porting.reasons.REASONS`.
        place: Its file and line.
        text: What the reason names.
        is_resolved: Whether it certainly is a use of this coroutine.
        is_direct: Whether it is the Future of a call, and no function that is passed on.
        is_plausible: Whether a Future may be used so; what is not resolved is another
            value otherwise.
        is_certain: Whether it keeps a coroutine that may be meant: the change is silent.
    """

    reason: str
    place: str
    text: str
    is_resolved: bool
    is_direct: bool = True
    is_plausible: bool = True
    is_certain: bool = False


class _Next(NamedTuple):
    """Something else whose uses decide: a function, or a variable or parameter.

    Attributes:
        depth: What it is, in calls.
        function: The function; None for a variable.
        module, scope, name: Where a variable is, which node binds it, and its name.
        is_resolved: Whether it certainly leads to the coroutine.
        is_decorated: Whether the function is one that a decorator is applied to.
        via: The function that a decorator gets, if it is followed into one: what the
            decorator returns then replaces that function, and no other.
    """

    depth: int
    function: Function | None
    module: Module | None = None
    scope: ast.AST | None = None
    name: str = ""
    is_resolved: bool = True
    is_decorated: bool = False
    via: Function | None = None


_Fates: TypeAlias = Iterator[Use | _Next]


class _Reference(NamedTuple):
    module: Module
    node: ast.expr
    is_resolved: bool


class Uses:
    """The uses of the coroutines of a program.

    Args:
        program: The program.
        coroutines: Its coroutines, engines and tests.
        families: Its methods by what they override.
        is_unwrapped: Tells whether the conversion removes a ``gen.maybe_future``.
    """

    def __init__(
        self,
        program: Program,
        coroutines: dict[Function, Coroutine],
        families: Families,
        is_unwrapped: Callable[[Module, ast.Call], bool],
    ) -> None:
        self._program = program
        self._coroutines = coroutines
        self._families = families
        self._is_unwrapped = is_unwrapped
        self._direct: dict[_Next, list[Use | _Next]] = {}
        self._gates = gated_calls(program, is_unwrapped)
        self._lookups = {
            place.module.path: texts_of(place.module) for place in lookups(program)
        }

    def of(self, function: Function) -> list[Use]:
        """Return the uses of a coroutine that do not wait for it at once, or may not."""
        start = _Next(1, function)
        pending, seen, found = [start], {start}, []
        while pending:
            current = pending.pop()
            if current not in self._direct:
                self._direct[current] = list(self._uses(current))
            for one in self._direct[current]:
                if isinstance(one, _Next):
                    if one.is_decorated and current.via is not None:
                        continue  # the uses of that function are followed already
                    one = one._replace(
                        is_resolved=one.is_resolved and current.is_resolved,
                        via=one.via or current.via,
                    )
                    if one not in seen:
                        seen.add(one)
                        pending.append(one)
                else:
                    is_known = one.is_resolved and current.is_resolved
                    if not is_known and one.is_certain:  # a run may tell otherwise
                        found.append(one._replace(is_resolved=True, is_direct=False))
                    elif is_known or one.is_plausible:
                        found.append(one._replace(is_resolved=is_known))
        return list(dict.fromkeys(found))

    def looked_up(self, function: Function) -> Iterator[Use]:
        """Yield gated calls of what a module finds by computed names, perhaps this one."""
        name = function.node.name
        if function.name.endswith(f"<locals>.{name}") or name.startswith("__"):
            return
        is_named = any(True for _ in self._references(function))
        line = self._families.ancestors(function.owner) if function.owner else []
        homes = [function.module, *map(self._program.module_by_class.get, line)]
        for call, place in self._gates.items():
            texts = self._lookups.get(place.rpartition(":")[0])
            if texts is None or (is_named and name not in texts):
                continue
            module = self._program.modules[place.rpartition(":")[0]]
            if module in homes and self._may_be_any(module, call, function):
                yield Use("gated", place, ast.unparse(call), True, is_direct=False)

    @staticmethod
    def _may_be_any(module: Module, call: ast.Call, function: Function) -> bool:
        """Return whether a call of an unknown function may run this one."""
        func = call.func
        is_inside = module.function_at(call) == function
        if is_inside or isinstance(func, ast.Attribute) or module.things(func):
            return False
        return any(fits(call, function, is_bound) for is_bound in (True, False))

    def is_called(self, function: Function) -> bool:
        """Return whether the program refers to a function, as far as names tell."""
        return any(r.is_resolved for r in self._references(function))

    def _uses(self, current: _Next) -> _Fates:
        if current.function is None:
            yield from self._of_variable(current)
            return
        depth, function = current.depth, current.function
        yield from self._of_decorators(function, depth)
        caller = caller_that_does_not_wait(function, self._program, self._families)
        if caller and depth == 1 and not self._is_run_by_test(function):
            place = function.module.place_of(function.node)
            yield Use("called-elsewhere", place, caller, True)
        is_property = _is_property(function)
        for reference in self._references(function):
            fates = self._fate(reference.module, reference.node, depth - is_property)
            for one in fates:
                yield one if reference.is_resolved else one._replace(is_resolved=False)

    def _is_run_by_test(self, function: Function) -> bool:
        found = self._coroutines.get(function)
        decorators = [] if found is None else [found.decorator, *found.above]
        return any(
            name.startswith(("tornado.testing.", "pytest.mark"))
            for d in decorators
            for name in function.module.names(callee(d))
        )

    def _references(self, function: Function) -> Iterator[_Reference]:
        """Yield the places where a function may be named."""
        names = {function.node.name}
        pending = list(names)
        while pending:
            name = pending.pop()
            new = set(self._program.imported_as.get(name, ())) - names
            for module, node in self._program.uses_by_name.get(name, ()):
                reference = self._reference(module, node, function)
                if reference is not None:
                    yield reference
                    if reference.is_resolved:
                        new |= _aliases(module, node) - names
            names |= new
            pending += new

    def _reference(
        self, module: Module, node: ast.expr, function: Function
    ) -> _Reference | None:
        """Return whether an expression names a function; None if it does not."""
        found = self._families.targets(module, node)
        if function in found:
            return _Reference(module, node, True)
        is_method = isinstance(node, ast.Attribute) and function.owner is not None
        if found or not is_method or module.things(node):
            return None
        assert isinstance(node, ast.Attribute), "it is a method"
        receivers = module.things(node.value)
        classes = [t.node for t in receivers if isinstance(t.node, ast.ClassDef)]
        if not receivers and is_awaited_hook(function, self._program, self._families):
            return None  # only Tornado calls it on an object that is not known here
        is_known = bool(receivers) and not any(map(self._families.unread_base, classes))
        if is_known or not _fits(module, node, function):
            return None
        return _Reference(module, node, self._is_only_one(node.attr))

    def _is_only_one(self, name: str) -> bool:
        """Return whether a method of this name certainly is a coroutine of the program."""
        named = self._program.functions_by_name.get(name, [])
        return name not in COMMON_METHODS and all(
            f in self._coroutines or isinstance(f.node, ast.AsyncFunctionDef)
            for f in named
        )

    def _of_decorators(self, function: Function, depth: int) -> _Fates:
        """Follow a function into the decorators that get it."""
        found = self._coroutines.get(function)
        above = found.above if found is not None else function.node.decorator_list
        for decorator in above:
            module = function.module
            names = module.names(callee(decorator))
            place = module.place_of(decorator)
            text = ast.unparse(decorator)
            marks = {name for name in names if name.startswith("pytest.mark.")}
            if names and names <= _HARMLESS_DECORATORS | marks:
                continue
            if isinstance(decorator, ast.Attribute) and decorator.attr in (
                "setter",
                "deleter",
                "run_sync",
            ):
                continue
            called = callee(decorator)
            takers = self._program.functions_of(module, called)
            takers = [t for t in takers if not is_wrapper_of_coroutine(t)]
            if isinstance(decorator, ast.Call):
                takers = [t for maker in takers for t in returned_functions(maker)]
            for taker in takers:
                if taker.parameters:
                    entered = _variable(taker, taker.parameters[0], depth)
                    yield entered._replace(via=function)
                else:
                    yield Use("passed-on", place, text, True, is_direct=False)
            if not takers:
                yield Use("decorated", place, text, bool(names), is_direct=False)

    def _of_variable(self, current: _Next) -> _Fates:
        """Follow what a parameter gets, or a variable is bound to."""
        assert current.module is not None, "a variable is in a module"
        for module, node in self._program.uses_by_name.get(current.name, ()):
            if module is current.module and isinstance(node, ast.Name):
                scope = module.scope_at(node).scope_of(node.id)
                if scope is not None and scope.node is current.scope:
                    yield from self._fate(module, node, current.depth)

    def _fate(self, module: Module, node: ast.expr, depth: int) -> _Fates:
        """Yield what becomes of an expression: nothing if it is waited for at once."""
        parent = module.parents[node]
        if depth == 0 and isinstance(node, ast.Call) and node in self._gates:
            use = self._use("gated", module, node, node)
            yield use._replace(place=self._gates[node], is_certain=True)
            return
        match parent:
            case ast.Return():
                yield from self._returned(module, parent, depth)
            case ast.Lambda() if node is parent.body:
                yield from self._fate(module, parent, depth + 1)
            case ast.IfExp() if node is not parent.test:
                yield from self._fate(module, parent, depth)
            case ast.BoolOp() if node is parent.values[-1]:
                yield from self._fate(module, parent, depth)
            case ast.Call() if node is parent.func:
                if depth == 0:
                    yield self._use("used", module, parent, node)
                else:
                    yield from self._called_with(module, parent, depth)
            case ast.Call() | ast.keyword() | ast.Starred():
                yield from self._argument(module, node, depth)
            case _ if depth:
                yield from self._fate_of_function(module, node, parent, depth)
            case _:
                yield from self._fate_of_future(module, node, parent)

    def _called_with(self, module: Module, call: ast.Call, depth: int) -> _Fates:
        if depth == 1 and any(k.arg == "callback" for k in call.keywords):
            functions = self._program.functions_of(module, call.func)
            if not any("callback" in f.parameters for f in functions):
                yield self._use("callback", module, call, call.func)
        yield from self._fate(module, call, depth - 1)

    def _fate_of_future(
        self, module: Module, node: ast.expr, parent: ast.AST
    ) -> _Fates:
        match parent:
            case ast.Await():
                return
            case ast.Yield():
                yield from self._yielded(module, parent, node)
            case ast.List() | ast.ListComp() | ast.DictComp() | ast.Dict():
                if node is not getattr(parent, "key", None):
                    yield from self._fate(module, parent, 0)
            case ast.GeneratorExp() if node is parent.elt:
                yield from self._fate(module, parent, 0)
            case ast.BinOp(op=ast.Add()):
                yield from self._fate(module, parent, 0)
            case ast.Expr():
                yield self._use("dropped", module, node, node)
            case ast.Attribute(attr=name):
                use = self._use("used", module, node, node)
                yield use._replace(is_plausible=name in _OF_FUTURES)
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield from self._assigned(module, parent, name, node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                yield self._use("kept", module, node, node)
            case ast.Tuple() | ast.Set():
                yield self._use("kept", module, node, node)
            case _:
                use = self._use("used", module, node, node)
                yield use._replace(is_plausible=False)

    def _fate_of_function(
        self, module: Module, node: ast.expr, parent: ast.AST, depth: int
    ) -> _Fates:
        match parent:
            case ast.Attribute(attr="__wrapped__"):
                yield self._use("used", module, parent, parent)
            case ast.Attribute() | ast.Compare() | ast.Expr() | ast.FormattedValue():
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() if (
                node in parent.decorator_list
            ):
                function = module.function_by_node[parent]
                if depth > 1:
                    yield _Next(depth - 1, function, is_decorated=True)
                else:
                    yield self._use("passed-on", module, node, node)
            case (
                ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                if not self._program.functions_of(module, node):
                    yield from self._renamed(module, parent, name, depth)
            case ast.Assign(targets=[ast.Attribute()]) if self._program.functions_of(
                module, node
            ):
                return  # another name of it, by which its uses are found
            case ast.BoolOp() | ast.UnaryOp() | ast.If() | ast.IfExp() | ast.While():
                return  # it is only tested
            case _:
                yield self._use("passed-on", module, node, node, is_direct=False)

    def _yielded(self, module: Module, node: ast.Yield, value: ast.expr) -> _Fates:
        function = module.function_at(node)
        is_plain = function is not None and isinstance(function.node, ast.FunctionDef)
        # A plugin of pytest runs a test, and a coroutine what it yields from.
        if (
            function is None
            or not is_plain
            or not (
                function.node.name.startswith("test") or self._is_delegated(function)
            )
        ):
            yield self._use("yielded-elsewhere", module, node, value)

    def _is_delegated(
        self, function: Function, seen: frozenset[Function] = frozenset()
    ) -> bool:
        """Return whether coroutines run a generator, by ``yield from``, and nothing else."""
        if function in self._coroutines or function in seen:
            return True
        if function.node.decorator_list:
            return False
        references = list(self._references(function))
        for module, node, _ in references:
            call = module.parents[node]
            user = module.function_at(call)
            is_delegation = isinstance(module.parents.get(call), ast.YieldFrom)
            if not (is_delegation and user is not None):
                return False
            if not self._is_delegated(user, seen | {function}):
                return False
        return bool(references)

    def _returned(self, module: Module, node: ast.Return, depth: int) -> _Fates:
        function = module.function_at(node)
        assert function is not None, "a return is in a function"
        value = node.value
        assert value is not None, "it has the value"
        is_deferred = isinstance(function.node, ast.AsyncFunctionDef)
        if function in self._coroutines or is_deferred or function.is_generator:
            yield self._use("returned-by-coroutine", module, node, value)
            return
        if depth == 0:
            for block, child in function.around(node):
                is_with = isinstance(block, (ast.With, ast.AsyncWith))
                is_try = isinstance(block, (ast.Try, ast.TryStar)) and block.finalbody
                if is_with or (is_try and child not in getattr(block, "finalbody", ())):
                    yield self._use("returned-in-block", module, node, value)
                    return
        yield _Next(depth + 1, function)

    def _assigned(
        self, module: Module, statement: ast.Assign, name: str, value: ast.expr
    ) -> _Fates:
        """Follow a Future that is waited for in the next statement, before anything else runs."""
        function = module.function_at(statement)
        loads = _immediate_loads(module, function, name) if function else None
        if loads is None:
            use = self._use("kept", module, value, value)
            yield use._replace(is_plausible=_is_used_as_future(module, statement, name))
            return
        following = _next_statement(module, statement)
        for load in loads:
            if any(load is part for part in ast.walk(following or statement)):
                yield from self._fate(module, load, 0)

    def _renamed(
        self, module: Module, statement: ast.AST, name: str, depth: int
    ) -> _Fates:
        """Follow a function that has got another name."""
        scope = module.scope_at(statement)
        if isinstance(scope.node, ast.ClassDef):
            yield self._use("passed-on", module, statement, None, is_direct=False)
        else:
            yield _Next(depth, None, module, scope.node, name)

    def _argument(self, module: Module, node: ast.expr, depth: int) -> _Fates:
        call, keyword = module.parents[node], ""
        is_starred = isinstance(call, ast.Starred)
        if isinstance(call, ast.keyword):
            keyword = call.arg or ""
        if not isinstance(call, ast.Call):
            call = module.parents[call]
        if not isinstance(call, ast.Call):  # such as a list with a star
            yield self._use("passed-on", module, node, node, is_direct=depth == 0)
            return
        names = module.names(call.func)
        is_own = bool(self._families.targets(module, call.func))
        is_method = isinstance(call.func, ast.Attribute) and not is_own
        method = getattr(call.func, "attr", "") if is_method else ""
        if depth == 0:
            is_collected = names & _COLLECTIONS and not is_starred
            if names & _COMBINATORS or is_collected:
                yield from self._fate(module, call, 0)
            elif method in _WAITING_METHODS:
                return
            elif names & _MAYBE_FUTURE and self._is_unwrapped(module, call):
                yield from self._fate(module, call, 0)
            else:
                is_builtin = any(name.startswith("builtins.") for name in names)
                for one in self._into_parameter(module, call, node, keyword, 0):
                    if isinstance(one, Use) and is_builtin:
                        one = one._replace(is_plausible=False)
                    yield one
        elif names & _LOOKING:
            return
        elif names & _PARTIAL:
            yield from self._fate(module, call, depth)
        elif "builtins.map" in names and call.args[:1] == [node]:
            yield from self._fate(module, call, depth - 1)
        elif depth == 1 and (method in _STARTERS or names & _STARTING_CLASSES):
            return
        else:
            yield from self._into_parameter(module, call, node, keyword, depth)

    def _into_parameter(
        self, module: Module, call: ast.Call, node: ast.expr, keyword: str, depth: int
    ) -> _Fates:
        """Follow an argument into the function of the program that gets it."""
        takers = self._program.functions_of(module, call.func)
        if not takers or self._program.classes_of(module, call.func):
            yield self._use("passed-on", module, node, call.func, is_direct=depth == 0)
        for taker in takers:
            name = _parameter(taker, call, node, keyword)
            if not name:
                yield self._use(
                    "passed-on", module, node, call.func, is_direct=depth == 0
                )
            elif depth == 0 and not _is_first_yielded(taker, name):
                yield self._use("passed-on", module, node, call.func)
            else:
                yield _variable(taker, name, depth)

    def _use(
        self,
        reason: str,
        module: Module,
        node: ast.AST,
        text: ast.expr | None,
        is_direct: bool = True,
    ) -> Use:
        name = ast.unparse(text) if text is not None else ""
        return Use(reason, module.place_of(node), name, True, is_direct)


def _variable(function: Function, name: str, depth: int) -> _Next:
    """Return a parameter of a function, which has what is at a depth."""
    return _Next(depth, None, function.module, function.node, name)


def _is_property(function: Function) -> bool:
    return any(
        isinstance(d, ast.Name) and d.id == "property"
        for d in function.node.decorator_list
    )


def _aliases(module: Module, node: ast.expr) -> set[str]:
    """Return the other names that an assignment gives to a function."""
    parent = module.parents[node]
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    found = {
        t.id if isinstance(t, ast.Name) else getattr(t, "attr", "") for t in targets
    }
    return found - {""}


def _fits(module: Module, node: ast.Attribute, function: Function) -> bool:
    """Return whether an attribute may be a method, by the arguments if it is called."""
    call = module.parents[node]
    if not isinstance(call, ast.Call) or call.func is not node:
        return True
    is_static = any(
        isinstance(d, ast.Name) and d.id == "staticmethod"
        for d in function.node.decorator_list
    )
    return fits(call, function, is_bound=not is_static)


def fits(call: ast.Call, function: Function, is_bound: bool) -> bool:
    """Return whether a function accepts the number and the names of some arguments."""
    if any(isinstance(a, ast.Starred) for a in call.args):
        return True
    if any(k.arg is None for k in call.keywords):
        return True
    args = function.node.args
    most = len(args.posonlyargs) + len(args.args) - is_bound
    least = most - len(args.defaults)
    given = {k.arg for k in call.keywords} - {"callback"}
    if len(call.args) > most and args.vararg is None:
        return False
    if args.kwarg is None and not given <= set(function.parameters):
        return False
    return len(call.args) + len(given) >= least


def returned_functions(maker: Function) -> list[Function]:
    """Return the functions defined in another one, which returns them."""
    names = {
        node.value.id
        for node in maker.own
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    }
    return [
        maker.module.function_by_node[node]
        for node in maker.own
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name in names
    ]


def _parameter(function: Function, call: ast.Call, node: ast.expr, keyword: str) -> str:
    """Return the parameter that gets an argument; empty if that is not certain."""
    if keyword:
        return keyword if keyword in function.parameters else ""
    if node not in call.args or any(isinstance(a, ast.Starred) for a in call.args):
        return ""
    args = function.node.args
    positional = [a.arg for a in (*args.posonlyargs, *args.args)]
    is_bound = function.owner is not None and isinstance(call.func, ast.Attribute)
    place = call.args.index(node) + is_bound
    return positional[place] if place < len(positional) else ""


def _is_first_yielded(function: Function, name: str) -> bool:
    """Return whether a coroutine waits for a parameter before it does anything else."""
    loads = [n for n in function.own if isinstance(n, ast.Name) and n.id == name]
    calls = [n for n in function.own if isinstance(n, (ast.Call, ast.Yield))]
    first = min(calls, key=lambda n: (n.lineno, n.col_offset), default=None)
    return len(loads) == 1 and isinstance(first, ast.Yield) and first.value is loads[0]


def _immediate_loads(
    module: Module, function: Function, name: str
) -> list[ast.Name] | None:
    """Return where a variable is read, if that is always right after it was assigned.

    Nothing may run in between: in the statement that reads it, the calls are around it.
    """
    loads, allowed = [], []
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if isinstance(node.ctx, ast.Load):
            loads.append(node)
            continue
        statement = module.parents[node]
        following = _next_statement(module, statement)
        if not isinstance(following, (ast.Expr, ast.Assign, ast.Return, ast.Raise)):
            return None
        allowed += _loads_first(module, following, name)
    is_immediate = all(any(load is a for a in allowed) for load in loads)
    return loads if loads and is_immediate else None


def _is_used_as_future(module: Module, statement: ast.Assign, name: str) -> bool:
    """Return whether a variable is waited for somewhere, or asked like a Future."""
    around = module.enclosing(statement)
    for node in ast.walk(around):
        if isinstance(node, ast.Name) and node.id == name:
            match module.parents[node]:
                case ast.Yield() | ast.Await():
                    return True
                case ast.Attribute(attr=attr):
                    if attr in _OF_FUTURES:
                        return True
                case ast.Call(func=ast.Attribute(attr=attr)):
                    if attr in ("add_future", "append", "with_timeout", "gather"):
                        return True
    return False


def _next_statement(module: Module, statement: ast.AST) -> ast.AST | None:
    block = block_of(module.parents, statement)
    place = block.index(statement) + 1 if statement in block else len(block)
    return block[place] if place < len(block) else None


def _loads_first(module: Module, statement: ast.AST, name: str) -> list[ast.Name]:
    """Return a variable in a statement that evaluates it before it calls anything."""
    loads = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
    if len(loads) != 1:
        return []
    around: list[ast.AST] = []
    node: ast.AST = loads[0]
    while node is not statement:
        node = module.parents[node]
        around.append(node)
    calls = [n for n in ast.walk(statement) if isinstance(n, (ast.Call, ast.Yield))]
    return loads if all(call in around for call in calls) else []
