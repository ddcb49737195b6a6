"""What a fetch leaves behind is gone without the garbage collector.

A crawler makes thousands of fetches a second; what refers to itself would lie around,
with the body of a page, until a full collection.
"""

import contextlib
import gc

import pytest

from gencoro import gen
from tests.helpers.http.peers import refusing_port

FETCHES = 10


def fail(*_):
    raise ZeroDivisionError("of a callback")


@gen.coroutine
def fail_later(*_):
    yield gen.moment
    fail()


@pytest.fixture
def garbage():
    """Collect by hand only; return a function that tells what of ours is garbage."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)

    def ours():
        gc.collect()
        names = (type(each).__module__ for each in gc.garbage)
        return [
            each
            for each, name in zip(gc.garbage, names, strict=True)
            if isinstance(name, str) and name.startswith("crawler_app")
        ]

    yield ours
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@gen.coroutine
def fetch_often(client, url, **options):
    """Fetch again and again, whatever comes of it."""
    for _ in range(FETCHES):
        with contextlib.suppress(Exception):
            yield client.fetch(url, **options)
    # A transport lets go of its protocol some turns after it was closed.
    for _ in range(5):
        yield gen.moment


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"headers": {"Connection": "close"}},
        {"streaming_callback": lambda chunk: None},
        {"streaming_callback": lambda chunk: gen.sleep(0)},
        {"streaming_callback": fail},
        {"streaming_callback": fail_later},
        {"header_callback": lambda line: None},
        {"header_callback": fail},
        {"method": "PUT", "body_producer": lambda write: write(b"x")},
        {"method": "PUT", "body_producer": fail},
        {"method": "PUT", "body_producer": fail_later},
        {"method": "BREW"},
        {"headers": {"X": 5}},
    ],
    ids=[
        "kept",
        "closed",
        "streamed",
        "streamed_slowly",
        "streaming_fails",
        "streaming_fails_later",
        "header_callback",
        "header_callback_fails",
        "producer",
        "producer_fails",
        "producer_fails_later",
        "value_error",
        "type_error",
    ],
)
@gen.coroutine
def test_fetch_leaves_nothing_that_refers_to_itself(client, web, garbage, options):
    yield fetch_often(client, web.url, **options)

    assert garbage() == []


@gen.coroutine
def test_refused_connection_leaves_nothing_that_refers_to_itself(client, garbage):
    port, sock = refusing_port()

    with sock:
        yield fetch_often(client, f"http://127.0.0.1:{port}/")

    assert garbage() == []


@gen.coroutine
def test_refused_address_leaves_nothing_that_refers_to_itself(
    make_client, web, garbage
):
    client = make_client(check_address=fail)

    yield fetch_often(client, web.url)

    assert garbage() == []
    assert web.streams == []


@gen.coroutine
def test_redirect_leaves_nothing_that_refers_to_itself(client, web, garbage):
    web.redirect("/start", to="/target")

    yield fetch_often(client, f"{web.url}/start")

    assert len(web.requests) == 2 * FETCHES
    assert garbage() == []
