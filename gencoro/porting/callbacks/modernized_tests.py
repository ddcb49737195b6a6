"""Test modules whose handling of callback errors a conversion would change.

Rule: with gencoro.compat, such an error fails a test only in a module that uses something
of Tornado 5 (`gencoro.compat.tornado_.testing`).  So a conversion must not remove the last
of these names from a module with tests that may need that, and not add the first one.

Pure.  Used by `gencoro.porting.converting`.
"""

from collections.abc import Mapping

from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.scan import scan
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.callbacks.waits import use_of_wait
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program

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
    if not any(b"TestCase" in source for source in changed.values()):
        return []
    program = Program({**before, **changed})
    return [
        legacy_refusal(module, function.node, "test-era", function.node.name)
        for path, module in program.modules.items()
        if path in changed and _is_legacy(before[path]) != _is_legacy(changed[path])
        for function in _needing(program, module, _is_legacy(before[path]))[:1]
    ]


def _is_legacy(source: bytes) -> bool:
    return any(use.name.startswith("tornado.") for use in scan(source))


def _needing(program: Program, module: Module, was_legacy: bool) -> list[Function]:
    """Return the methods of tests that may need the era that their module had.

    Of Tornado 5, those that wait, or that start callbacks; of today's, any.
    """
    return [
        function
        for function in module.functions
        if function.owner is not None and _is_of_test(function)
        if not was_legacy
        or use_of_wait(function)
        or may_start_callbacks(program, function)
    ]


def _is_of_test(function: Function) -> bool:
    assert function.owner is not None, "it is a method"
    bases = function.module.scope_at(function.owner).bases(function.owner)
    return any(_CASE in TODAY.owners(base) for base in bases)
