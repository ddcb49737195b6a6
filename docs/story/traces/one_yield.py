"""One coroutine waits for another."""

from gencoro import gen
from gencoro.ioloop import IOLoop


@gen.coroutine
def fetch(url):
    yield gen.sleep(1)
    return f"the page {url}"


@gen.coroutine
def main():
    page = yield fetch("/sky")
    return page


if __name__ == "__main__":
    print(IOLoop.current().run_sync(main))
