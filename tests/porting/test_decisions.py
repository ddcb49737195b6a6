"""Decisions: comments, public functions, and what runs have shown."""

import hashlib
import json

import pytest

from gencoro.evidence import HEADER, Evidence
from gencoro.porting.conversion import convert
from gencoro.porting.decisions import Options
from tests.helpers.porting.converting import HEAD, reasons

TABLE = (
    HEAD
    + """\
class Server(object):
    def __init__(self):
        self.handlers = {"get": self.get}

    @gen.coroutine
    def get(self):
        yield unknown()
"""
)


@pytest.fixture
def decide(tmp_path):
    """Return the decisions about a module, with recorded uses and kinds of values."""

    def decide(source, uses=(), kinds=(), **options):
        path, text = str(tmp_path / "m.py"), source.encode()
        lines = [
            {"file": "id", "path": path, "sha256": hashlib.sha256(text).hexdigest()},
            *({"call": ["id", *call], "use": use, "at": at} for call, use, at in uses),
            *({"yield": ["id", *place], "kind": kind} for place, kind in kinds),
        ]
        recording = tmp_path / "seen"
        recording.write_text("\n".join([HEADER, *map(json.dumps, lines)]) + "\n")
        evidence = Evidence.load([recording], {path: text})
        return convert({path: text}, Options(**options), evidence)

    return decide


def _reasons(conversion):
    return {d.function.name: d.stays[0].reason for d in conversion.left}


@pytest.mark.parametrize(
    "source",
    [
        "# gencoro: keep\n@gen.coroutine\ndef f(): yield None\n",
        "@gen.coroutine  # gencoro: keep\ndef f(): yield None\n",
        "@gen.coroutine\ndef f():  # gencoro: keep, for plugins\n    yield None\n",
    ],
)
def test_comment_keeps_a_function(source):
    assert reasons(HEAD, source) == {"f": "asked"}


def test_comment_about_another_function_does_not():
    source = "@gen.coroutine  # gencoro: keep\ndef f(): yield None\n\n@gen.coroutine\ndef g(): yield None\n"

    assert reasons(HEAD, source) == {"f": "asked"}


PUBLIC = """\
@gen.coroutine
def uncalled(): yield None

@gen.coroutine
def called(): yield None

@gen.coroutine
def _private(): yield called()

class Page(web.RequestHandler):
    @gen.coroutine
    def get(self): yield None
"""


def test_public_functions_that_nobody_calls_stay_if_asked():
    source = f"from tornado import web\n{HEAD}{PUBLIC}"

    assert reasons(source) == {}
    assert reasons(source, keep_public=True) == {"uncalled": "public"}


def test_run_decides_what_is_passed_on(decide):
    call = [7, "Server.get"]

    assert _reasons(decide(TABLE)) == {"Server.get": "passed-on"}
    assert _reasons(decide(TABLE, [(call, "awaited", None)])) == {}
    assert _reasons(decide(TABLE, [(call, "kept", ["id", 20, 4])])) == {
        "Server.get": "passed-on"
    }


def test_run_keeps_what_it_contradicts(decide):
    source = f"{HEAD}@gen.coroutine\ndef f():\n    yield None\n"
    uses = [([3, "f"], "awaited", None), ([3, "f"], "dropped", ["id", 9, 0])]

    conversion = decide(source, uses)

    [decision] = conversion.left
    assert (decision.stays[0].reason, decision.stays[0].line) == ("seen", 9)


def test_run_does_not_excuse_a_call_that_is_dropped(decide):
    source = (
        f"{HEAD}@gen.coroutine\ndef f():\n    yield None\n\ndef never():\n    f()\n"
    )

    assert _reasons(decide(source, [([3, "f"], "awaited", None)])) == {"f": "dropped"}


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("future", "await unknown()"),
        ("list of future", "await gen.multi(unknown())"),
        ("none", "await gen.convert_yielded(unknown())"),
        ("concurrent", "await asyncio.wrap_future(unknown())"),
    ],
)
def test_run_tells_what_a_value_is(decide, kind, after):
    source = f"{HEAD}@gen.coroutine\ndef f(unknown):\n    yield unknown()\n"

    conversion = decide(source, kinds=[([5, 4], kind)])

    [text] = conversion.sources.values()
    assert text.decode().endswith(f"    {after}\n")
    assert conversion.all_listed == []


def test_run_that_saw_a_yield_point_keeps_the_function(decide):
    source = f"{HEAD}@gen.coroutine\ndef f(unknown):\n    yield unknown()\n"

    assert _reasons(decide(source, kinds=[([5, 4], "legacy")])) == {"f": "yield-point"}


def test_strict_keeps_unknown_values():
    source = f"{HEAD}@gen.coroutine\ndef f(unknown):\n    yield unknown()\n"

    assert reasons(source, strict=True) == {"f": "unresolved-value"}
