"""Serves the demo site, for the stages to crawl: ``python docs/story/serve_demo.py``."""

import contextlib

from crawler_app import DemoSite
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["serve"]


@gen.coroutine
def serve():
    site = DemoSite()
    site.start()
    print(f"The demo site is at {site.url} until you press Ctrl-C.", flush=True)
    try:
        yield gen.sleep(24 * 3600)
    finally:
        yield site.stop()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        IOLoop.current().run_sync(serve)
