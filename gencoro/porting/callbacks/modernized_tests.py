"""Test modules whose handling of errors a conversion would change.

Rule: with gencoro.compat, the error of a callback fails a test, and a fetch that fails gives
a response with the code 599, only in a module that uses something of Tornado 5
(`gencoro.compat.tornado_.testing`).  So a conversion must not remove the last of these names
from a module with tests that may need that, and not add the first one.

Pure.  Used by `gencoro.porting.converting`.
"""

import ast
from collections.abc import Mapping

from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.scan import scan
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.callbacks.waits import use_of_wait
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.namespaces import heirs_of

__all__ = ["modernized_tests"]

_CASE = "tornado.testing.AsyncTestCase"


def modernized_tests(
    before: Mapping[str, bytes], changed: Mapping[str, bytes]
) -> list[Refusal]:
    """Return the refusals of modules whose conversion must be undone.

    Args:
        before: The source of each file.
        changed: The sources that a conversion has changed.
    """
    if not changed or not any(b"TestCase" in source for source in before.values()):
        return []
    program = Program({**before, **changed})
    return [
        legacy_refusal(module, place, "test-era", name)
        for path, module in program.modules.items()
        if path in changed and _is_legacy(before[path]) != _is_legacy(changed[path])
        for place, name in _needing(program, module, _is_legacy(before[path]))[:1]
    ]


def _is_legacy(source: bytes) -> bool:
    return any(use.name.startswith("tornado.") for use in scan(source))


def _needing(
    program: Program, module: Module, was_legacy: bool
) -> list[tuple[ast.stmt, str]]:
    """Return the methods of tests that may need the era that a module had.

    Of Tornado 5, those that wait, that start callbacks, or that may get a response for a
    fetch that failed; of today's, any.  Its subclasses in other modules have its era, too.

    Returns:
        The method or the class in the module, and the name of the method.
    """
    classes = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
    fetches = any(b"self.fetch(" in m.source for m in program.modules.values())
    return [
        (function.node if function.module is module else owner, function.node.name)
        for owner in classes
        for heirs in [heirs_of(program, owner)]
        for function in program.functions
        if function.owner in heirs and _is_of_test(function)
        if function.module is module or not _is_legacy(function.module.source)
        if not was_legacy
        or use_of_wait(function)
        or may_start_callbacks(program, function)
        or (fetches and _may_expect_failure(function))
    ]


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
