"""Test modules whose handling of errors a conversion would change.

Rule: with gencoro.compat, the error of a callback fails a test, and a fetch that fails gives
a response with the code 599, only in a module that uses something of Tornado 5
(`gencoro.compat.doctor.eras`).  A conversion that removes the last of these names from a
module with tests that may need that leaves a comment instead, and one that adds the first
is undone.

Pure.  Used by `gencoro.porting.converting` and
`gencoro.porting.fixers.to_coroutine.eras`.
"""

import ast
import functools
from collections.abc import Mapping

from gencoro.compat.doctor.eras import is_of_tornado_5
from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.callbacks.waits import use_of_wait
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.families import heirs_of

__all__ = ["modernized", "modernized_tests", "tests_needing_era"]

_CASE = "tornado.testing.AsyncTestCase"


def modernized(
    before: Mapping[str, bytes], changed: Mapping[str, bytes]
) -> dict[str, bool]:
    """Return the files that a conversion moves from one era to the other, see `eras`.

    The value tells whether the file was for Tornado 5 before.

    Args:
        before: The source of each file.
        changed: The sources that a conversion has changed.
    """
    if not any(b"TestCase" in source for source in before.values()):
        return {}
    eras = {path: _is_legacy(before[path]) for path in changed}
    return {path: era for path, era in eras.items() if _is_legacy(changed[path]) != era}


@functools.lru_cache(maxsize=2000)
def _is_legacy(source: bytes) -> bool:
    return is_of_tornado_5(source)


def modernized_tests(
    before: Mapping[str, bytes], changed: Mapping[str, bytes]
) -> list[Refusal]:
    """Return the refusals of modules whose conversion must be undone."""
    eras = modernized(before, changed)
    if not eras:
        return []
    program = Program({**before, **changed})
    return [
        legacy_refusal(program.modules[path], place, "test-era", name)
        for path, was_legacy in eras.items()
        for place, name in tests_needing_era(program, path, was_legacy)
    ]


def tests_needing_era(
    program: Program, path: str, was_legacy: bool
) -> list[tuple[ast.stmt, str]]:
    """Return the first method of tests that may need the era that a module had.

    Of Tornado 5, one that waits, that starts callbacks, or that may get a response for a
    fetch that failed; of today's, any.  Its subclasses in other modules have its era, too.

    Returns:
        The method or the class in the module, and the name of the method; or nothing.
    """
    module = program.modules[path]
    fetches = any(b"self.fetch(" in m.source for m in program.modules.values())
    heirs = {owner: heirs_of(program, owner) for owner in module.classes}
    for function in program.functions:
        owners = [owner for owner in module.classes if function.owner in heirs[owner]]
        if owners and _may_need_era(program, function, was_legacy, fetches):
            if function.module is module:
                return [(function.node, function.node.name)]
            if not _is_legacy(function.module.source):
                return [(owners[0], function.node.name)]
    return []


def _may_need_era(
    program: Program, function: Function, was_legacy: bool, fetches: bool
) -> bool:
    return _is_of_test(function) and (
        not was_legacy
        or bool(use_of_wait(function))
        or bool(may_start_callbacks(program, function))
        or (fetches and _may_expect_failure(function))
    )


def _may_expect_failure(function: Function) -> bool:
    """Return whether a method may be content with the response of a fetch that failed.

    It is not if it compares the code of each response with that of an answer, or if all
    its responses come from another function than the ``fetch`` of its class.
    """
    text = ast.unparse(function.node)
    if "fetch(" in text and "self.fetch(" not in text:
        return False
    for node in ast.walk(function.node):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="fetch"))):
                return True
            case ast.Constant(value=599) | ast.Attribute(attr="error" | "rethrow"):
                return True
            case ast.Attribute(attr="code") if not _is_compared(function.module, node):
                return True
    return False


def _is_compared(module: Module, node: ast.expr) -> bool:
    """Return whether a value must be equal to another one."""
    parent = module.parents[node]
    if isinstance(parent, ast.Tuple):
        parent = module.parents[parent]
    match parent:
        case ast.Compare(ops=[ast.Eq()]):
            return isinstance(module.parents[parent], ast.Assert)
        case ast.Call(func=ast.Attribute(attr="assertEqual" | "assertEquals")):
            return True
    return False


def _is_of_test(function: Function) -> bool:
    assert function.owner is not None, "it is a method"
    bases = function.module.scope_at(function.owner).bases(function.owner)
    return any(_CASE in TODAY.owners(base) for base in bases)
