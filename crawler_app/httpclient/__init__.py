"""An HTTP/1.1 client with keep-alive for any Tornado program::

    import asyncio
    from tornado.httpclient import AsyncHTTPClient

    AsyncHTTPClient.configure("crawler_app.httpclient.PooledAsyncHTTPClient")

    async def main():
        client = AsyncHTTPClient()
        response = await client.fetch("https://example.org/")
        print(response.code, len(response.body))

    asyncio.run(main())

It imports nothing else of the crawler.  What is public is in ``__all__``; the modules are,
from the call to the wire and back::

    client      Tornado's interface, the queue
    fetch       one call: redirects, a second try, time limits
    request     HTTPRequest -> bytes, and which connections can carry them    pure
    pool        connections that are free
    dialing     name, address check, TCP, proxy, TLS -> a connection
    connection  asyncio's Protocol
    exchange    one request, one response: llhttp, strictly
    response    head and body as Tornado's HTTPResponse, and as an archive wants them
    body        kept, streamed with back-pressure, or read and dropped
    codings     gzip, deflate, br, zstd; bounded after decoding               pure
    redirect    which request follows                                         pure
    tls         one context for each set of options
"""

from crawler_app.httpclient.client import PooledAsyncHTTPClient
from crawler_app.httpclient.errors import (
    BadResponseError,
    ProxyError,
    ResponseTooLargeError,
)
from crawler_app.httpclient.response import PooledHTTPResponse

__all__ = [
    "BadResponseError",
    "PooledAsyncHTTPClient",
    "PooledHTTPResponse",
    "ProxyError",
    "ResponseTooLargeError",
]
