"""Tornado names that a program monkeypatches, for instance in its tests.

Rule: what is assigned to a module or a class counts, and so does every name that a patch or
``setattr`` has, whatever it belongs to.

Pure.  Used by `gencoro.porting.program.receivers`, `gencoro.porting.callbacks.timers` and
`gencoro.porting.fixers.to_coroutine.loop_instance`.
"""

import ast
import functools

from gencoro.porting.program import Module, Program
from gencoro.porting.program.references import references_of
from gencoro.porting.program.replacements import replacements_of

__all__ = ["is_swapped", "may_be_fake"]

# The methods that give a program its loop.
_MAKERS = ("current", "instance")


def is_swapped(program: Program, name: str) -> bool:
    """Return whether a part of a dotted name of Tornado, or a loop, may be something else."""
    parts = name.split(".")[1:]
    makers = _MAKERS if "IOLoop" in parts else ()
    return not _swapped(program).isdisjoint([*parts, *makers])


def may_be_fake(program: Program, method: ast.expr) -> bool:
    """Return whether an object of the program, or a mock, may have a method of Tornado.

    Only the result of a call, such as ``IOLoop.current()``, certainly is Tornado's.
    """
    if not isinstance(method, ast.Attribute) or isinstance(method.value, ast.Call):
        return False
    is_own = method.attr in program.functions_by_name
    return is_own or replacements_of(program).may_be_elsewhere(method.attr)


@functools.lru_cache(maxsize=1)
def _swapped(program: Program) -> frozenset[str]:
    assigned = {
        node.attr
        for module in program.modules.values()
        for node in module.nodes
        if isinstance(node, ast.Attribute) and _is_assigned(module, node)
    }
    return frozenset(references_of(program).lookups.patched | assigned)


def _is_assigned(module: Module, node: ast.Attribute) -> bool:
    """Return whether an attribute of a module or a class is assigned."""
    if isinstance(node.ctx, ast.Load):
        return False
    owners = list(module.things(node.value))
    return any(not owner.is_object and owner.name or owner.file for owner in owners)
