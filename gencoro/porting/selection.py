"""What a user wants to convert: which fixers, functions and files.

Pure.  Used by `gencoro.porting.converting`, `gencoro.porting.plan` and
`gencoro.porting.command`.
"""

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from gencoro.porting.fixer import Fix
from gencoro.porting.program import Function, Module

__all__ = ["Selection", "selecting"]


class Selection(NamedTuple):
    """Which fixers and functions to convert.

    Attributes:
        target: ``coroutine`` or ``async``.
        only: The codes of the fixers to use; empty for all.
        skip: The codes of fixers not to use.
        is_selected: Tells whether a function of a module may be converted, by its name; the
            empty name stands for what is outside of functions.
        frozen: The files that stay as they are.
    """

    target: str = "async"
    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    is_selected: Callable[[Module, str], bool] = lambda _module, _name: True
    frozen: frozenset[str] = frozenset()

    def has(self, code: str) -> bool:
        """Return whether a fixer is to be used."""
        return code not in self.skip and (not self.only or code in self.only)

    def allows(self, function: Function) -> bool:
        """Return whether a function may be converted."""
        module = function.module
        return module.path not in self.frozen and self.is_selected(
            module, function.name
        )

    def allows_change(self, fix: Fix) -> bool:
        """Return whether the place of a fix that converts no function may be changed."""
        module = fix.module
        function = module.function_at(fix.changes[0].node)
        names = [f.name for f in module.functions] if function is None else []
        names.append(function.name if function is not None else "")
        is_selected = any(self.is_selected(module, name) for name in names)
        return module.path not in self.frozen and is_selected


def selecting(pattern: re.Pattern[str] | None) -> Callable[[Module, str], bool]:
    """Return a predicate that searches the names of a module and a function for a pattern."""
    if pattern is None:
        return lambda _module, _name: True

    def is_selected(module: Module, name: str) -> bool:
        path = module.path.removesuffix(".py").replace(os.sep, ".")
        return pattern.search(f"{path}.{name}") is not None

    return is_selected
