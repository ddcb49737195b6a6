"""Where ``raise gen.Return`` is seen by something that does not see a ``return``."""

import pytest

from tests.helpers.porting.converting import reasons

HEAD = """\
import contextlib, sqlite3, threading
from tornado import gen, locks

lock = threading.Lock()

@contextlib.contextmanager
def timed():
    try:
        yield
    finally:
        print("done")

@contextlib.contextmanager
def committed():
    yield
    print("commit")

@contextlib.contextmanager
def logged():
    try:
        yield
    except gen.Return:
        raise
    except Exception:
        print("failed")
        raise

@contextlib.contextmanager
def rolled_back():
    try:
        yield
    except Exception:
        print("roll back")
        raise

class Quiet(object):
    def __enter__(self): pass
    def __exit__(self, *error): print("left")

class Loud(object):
    def __enter__(self): pass
    def __exit__(self, kind, error, trace): print(kind)

def stop():
    raise gen.Return(1)

@gen.coroutine
def main(unknown):
    {0}
"""

RETURN = "raise gen.Return((yield unknown))"


@pytest.mark.parametrize(
    "manager",
    [
        "open('x')",
        "lock",
        "self.lock",
        "(yield unknown.acquire())",
        "contextlib.suppress(KeyError)",
        "timed()",
        "logged()",
        "Quiet()",
    ],
)
def test_context_manager_that_does_not_look(manager):
    assert reasons(HEAD.format(f"with {manager}:\n        {RETURN}")) == {}


@pytest.mark.parametrize(
    "manager",
    [
        "unknown",
        "contextlib.suppress(Exception)",
        "sqlite3.connect('x')",
        "committed()",
        "rolled_back()",
        "Loud()",
    ],
)
def test_context_manager_that_may_look_keeps_a_function(manager):
    found = reasons(HEAD.format(f"with {manager}:\n        {RETURN}"))

    assert found == {"main": "return-in-with"}


@pytest.mark.parametrize(
    "handler",
    [
        "except KeyError: pass",
        "except gen.Return: raise\n    except Exception: pass",
        "except Exception: raise",
        "except Exception as e: raise e",
        "finally: pass",
    ],
)
def test_handler_that_does_not_catch_it(handler):
    assert reasons(HEAD.format(f"try:\n        {RETURN}\n    {handler}")) == {}


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception: pass",
        "except: pass",
        "except (KeyError, BaseException): pass",
        "except gen.Return: pass",
        "except self.errors: pass",
    ],
)
def test_handler_that_catches_it_keeps_a_function(handler):
    found = reasons(HEAD.format(f"try:\n        {RETURN}\n    {handler}"))

    assert found == {"main": "return-caught"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"try: pass\n    finally:\n        {RETURN}", "return-in-finally"),
        ("raise gen.Return(1, 2)", "return-arguments"),
        ("end = gen.Return(1)\n    raise end", "return-elsewhere"),
        ("yield stop()", "return-elsewhere"),
        (
            "try: yield unknown\n    except Exception:\n        raise gen.Return(1)",
            None,
        ),
    ],
)
def test_other_places(body, reason):
    assert reasons(HEAD.format(body)) == ({"main": reason} if reason else {})
