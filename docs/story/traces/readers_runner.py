"""One coroutine waits for another, on the Runner of stage 7."""

import asyncio

from runner import coroutine, run_sync


def sleep(seconds):
    future = asyncio.get_running_loop().create_future()
    future.get_loop().call_later(seconds, wake, future)
    return future


def wake(future):
    future.set_result(None)


@coroutine
def fetch(url):
    yield sleep(1)
    return f"the page {url}"


@coroutine
def main():
    page = yield fetch("/sky")
    return page


if __name__ == "__main__":
    print(run_sync(main))
