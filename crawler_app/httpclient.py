"""An HTTP/1.1 client with keep-alive for any Tornado program::

    import asyncio
    from tornado.httpclient import AsyncHTTPClient

    AsyncHTTPClient.configure("crawler_app.httpclient.PooledAsyncHTTPClient")

    async def main():
        client = AsyncHTTPClient()
        response = await client.fetch("https://example.org/")
        print(response.code, len(response.body))

    asyncio.run(main())

The public names of `crawler_app.web.httpclient`, which imports nothing else of the crawler.
"""

from crawler_app.web.httpclient.client import PooledAsyncHTTPClient
from crawler_app.web.httpclient.errors import (
    AmbiguousResponseError,
    BadResponseError,
    ConnectionWasIdleError,
    ProxyError,
    ResponseTooLargeError,
)
from crawler_app.web.httpclient.response import PooledHTTPResponse

__all__ = [
    "AmbiguousResponseError",
    "BadResponseError",
    "ConnectionWasIdleError",
    "PooledAsyncHTTPClient",
    "PooledHTTPResponse",
    "ProxyError",
    "ResponseTooLargeError",
]
