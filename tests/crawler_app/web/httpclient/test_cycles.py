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
def fetch_often(client, **options):
    """Fetch again and again, whatever comes of it."""
    for _ in range(FETCHES):
        with contextlib.suppress(Exception):
            yield client.fetch(**options)
    # A transport lets go of its protocol some turns after it was closed.
    for _ in range(5):
        yield gen.moment


# Options of the client, and those of each request.
FETCHES_LIKE = {
    "kept": ({}, {}),
    "closed": ({}, {"headers": {"Connection": "close"}}),
    "redirected": ({}, {"request": "{url}/moved"}),
    "refused": ({}, {"request": "http://127.0.0.1:{refusing}/"}),
    "address_refused": ({"check_address": fail}, {}),
    "streamed": ({}, {"streaming_callback": lambda chunk: None}),
    "streamed_slowly": ({}, {"streaming_callback": lambda chunk: gen.sleep(0)}),
    "streaming_fails": ({}, {"streaming_callback": fail}),
    "streaming_fails_later": ({}, {"streaming_callback": fail_later}),
    "header_callback": ({}, {"header_callback": lambda line: None}),
    "header_callback_fails": ({}, {"header_callback": fail}),
    "producer": ({}, {"method": "PUT", "body_producer": lambda write: write(b"x")}),
    "producer_fails": ({}, {"method": "PUT", "body_producer": fail}),
    "producer_fails_later": ({}, {"method": "PUT", "body_producer": fail_later}),
    "value_error": ({}, {"method": "BREW"}),
    "type_error": ({}, {"headers": {"X": 5}}),
}


@pytest.mark.parametrize("kind", FETCHES_LIKE)
@gen.coroutine
def test_fetch_leaves_nothing_that_refers_to_itself(make_client, web, garbage, kind):
    web.redirect("/moved", to="/")
    client_options, options = FETCHES_LIKE[kind]
    client = make_client(**client_options)
    port, sock = refusing_port()
    url = options.get("request", "{url}").format(url=web.url, refusing=port)

    with sock:
        yield fetch_often(client, **options | {"request": url})

    assert garbage() == []
