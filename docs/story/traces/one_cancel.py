"""A coroutine is cancelled while it waits for another, which cleans up."""

from gencoro import gen
from gencoro.ioloop import IOLoop


@gen.coroutine
def fetch(url):
    try:
        yield gen.sleep(60)
    finally:
        yield gen.sleep(1)  # says goodbye to the server


@gen.coroutine
def main():
    try:
        yield fetch("/sky")
    finally:
        print("giving up")


if __name__ == "__main__":
    IOLoop.current().run_sync(main, timeout=2)
