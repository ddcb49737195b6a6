"""Tornado's own tests of HTTP clients, run with ours.

The classes are subclassed through their modules: a class imported by its own name would run
here unchanged.  A method here replaces Tornado's where our client differs on purpose; a comment
says how and why.
"""

import contextlib
import logging
import ssl
import tracemalloc

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPError
from tornado.ioloop import IOLoop
from tornado.simple_httpclient import HTTPStreamClosedError
from tornado.test import httpclient_test as common
from tornado.test import simple_httpclient_test as simple
from tornado.test.util import AsyncHTTPSTestCase, AsyncHTTPTestCase, AsyncTestCase
from tornado.testing import ExpectLog

from crawler_app.httpclient import (
    BadResponseError,
    PooledAsyncHTTPClient,
    ResponseTooLargeError,
)
from gencoro import gen


@pytest.fixture(autouse=True)
def no_access_log(caplog):
    """Keep the servers from logging: Tornado's cases fail on any line at INFO."""
    caplog.set_level(logging.CRITICAL, "tornado.access")


class Ours:
    """Makes the client of a test case."""

    def __init_subclass__(cls, **client_options):
        super().__init_subclass__()
        cls.client_options = client_options

    def get_http_client(self):
        return self.create_client()

    def create_client(self, **options):
        return PooledAsyncHTTPClient(
            force_instance=True, **self.client_options | options
        )


class TestCommon(Ours, common.HTTPClientCommonTestCase):
    # Tornado's own clients do not; ours does if the package is installed.
    decompresses_brotli = True

    def test_decompression_bomb_without_streaming_callback(self):
        # As Tornado's, except for the log: the caller of fetch gets the error.
        common.gzip_bomb(common.UNBUFFERABLE_BOMB_SIZE)
        tracemalloc.start()
        try:
            tracemalloc.reset_peak()
            with self.assertRaises(ResponseTooLargeError):
                self.fetch(f"/gzip_bomb?size={common.UNBUFFERABLE_BOMB_SIZE}")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

        self.assertLess(peak, common.UNBUFFERABLE_BOMB_SIZE // 2)


class TestMaxBodySize(
    Ours,
    common.HTTPClientMaxBodySizeTestCase,
    max_body_size=common.MAX_BODY_SIZE,
):
    def test_body_bearing_redirect(self):
        # The limit is for the body that the caller gets, and this one is discarded.
        response = self.fetch("/body_bearing_redirect")
        response.rethrow()
        self.assertTrue(response.effective_url.endswith("/small"))


class OursForSimple(Ours):
    """Where we differ from Tornado's tests of SimpleAsyncHTTPClient."""

    def get_app(self):
        return self.mixin_get_app()

    def test_singleton(self):
        # As Tornado's, which names its class.
        made = [
            PooledAsyncHTTPClient(),
            PooledAsyncHTTPClient(),
            PooledAsyncHTTPClient(force_instance=True),
        ]
        with contextlib.closing(IOLoop(make_current=False)) as other_loop:

            async def make_client():
                return PooledAsyncHTTPClient()

            made.append(other_loop.run_sync(make_client))
            for client in made:
                client.close()

        self.assertIs(made[0], made[1])
        self.assertEqual(len(set(map(id, made))), 3)

    def test_queue_timeout(self):
        # With us, waiting is not request time: no timeout runs in the queue.
        with contextlib.closing(self.create_client(max_clients=1)) as client:
            held = client.fetch(self.get_url("/trigger"), request_timeout=10)
            self.wait()
            waiting = client.fetch(self.get_url("/hello"), connect_timeout=0.1)
            self.io_loop.run_sync(lambda: gen.sleep(0.2))
            self.assertEqual((len(client.queue), waiting.done()), (1, False))
            self.triggers.popleft()()
            self.io_loop.run_sync(lambda: held)
            self.assertEqual(
                self.io_loop.run_sync(lambda: waiting).body, b"Hello world!"
            )

    def test_multiple_content_length_accepted(self):
        # Two lengths, even equal ones, are a sign of response smuggling.
        for value in ("2,2", "2,%202,2", "2,4", "2,%202,3"):
            with self.subTest(value), self.assertRaises(BadResponseError):
                self.fetch(f"/content_length?value={value}")

    def test_streaming_callback_error(self):
        # The caller's own exception is raised unchanged.
        def streaming_callback(chunk):
            raise ValueError("error in streaming_callback")

        with self.assertRaisesRegex(ValueError, "error in streaming_callback"):
            self.fetch("/hello", streaming_callback=streaming_callback)

    def test_streaming_callback_coroutine_cancelled(self):
        # So does a cancellation; then fetch is cancelled, or fails.
        async def streaming_callback(chunk):
            future = self.io_loop.asyncio_loop.create_future()
            future.cancel()
            await future

        with self.assertRaises(BaseException) as caught:
            self.fetch("/hello", streaming_callback=streaming_callback)
        self.assertNotIsInstance(caught.exception, TimeoutError)

    def test_request_timeout(self):
        # On a reused connection the request arrives in time even on a busy machine.
        self.fetch("/hello")
        super().test_request_timeout()

    def test_header_callback_error(self):
        # The caller's own exception is raised unchanged.
        def header_callback(line):
            raise ValueError("error in header_callback")

        with self.assertRaisesRegex(ValueError, "error in header_callback"):
            self.fetch("/hello", header_callback=header_callback)


class TestSimple(OursForSimple, AsyncHTTPTestCase, simple.SimpleHTTPClientTestMixin):
    pass


class TestSimpleOverTls(
    OursForSimple,
    AsyncHTTPSTestCase,
    simple.SimpleHTTPClientTestMixin,
    defaults={"validate_cert": False},
):
    test_ssl_options = simple.SimpleHTTPSClientTestCase.test_ssl_options
    test_ssl_context = simple.SimpleHTTPSClientTestCase.test_ssl_context
    test_ssl_options_handshake_fail = (
        simple.SimpleHTTPSClientTestCase.test_ssl_options_handshake_fail
    )

    def test_ssl_context_handshake_fail(self):
        # As Tornado's, except for the log, which its own streams write.
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
        with self.server_may_log(), self.assertRaises(ssl.SSLError):
            self.fetch("/hello", ssl_options=context)

    def test_error_logging(self):
        # No stack traces are logged for SSL errors, and ours logs nothing at all.
        with self.server_may_log() as logged, self.assertRaises(ssl.SSLError):
            self.fetch("/", validate_cert=True)
        self.assertFalse(logged.logged_stack)

    def server_may_log(self):
        return ExpectLog("tornado.general", "SSL Error", required=False)


class TestConfiguredMaxClients(AsyncTestCase):
    def setUp(self):
        super().setUp()
        self.saved = AsyncHTTPClient._save_configuration()

    def tearDown(self):
        AsyncHTTPClient._restore_configuration(self.saved)
        super().tearDown()

    def made_with(self, **options):
        client = AsyncHTTPClient(force_instance=True, **options)
        with contextlib.closing(client):
            return client.max_clients

    def test_max_clients(self):
        # As Tornado's, which names its class.
        AsyncHTTPClient.configure(PooledAsyncHTTPClient)
        self.assertEqual(self.made_with(), 10)
        self.assertEqual(self.made_with(max_clients=11), 11)
        AsyncHTTPClient.configure(PooledAsyncHTTPClient, max_clients=12)
        self.assertEqual(self.made_with(), 12)
        self.assertEqual(self.made_with(max_clients=13), 13)


class Test100Continue(Ours, simple.HTTP100ContinueTestCase):
    pass


class Test1xxLimit(Ours, simple.HTTP1xxLimitTestCase):
    def test_too_many_1xx(self):
        # As Tornado's, with an error of its own and no log.
        with self.assertRaises(BadResponseError):
            self.fetch("/?num=11")


class TestGzipResponse(Ours, simple.GzipResponseTestCase):
    def test_invalid(self):
        # Data after a gzip member that is not another member is ignored, as in browsers.
        for kind in ("trailing_nul", "trailing_garbage"):
            with self.subTest(kind):
                response = self.fetch(f"/{kind}")
                self.assertEqual(response.body, b"".join(simple.gzip_members()))
        with self.assertRaises(BadResponseError):
            self.fetch("/truncated")


class Test204(Ours, simple.HTTP204NoContentTestCase):
    def test_204_invalid_content_length(self):
        # It has no body, in spite of its length; the connection is not reused.
        response = self.fetch("/?error=1")
        self.assertEqual((response.code, response.body), (204, b""))


class TestHostnameMapping(Ours, simple.HostnameMappingTestCase):
    def setUp(self):
        AsyncHTTPTestCase.setUp(self)
        self.http_client.close()
        self.http_client = self.create_client(
            hostname_mapping={
                "www.example.com": "127.0.0.1",
                ("foo.example.com", 8000): ("127.0.0.1", self.get_http_port()),
            }
        )


class TestResolveTimeout(Ours, simple.ResolveTimeoutTestCase):
    def setUp(self):
        super().setUp()
        # Tornado's has one with the resolver that never answers.
        resolver = self.http_client.resolver
        self.http_client.close()
        self.http_client = self.create_client(resolver=resolver)


class TestMaxHeaderSize(Ours, simple.MaxHeaderSizeTest, max_header_size=1024):
    def test_large_headers(self):
        # As Tornado's, with an error of its own and no log.
        with self.assertRaises(ResponseTooLargeError):
            self.fetch("/large")


class TestMaxBodySizeUntilClose(
    Ours, simple.MaxBodySizeUntilCloseTest, max_body_size=1024 * 64
):
    def test_large_body_until_close(self):
        # As Tornado's, with an error of its own and no log.
        with self.assertRaises(ResponseTooLargeError) as caught:
            self.fetch("/large")
        self.assertIsInstance(caught.exception, HTTPStreamClosedError)
        self.assertIsInstance(caught.exception, HTTPError)


class TestMaxBufferSizeUntilClose(
    Ours,
    simple.MaxBufferSizeUntilCloseTest,
    max_body_size=1024 * 1024,
    max_buffer_size=1024 * 64,
):
    pass


class TestMaxBufferSize(
    Ours,
    simple.MaxBufferSizeTest,
    max_body_size=1024 * 100,
    max_buffer_size=1024 * 64,
):
    pass


class TestChunkedWithContentLength(Ours, simple.ChunkedWithContentLengthTest):
    def test_chunked_with_content_length(self):
        # As Tornado's, with an error of its own and no log.
        with self.assertRaises(BadResponseError):
            self.fetch("/chunkwithcl")
