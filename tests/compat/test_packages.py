"""Packages that were written for Tornado 2 to 4 run as they were published.

Each program in ``packages`` is a legacy script that uses one; it printed on Tornado 4.5.3
what the test expects.  A suite is the package's own, out of its archive.
"""

import json
import os
import socket
from collections.abc import Iterator

import pytest

from tests.helpers.compat.archives import PROGRAMS, Packages


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return Packages(folder / "packages")


def test_tornado_redis(packages):
    seen = packages.result("tornado_redis_program.py", using="tornado-redis")

    assert seen == {
        "set": True,
        "get": "Grüße",
        "together": [1, 2, 3],
        "hash": {"name": "Ada", "age": "36"},
        "pipeline": [True, 2],
        "receivers": 1,
        "message": "hello",
        "error": "ResponseError (on NOSUCH [(), {}]): unknown command 'NOSUCH'",
    }
    assert packages.log == ""


def test_momoko(packages):
    seen = packages.result("momoko_program.py", using="momoko psycopg2-binary")

    assert seen == {
        "op": [42, "Grüße"],
        "transaction": [[7]],
        "two": [2],
        "one": [1],
        "all": [["a"], ["b"], ["c"]],
        "error": "SyntaxError",
    }
    assert packages.log == ""


def test_queries(packages):
    seen = packages.result("queries_program.py", using="queries psycopg2-binary")

    assert seen == {
        "query": {"answer": 42, "who": "Ada"},
        "together": [{"n": 0}, {"n": 1}, {"n": 2}],
        "error": "SyntaxError",
    }
    assert packages.log == ""


def test_tornadoes(packages):
    seen = packages.result("tornadoes_program.py", using="tornadoes six")

    assert seen == {
        "put": 201,
        "get": {"_source": {"title": "Legacy"}},
        "put with callback": 201,
        "search": 2,
        "missing": [404, 404],
        "refused": [599, "ConnectionRefusedError"],
    }
    assert packages.log == ""


def test_sockjs_tornado_and_ws4py(packages):
    seen = packages.result("sockjs_program.py", using="sockjs-tornado ws4py")

    assert seen == {
        "greeting": "Welcome to SockJS!\n",
        "open": [200, "o\n"],
        "send": [204, ""],
        "poll": [200, 'a["HELLO"]\n'],
        "heartbeat": [200, "h\n"],
        "websocket": ["somebody came", "GOOD NIGHT"],
        "stream": [
            "\r\ndata: o",
            'data: a["GOOD NIGHT"]',
            'data: c[3000,"Go away!"]',
            "",
        ],
    }
    assert packages.log == ""


def test_opentracing_instrumentation(packages):
    seen = packages.result(
        "opentracing_program.py",
        using="opentracing-instrumentation opentracing contextlib2 six",
    )

    events = [
        "began",
        "went on",
        "timed out",
        "fetched without a span",
        "came to the engine",
        "ended",
    ]
    assert seen == [{"one": events}, {"two": events}]
    assert packages.log == ""


@pytest.fixture
def port() -> Iterator[int]:
    """Return a free port."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_centrifuge_with_sockjs_tornado(packages, port):
    seen = packages.result(
        "centrifuge_program.py",
        "--config=centrifuge.json",
        "--address=127.0.0.1",
        f"--port={port}",
        using="centrifuge sockjs-tornado jsonschema six",
    )

    assert seen == {
        "expired": False,
        "published": 200,
        "received": {"goals": 2},
        "present": ["ada"],
        "history": [{"goals": 2}],
    }
    assert "Traceback" not in packages.log


def test_the_chat_demo_of_tornado(packages, port):
    seen = _demo(packages, "chat", "demo_chat_program.py", port)

    assert seen == {
        "sent": "Grüße",
        "received": ["Bob", "Grüße"],
        "redirected": [302, "/"],
        "later": "Tea?",
        "page": [True, True],
        "stranger": [302, "/auth/login?next=%2F"],
    }
    assert packages.log == ""


def test_the_websocket_demo_of_tornado(packages, port):
    seen = _demo(packages, "websocket", "demo_websocket_program.py", port)

    assert seen == {"received": ["Grüße", "Grüße"], "page": True, "alone": "Tea?"}
    assert packages.log == ""


def _demo(packages, name, program, port):
    """Run a demo of Tornado 3.2, and a program that talks to it."""
    printed = packages.run(
        str(PROGRAMS / program),
        f"--port={port}",
        "--logging=error",
        using="",
        cwd=packages.path("tornado") / "demos" / name,
    )
    return json.loads(printed.splitlines()[-1])


def test_toro(packages):
    seen = packages.result("toro_program.py", using="toro")

    assert seen == {
        "received": [0, 1, 2, 3, 4],
        "order": ["a in", "a out", "b in", "b out"],
        "event": None,
        "timeout": "Timeout",
        "notified": None,
        "result": 42,
        "bounded": "Semaphore released too many times",
    }
    assert packages.log == ""


def test_the_suite_of_greenado(packages):
    printed = packages.run(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "tests"),
        using="greenado greenlet",
        cwd=packages.path("greenado"),
    )

    assert printed.splitlines()[-1].startswith("36 passed in ")


def test_gunicorn(packages):
    seen = packages.result("gunicorn_program.py", using="gunicorn")

    assert seen == {"answer": "Tea", "workers": 2}
    assert "Traceback" not in packages.log
