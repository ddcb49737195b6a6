"""Whether a module was written for Tornado 5 or earlier, by its source."""

import inspect
import types
import weakref

__all__ = ["is_module_legacy"]

_is_legacy_by_module: "weakref.WeakKeyDictionary[types.ModuleType, bool]"
_is_legacy_by_module = weakref.WeakKeyDictionary()


def is_module_legacy(module: types.ModuleType | None) -> bool:
    """Return True if a module uses what Tornado 6 has removed, or supports Python 2.

    Reading the source takes time and memory; it is read once.
    """
    if module is None:
        return False
    if module not in _is_legacy_by_module:
        # The doctor takes longer to load than the rest of compat.
        from gencoro.compat.doctor.eras import is_of_tornado_5  # noqa: PLC0415

        try:
            is_legacy = is_of_tornado_5(inspect.getsource(module))
        except (OSError, SyntaxError, TypeError):  # no source, or not in Python
            is_legacy = False
        _is_legacy_by_module[module] = is_legacy
    return _is_legacy_by_module[module]
