"""Decides for each coroutine whether it becomes an ``async def``.

Rule: what is resolved decides, what is unresolved is listed; a recorded run decides where
names leave a doubt, and keeps what it contradicts.

Pure.  Used by `gencoro.porting.conversion`.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gencoro.compat.doctor.program import Function, Module, Program
from gencoro.evidence import AT_ONCE, Evidence, SeenUses
from gencoro.porting.bodies import problems_of, setters_of_context
from gencoro.porting.coroutines import (
    COROUTINE,
    ENGINE,
    GEN_TEST,
    Coroutine,
    coroutines_of,
)
from gencoro.porting.families import Families
from gencoro.porting.hooks import is_awaited_hook
from gencoro.porting.reasons import REASONS
from gencoro.porting.replaced import called_names, lookups, replacements
from gencoro.porting.sleeps import seconds_of_sleep
from gencoro.porting.uses import Use, Uses
from gencoro.porting.values import Kind, Values, kinds_of_evidence, wrapper_of

__all__ = ["Decision", "Decisions", "Finding", "Options"]

KEEP = re.compile(rb"#\s*gencoro:\s*keep\b")

# Uses of a Future that a run shows and that an ``async def`` would break.
_BROKEN = frozenset({"cancelled", "dropped", "inspected", "kept", "reused"})


class Options(NamedTuple):
    """What a user wants.

    Attributes:
        strict: Whether what is unresolved stops a conversion.
        keep_public: Whether public coroutines that the program does not call stay.
        is_selected: Tells whether a function of a module may be converted, by its name.
    """

    strict: bool = False
    keep_public: bool = False
    is_selected: Callable[[Module, str], bool] = lambda _module, _name: True


class Finding(NamedTuple):
    """Why a function stays, or what is listed.

    Attributes:
        reason: A key of `REASONS` or of `LISTED`.
        place: The file and the line.
        text: What the sentence names.
        function: The coroutine that it is about; None for the whole program.
    """

    reason: str
    file: str
    line: int
    text: str = ""
    function: Function | None = None


class Decision(NamedTuple):
    """What becomes of a coroutine.

    Attributes:
        stays: Why it stays; empty if it is converted.
        listed: What a person should look at.
        wrappers: The function that each yielded value needs.
    """

    coroutine: Coroutine
    stays: list[Finding]
    listed: list[Finding]
    wrappers: dict[ast.Yield, str]

    @property
    def function(self) -> Function:
        """The function that it is about."""
        return self.coroutine.function


class Decisions:
    """The decisions about a program.

    Args:
        program: The program.
        options: What a user wants.
        evidence: What runs have shown.

    Attributes:
        engines: The functions in callback style, which are not converted.
    """

    def __init__(
        self, program: Program, options: Options, evidence: Evidence | None = None
    ) -> None:
        self._program = program
        self._options = options
        self._evidence = evidence or Evidence()
        self._coroutines = coroutines_of(program)
        self._families = Families(program)
        self._values = Values(program, self._coroutines, self._families)
        self._uses = Uses(program, self._coroutines, self._families, self._is_unwrapped)
        self._setters = setters_of_context(program)
        self.engines = [f for f, c in self._coroutines.items() if c.kind == ENGINE]

    def all(self) -> list[Decision]:
        """Return the decision about each coroutine and test, in the order of the sources."""
        return [
            self._decide(coroutine)
            for function, coroutine in self._coroutines.items()
            if coroutine.kind != ENGINE
            and (coroutine.kind == COROUTINE or function.is_generator)
            and self._options.is_selected(function.module, function.name)
        ]

    def listed(self) -> Iterator[Finding]:
        """Yield what is listed for the program as a whole."""
        for path, line, fault in self._program.unreadable:
            yield Finding("unreadable", path, line, fault)
        for ignored in self._evidence.ignored:
            yield Finding("stale-evidence", ignored.path, 1, ignored.reason)
        names = {f.node.name for f in self._coroutines}
        for function in self._coroutines:
            values = [n for n in function.own if isinstance(n, ast.Yield)]
            names.update(called_names(values))
        found = [*lookups(self._program), *replacements(self._program, names)]
        for place in found:
            line = getattr(place.node, "lineno", 1)
            yield Finding(place.reason, place.module.path, line, place.text)

    def unwrapped(self) -> Iterator[tuple[Module, ast.Call, bool]]:
        """Yield the calls of gen.maybe_future that go, and whether the value may be None."""
        for module, node in self._program.uses_by_name.get("maybe_future", ()):
            call = module.parents[node]
            if isinstance(call, ast.Call) and self._is_unwrapped(module, call):
                may_be_none = Kind.NONE in self._values.kinds(module, call.args[0])
                yield module, call, may_be_none

    def _is_unwrapped(self, module: Module, call: ast.Call) -> bool:
        """Return whether a ``gen.maybe_future`` goes: it does not know an ``async def``.

        It is yielded by a coroutine, and gets a Future, or None, as far as names tell.
        """
        function = module.function_at(call)
        if module.names(call.func) != {"tornado.gen.maybe_future"}:
            return False
        if not isinstance(module.parents[call], ast.Yield) or len(call.args) != 1:
            return False
        if function not in self._coroutines or not isinstance(call.func, ast.Attribute):
            return False
        kinds = self._values.kinds(module, call.args[0])
        is_known = kinds <= {Kind.AWAITABLE, Kind.NONE} and Kind.AWAITABLE in kinds
        return is_known and self._options.is_selected(module, function.name)

    def _decide(self, coroutine: Coroutine) -> Decision:
        function = coroutine.function
        module = function.module
        stays, listed = [], []
        if _is_kept_by_comment(function):
            stays.append(_finding("asked", function, function.node, ""))
        for reason, node, text in problems_of(
            coroutine, self._program, self._families, self._values, self._setters
        ):
            stays.append(_finding(reason, function, node, text))
        if not coroutine.wrapper:
            of_uses, doubts = self._of_uses(coroutine)
            stays += of_uses
            listed += doubts
        wrappers, unknown = self._of_values(function)
        listed += [
            _finding("unresolved-value", function, node, module.text.of(node))
            for node in unknown
        ]
        for node, wrapper in wrappers.items():
            if wrapper in REASONS:
                stays.append(_finding(wrapper, function, node, "a YieldPoint"))
        if self._options.strict and not stays:
            stays, listed = listed, []
        return Decision(coroutine, stays, listed, wrappers)

    def _of_uses(self, coroutine: Coroutine) -> tuple[list[Finding], list[Finding]]:
        """Return why the uses of a coroutine keep it, and what is doubtful about them."""
        function = coroutine.function
        if coroutine.kind == GEN_TEST:
            return [], []  # the decorator runs it for every caller
        seen = self._seen(function)
        stays: list[Finding] = []
        listed: list[Finding] = []
        is_seen_at_once = seen is not None and seen.at_once
        uses = self._uses.of(function)
        if not is_awaited_hook(function, self._program, self._families):
            uses += self._uses.looked_up(function)
        for use in uses:
            if use.is_resolved and (use.is_direct or not is_seen_at_once):
                stays.append(self._finding_of(use, use.reason, function))
            elif not is_seen_at_once:
                reason = (
                    "unresolved-decorator"
                    if use.reason == "decorated"
                    else "unresolved-use"
                )
                listed.append(self._finding_of(use, reason, function))
        if seen is not None and not is_seen_at_once:
            stays += _contradictions(seen, function, bool(stays or listed))
        if self._options.keep_public and self._is_public(function) and not stays:
            stays.append(_finding("public", function, function.node, ""))
        base = self._unread_base(function) if seen is None else ""
        if base:
            listed.append(_finding("unread-base", function, function.owner, base))
        return stays, listed

    @staticmethod
    def _finding_of(use: Use, reason: str, function: Function) -> Finding:
        file, _, line = use.place.rpartition(":")
        return Finding(reason, file, int(line), use.text, function)

    def _seen(self, function: Function) -> SeenUses | None:
        """Return what runs have shown of a coroutine."""
        first = function.node.decorator_list[0].lineno
        return self._evidence.of(function.module.path, first, function.name)

    def _is_public(self, function: Function) -> bool:
        names = function.name.split(".")
        if any(n.startswith("_") or n == "<locals>" for n in names):
            return False
        is_hook = is_awaited_hook(function, self._program, self._families)
        return not is_hook and not self._uses.is_called(function)

    def _unread_base(self, function: Function) -> str:
        if function.owner is None or function.node.name.startswith("__"):
            return ""
        return self._families.unread_base(function.owner)

    def _of_values(
        self, function: Function
    ) -> tuple[dict[ast.Yield, str], list[ast.expr]]:
        """Return the wrapper that each yielded value needs, and the values that are unknown."""
        module = function.module
        wrappers: dict[ast.Yield, str] = {}
        unknown = []
        for node in function.own:
            if not isinstance(node, ast.Yield):
                continue
            if (
                node.value is not None
                and seconds_of_sleep(module, node.value) is not None
            ):
                continue
            kinds = self._values.yielded(module, node)
            words = self._evidence.yielded(module.path, node.lineno, node.col_offset)
            seen = kinds_of_evidence(words)
            if seen:
                kinds = kinds - {Kind.UNKNOWN} | seen
            if Kind.LEGACY in kinds:
                wrappers[node] = "yield-point"
            elif Kind.OWN_RESULT in kinds:
                wrappers[node] = "own-result"
            elif kinds == {Kind.NONE} and _is_moment(module, node.value):
                wrappers[node] = "sleep"
            else:
                wrappers[node] = wrapper_of(kinds)
                if (
                    Kind.UNKNOWN in kinds
                    and not wrappers[node]
                    and node.value is not None
                ):
                    unknown.append(node.value)
        return wrappers, unknown


def _finding(
    reason: str, function: Function, node: ast.AST | None, text: str
) -> Finding:
    line = getattr(node, "lineno", function.line)
    return Finding(reason, function.module.path, line, text, function)


def _is_moment(module: Module, value: ast.expr | None) -> bool:
    if value is None or isinstance(value, (ast.Constant, ast.Name)):
        return True
    return module.names(value) == {"tornado.gen.moment"}


def _is_kept_by_comment(function: Function) -> bool:
    first = min(d.lineno for d in function.node.decorator_list)
    last = function.node.body[0].lineno
    text = function.module.text
    # The line above the decorators counts, too.
    lines = range(max(first - 1, 1), max(last, function.line + 1))
    return any(KEEP.search(text.line(number)) for number in lines)


def _contradictions(
    seen: SeenUses, function: Function, has_doubts: bool
) -> Iterator[Finding]:
    """Yield the uses that a run has shown and that an ``async def`` would break."""
    for use, places in seen.places.items():
        if use in AT_ONCE or (use not in _BROKEN and not has_doubts):
            continue
        if places:
            yield Finding("seen", places[0].path, places[0].line, use, function)
        else:
            yield _finding("seen", function, function.node, use)
