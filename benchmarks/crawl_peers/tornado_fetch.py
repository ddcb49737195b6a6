"""Fetch the URLs of stdin through one AsyncHTTPClient; print the bytes of their bodies.

python tornado_fetch.py CLASS CONCURRENCY < URLS
"""

import sys

from tornado.httpclient import HTTPRequest
from tornado.util import import_object

from gencoro import gen
from gencoro.ioloop import IOLoop


@gen.coroutine
def fetch_all(client, urls):
    size = 0
    for url in urls:
        request = HTTPRequest(
            url,
            user_agent="gencoro-benchmark",
            follow_redirects=False,
            decompress_response=True,
        )
        response = yield client.fetch(request)
        size += len(response.body)
    return size


@gen.coroutine
def main(class_name, concurrency):
    # Each worker takes the next one as soon as it has done with its last.
    urls = iter(sys.stdin.read().split())
    client = import_object(class_name)(force_instance=True, max_clients=concurrency)
    sizes = yield [fetch_all(client, urls) for _ in range(concurrency)]
    client.close()
    print(sum(sizes))


if __name__ == "__main__":
    IOLoop.current().run_sync(lambda: main(sys.argv[1], int(sys.argv[2])))
