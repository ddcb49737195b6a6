"""Events flow through streamz's buffers, windows and limits of rate."""

from streamz import Stream
from tornado import gen, ioloop


def step(name):
    print("step: " + name, flush=True)


@gen.coroutine
def main():
    step("events are mapped and accumulated")
    source, sums = Stream(asynchronous=True), []
    source.map(abs).accumulate(lambda total, x: total + x).sink(sums.append)
    for number in (-1, -2, -3):
        yield source.emit(number)
    assert sums == [1, 3, 6]
    step("events wait in a buffer")
    source, slow = Stream(asynchronous=True), []
    source.buffer(2).rate_limit(0.01).map(lambda x: 2 * x).sink(slow.append)
    for number in range(5):
        yield source.emit(number)
    while len(slow) < 5:
        yield gen.sleep(0.01)
    assert slow == [0, 2, 4, 6, 8]
    step("streams are zipped, in windows of time")
    left, right, pairs = Stream(asynchronous=True), Stream(asynchronous=True), []
    left.zip(right).timed_window(0.02).filter(bool).sink(pairs.extend)
    yield [left.emit(1), right.emit("a")]
    while not pairs:
        yield gen.sleep(0.01)
    assert pairs == [(1, "a")]


ioloop.IOLoop.current().run_sync(main)
