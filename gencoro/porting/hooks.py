"""Who calls a method besides the program: Tornado, a test runner, or Python itself.

Rule: what Tornado calls and waits for may become an ``async def``; a caller that does not
wait would never run its body.

Pure.  Used by `gencoro.porting.uses`.
"""

import ast
import functools
import pkgutil

from gencoro.compat.doctor.program import Function, Program
from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.families import Families

__all__ = ["HTTP_VERBS", "caller_that_does_not_wait", "is_awaited_hook"]

HTTP_VERBS = frozenset({"delete", "get", "head", "options", "patch", "post", "put"})
_HANDLER = "tornado.web.RequestHandler"

# What a class is called with by Tornado even if its own base classes were not read.
_LIKELY_HOOKS = HTTP_VERBS | {"prepare"}

# Special methods whose result Python awaits.
_AWAITED_SPECIALS = frozenset({"__aenter__", "__aexit__", "__anext__"})

# What unittest calls on a test case, besides the tests.
_OF_UNITTEST = frozenset(
    {"runTest", "setUp", "setUpClass", "tearDown", "tearDownClass"}
)
# The modules of the standard library whose classes have methods to override.
_LIBRARIES = frozenset(
    [
        "asyncio",
        "cmd",
        "codecs",
        "collections",
        "html",
        "http",
        "io",
        "json",
        "logging",
        "multiprocessing",
        "queue",
        "socketserver",
        "threading",
    ]
)
_TEST_CASES = ("unittest.", "tornado.testing.", "twisted.trial.")


def caller_that_does_not_wait(
    function: Function, program: Program, families: Families
) -> str:
    """Return who calls a function and drops its result; empty if no known caller does."""
    name = function.node.name
    if function.owner is None:
        is_test = name.startswith("test") and function.name == name
        return "a test runner" if is_test and _is_test_file(function) else ""
    if name.startswith("__") and name.endswith("__"):
        return "" if name in _AWAITED_SPECIALS else "Python"
    bases = _bases(function, program, families)
    is_test = name in _OF_UNITTEST or name.startswith("test")
    if is_test and any(base.startswith(_TEST_CASES) for base in bases):
        return "unittest"
    for base in bases:
        if _is_of_library(base, name):
            return base
        owner = _owner_in_tornado(base, name)
        if owner and not _is_awaited(owner, name):
            return owner
    if name.startswith("on_"):  # an event, for which such a class does not wait
        return families.unread_base(function.owner)
    is_collected = name.startswith("test") and function.owner.name.startswith("Test")
    return "a test runner" if is_collected and _is_test_file(function) else ""


def is_awaited_hook(function: Function, program: Program, families: Families) -> bool:
    """Return whether Tornado calls a method of this name and waits for its result."""
    if function.owner is None:
        return False
    name = function.node.name
    for base in _bases(function, program, families):
        owner = _owner_in_tornado(base, name)
        if owner and _is_awaited(owner, name):
            return True
    is_likely = bool(families.unread_base(function.owner))
    return is_likely and name in _LIKELY_HOOKS


def _bases(function: Function, program: Program, families: Families) -> list[str]:
    """Return the base classes outside of the program of whatever may have a method."""
    assert function.owner is not None, "it is a method"
    found: list[str] = []
    for heir in families.heirs(function.owner):
        found += [base for base in program.bases_of(heir) if base not in found]
    return found


@functools.cache
def _owner_in_tornado(base: str, name: str) -> str:
    """Return the class of Tornado that defines a method for its subclasses; empty if none."""
    if not base.startswith("tornado."):
        return ""
    found = TODAY.find(f"{base}.{name}")
    return found[0].rpartition(".")[0] if found is not None else ""


@functools.cache
def _is_awaited(owner: str, name: str) -> bool:
    """Return whether Tornado waits for what a method of its class returns."""
    if owner == _HANDLER and name in HTTP_VERBS:
        return True
    found = TODAY.find(f"{owner}.{name}")
    node = found[1] if found is not None else None
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    # Some are variables, such as WebSocketHandler.open.
    returns = getattr(node, "returns", None) or getattr(node, "annotation", None)
    text = ast.unparse(returns) if returns is not None else ""
    return "Awaitable" in text or "Future" in text


@functools.cache
def _is_of_library(base: str, name: str) -> bool:
    """Return whether a class of the standard library has a method, which it may call."""
    module = base.rpartition(".")[0]
    if module.partition(".")[0] not in _LIBRARIES:
        return False
    try:
        return hasattr(pkgutil.resolve_name(base), name)
    except (AttributeError, ImportError):
        return False


def _is_test_file(function: Function) -> bool:
    """Return whether a test runner collects a file."""
    name = function.module.path.replace("\\", "/").rpartition("/")[2]
    return name.startswith("test") or name.endswith("_test.py")
