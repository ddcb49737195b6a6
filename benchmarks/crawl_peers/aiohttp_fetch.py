"""Fetch the URLs of stdin through aiohttp; print the bytes of their bodies.

python aiohttp_fetch.py CONCURRENCY < URLS
"""

import asyncio
import sys

import aiohttp


async def fetch_all(session, urls):
    size = 0
    for url in urls:
        async with session.get(url, allow_redirects=False) as response:
            size += len(await response.read())
    return size


async def main(concurrency):
    urls = iter(sys.stdin.read().split())
    connector = aiohttp.TCPConnector(limit=concurrency)
    headers = {"User-Agent": "gencoro-benchmark"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        workers = (fetch_all(session, urls) for _ in range(concurrency))
        print(sum(await asyncio.gather(*workers)))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
