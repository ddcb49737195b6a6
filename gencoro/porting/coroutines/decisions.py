"""Decides, for the whole program, which coroutines become ``async def``, and how.

Rule: a call of a coroutine starts its body at once, and that of an ``async def`` does not.
So a coroutine whose calls are all awaited at once becomes a bare ``async def``; any other
gets a decorator that starts it and returns a Future, as before.

Pure.  Used by `gencoro.porting.coroutines.yields` and the fixers for ``--to async``.
"""

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from gencoro.porting.coroutines.awaitables import Kind, awaitables_of
from gencoro.porting.coroutines.callees import (
    callees_of,
    cleaning,
    recursive,
    waiting_for_exits,
)
from gencoro.porting.coroutines.candidates import (
    COROUTINE,
    Candidate,
    candidates_of,
    runs_it,
)
from gencoro.porting.coroutines.context_variables import sets_context
from gencoro.porting.coroutines.delegations import delegated, is_delegated
from gencoro.porting.coroutines.handled_errors import (
    exits,
    handles_exits,
    may_see_error,
)
from gencoro.porting.coroutines.library_objects import may_be_called_by_library
from gencoro.porting.coroutines.problems import problems_of
from gencoro.porting.coroutines.scheduling import schedules
from gencoro.porting.coroutines.tasks import cancels_tasks, stops_loop, uses_tasks
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.foreign_objects import foreign_of
from gencoro.porting.program.inheritance import (
    has_unknown_heir,
    is_entry_point,
    overrides_tornado,
)
from gencoro.porting.program.references import Use, references_of
from gencoro.porting.reasons import refusal

__all__ = ["Conversion", "Decisions", "decisions_of"]


class Conversion(NamedTuple):
    """A function that is converted.

    Attributes:
        candidate: The function, and what makes it a coroutine.
        starts_at_once: Why its calls must start at once and return Futures; empty if they
            need not.
    """

    candidate: Candidate
    starts_at_once: str

    @property
    def function(self) -> Function:
        """The function."""
        return self.candidate.function


class Decisions(NamedTuple):
    """What is converted and what is not.

    Attributes:
        conversions: In the order of the sources.
        refusals: Why the other coroutines stay.
    """

    conversions: list[Conversion]
    refusals: list[Refusal]


@functools.lru_cache(maxsize=1)
def decisions_of(program: Program) -> Decisions:
    """Return what is converted of a program."""
    return _Decider(program).decide()


class _Decider:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._references = references_of(program)
        self._awaitables = awaitables_of(program)
        self._refusals: list[Refusal] = []
        self._converting: dict[Function, Candidate] = {}
        # Generators that have other users than ``yield from`` in coroutines.
        self._shared: set[Function] = set()

    def decide(self) -> Decisions:
        """Refuse what must stay, until nothing changes."""
        found = candidates_of(self._program)
        for candidate in [*found, *self._helpers_of(found)]:
            if candidate.function.key in self._program.kept:
                continue
            problems = list(problems_of(candidate, self._program))
            self._refusals += problems
            if not problems:
                self._converting[candidate.function] = candidate
        self._refuse_unwrapped()
        while self._refuse_some():
            pass
        order = {function: i for i, function in enumerate(self._program.functions)}
        callees = callees_of(self._converting, self._program)
        self._waiting_for_exits = waiting_for_exits(callees, self._program)
        self._cleaning = (
            cleaning(callees, self._program) if stops_loop(self._program) else set()
        )
        self._recursive = recursive(callees)
        conversions = [
            Conversion(candidate, self._why_at_once(candidate))
            for candidate in self._converting.values()
        ]
        conversions.sort(key=lambda c: order[c.function])
        return Decisions(conversions, self._refusals)

    def _refuse_unwrapped(self) -> None:
        """Refuse the coroutines whose generator functions are used by themselves."""
        for function in list(self._converting):
            for use in self._references.of(function):
                match use.module.parents[use.node]:
                    case ast.Attribute(attr="__wrapped__") as unwrapped:
                        del self._converting[function]
                        place = ast.unparse(unwrapped)
                        reason = refusal(function, "unwrapped", None, place)
                        self._refusals.append(reason)
                        break

    def _helpers_of(self, found: list[Candidate]) -> list[Candidate]:
        """Return the generators that coroutines use with ``yield from``."""
        helpers: dict[Function, Candidate] = {}
        users = [candidate.function for candidate in found]
        while users:
            user = users.pop()
            for function in self._delegates(user):
                if function in helpers or not _may_be_helper(function):
                    continue
                helpers[function] = Candidate(function, None, "", False, (), True)
                users.append(function)
        return list(helpers.values())

    def _delegates(self, user: Function) -> Iterator[Function]:
        for node in user.own:
            call = (
                delegated(user.module, node)
                if isinstance(node, ast.YieldFrom)
                else None
            )
            if call is not None:
                yield from self._program.functions_of(user.module, call.func)

    def _refuse_some(self) -> bool:
        """Refuse what depends on a function that stays; return whether there is any."""
        before = len(self._converting)
        for function, candidate in list(self._converting.items()):
            problem = self._bad_delegation(function)
            if problem is None and candidate.decorator is None:
                problem = self._bad_use_of_helper(function)
            if problem is not None:
                del self._converting[function]
                if candidate.decorator is None:
                    self._shared.add(function)
                else:
                    self._refusals.append(problem)
        return len(self._converting) < before

    def _bad_delegation(self, function: Function) -> Refusal | None:
        """Return the refusal for a ``yield from`` of what cannot be awaited."""
        for node in function.own:
            if not isinstance(node, ast.YieldFrom):
                continue
            if self._awaitables.kind(function.module, node.value) is Kind.FUTURE:
                continue
            call = delegated(function.module, node)
            found = (
                self._awaitables.callees(function.module, call.func)
                if call is not None
                else []
            )
            are_helpers = [
                f in self._converting and self._converting[f].decorator is None
                for f in found
            ]
            if not are_helpers or not all(are_helpers):
                shared = [f.name for f in found if f in self._shared]
                reason = "helper-used-elsewhere" if shared else "yield-from"
                return refusal(function, reason, node, ast.unparse(call or node.value))
        return None

    def _bad_use_of_helper(self, function: Function) -> Refusal | None:
        """Return a refusal if a generator is not only used with ``yield from``."""
        if self._references.is_named(function):
            return refusal(function, "helper-used-elsewhere", None, function.name)
        for use in self._references.of(function):
            call = use.module.parents[use.node]
            is_call = isinstance(call, ast.Call) and call.func is use.node
            by = use.module.function_at(use.node)
            is_fine = is_call and by in self._converting
            if not is_fine or not is_delegated(use.module, call):
                return refusal(
                    function, "helper-used-elsewhere", use.node, function.name
                )
        return None

    def _why_at_once(self, candidate: Candidate) -> str:
        """Return why calls of a coroutine must start at once; empty if they need not."""
        function = candidate.function
        if candidate.kind != COROUTINE:
            return ""
        if candidate.above:
            return "a decorator receives its Future"
        if function.node.name.startswith("__") and function.node.name.endswith("__"):
            return "Python calls it"
        if overrides_tornado(function, self._program):
            return "Tornado calls it"
        if may_be_called_by_library(function, self._program):
            return "the standard library gets its object, and may call it"
        if sets_context(function, self._program):
            return "it sets a context variable"
        if uses_tasks(self._program):
            return (
                "the program asks for Tasks, and the body of a coroutine runs in none"
            )
        if handles_exits(function, self._program):
            return "it may catch the exit of the program, and a Task is cancelled then"
        if function in self._recursive:
            return "it calls itself, and each await takes a part of the stack"
        if any(map(runs_it, function.node.decorator_list)):
            reason = self._why_not_in_task(function)
            if reason:
                return reason
        is_entry = is_entry_point(function, self._program)
        if not is_entry and has_unknown_heir(function, self._program):
            return "a base class is unknown"
        is_named = self._references.is_named(function)
        if is_entry:  # many a text has the name of such a method
            is_named = function.node.name in self._references.lookups.constants
        if is_named:
            return "it may be looked up by its name"
        for use in self._references.of(function):
            if is_entry and not use.is_resolved and self._is_of_others(function, use):
                continue
            reason = self._why_use_needs_future(use)
            if not reason and self._is_for_run_sync(use.module, use.node):
                reason = self._why_not_in_task(function)
            elif not reason:
                reason = self._why_not_inside_caller(function, use)
            if reason:
                return reason
        return ""

    def _why_not_inside_caller(self, function: Function, use: Use) -> str:
        """Return why the loop must resume a coroutine, and not its caller."""
        if may_see_error(use, self._program):
            place = f"{use.module.path}:{use.node.lineno}"
            return f"it may see an error that is being handled at {place}"
        if schedules(function, self._program):
            return "what it wakes runs before its caller goes on"
        if exits(function, self._program):
            return "it may exit the program"
        return self._why_left_waiting(function)

    def _why_not_in_task(self, function: Function) -> str:
        """Return why ``run_sync`` must run a coroutine, and not an ``async def`` in a Task."""
        if function in self._cleaning:
            return "the loop may be stopped before it has cleaned up"
        return self._why_left_waiting(function)

    def _why_left_waiting(self, function: Function) -> str:
        """Return why a coroutine may wait for what never comes.

        If another one exits the program, the loop ends.  Tornado then leaves a Task as it is,
        and its ``finally`` blocks do not run.
        """
        name = self._waiting_for_exits.get(function)
        return f"{name}, which it waits for, may exit the program" if name else ""

    def _why_use_needs_future(self, use: Use) -> str:
        module = use.module
        node: ast.AST = use.node
        call = module.parents[node]
        place = f"{module.path}:{use.node.lineno}"
        if self._is_run_sync(module, node):
            return ""
        if not (isinstance(call, ast.Call) and call.func is node):
            return f"it is not called at once at {place}"
        if any(k.arg in ("callback", None) for k in call.keywords):
            return f"it may get a callback at {place}"
        parent = module.parents[call]
        by = module.function_at(call)
        is_yielded = isinstance(parent, (ast.Yield, ast.YieldFrom))
        if is_yielded and by in self._converting:
            is_certain = self._awaitables.kind(module, call) is Kind.FUTURE
            return "" if is_certain else f"it may be another function at {place}"
        if isinstance(parent, ast.Await):
            is_cancelled = cancels_tasks(self._program)
            return f"a Task may be cancelled at {place}" if is_cancelled else ""
        if isinstance(parent, ast.Lambda) and self._is_run_sync(module, parent):
            return ""
        return f"it is not awaited at once at {place}"

    def _is_of_others(self, function: Function, use: Use) -> bool:
        """Return whether a method that a handler has as well is probably another one's."""
        name = function.node.name
        if self._references.is_common(name) or not isinstance(use.node, ast.Attribute):
            return True
        foreign = foreign_of(self._program)
        return foreign.may_have(use.module, use.node.value, name)

    def _is_for_run_sync(self, module: Module, node: ast.AST) -> bool:
        """Return whether ``run_sync`` gets a function, or a lambda that calls it."""
        given = module.parents[module.parents[node]] if module.is_called(node) else node
        return self._is_run_sync(module, given)

    def _is_run_sync(self, module: Module, node: ast.AST) -> bool:
        """Return whether a function is the only argument of ``run_sync`` of a loop.

        A timeout would cancel the Task of an ``async def``, and so end its body.
        """
        if "run_sync" in self._program.functions_by_name:
            return False
        match module.parents[node]:
            case ast.Call(
                func=ast.Attribute(attr="run_sync"), args=[first], keywords=[]
            ):
                return first is node
        return False


def _may_be_helper(function: Function) -> bool:
    return (
        isinstance(function.node, ast.FunctionDef)
        and function.is_generator
        and all(
            isinstance(d, ast.Name) and d.id in ("classmethod", "staticmethod")
            for d in function.node.decorator_list
        )
    )
