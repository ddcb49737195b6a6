"""Three coroutines that sleep at the same time."""

from gencoro import gen
from gencoro.ioloop import IOLoop


@gen.coroutine
def nap(seconds):
    yield gen.sleep(seconds)
    return seconds


@gen.coroutine
def main():
    slept = yield [nap(3), nap(1), nap(2)]
    return sum(slept)


if __name__ == "__main__":
    print(IOLoop.current().run_sync(main))
