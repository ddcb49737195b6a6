"""A script of 2014: coroutines that share toro's queues, locks, events and conditions."""

import builtins
import datetime
import json
import queue
import sys

from tornado import gen, ioloop

# toro is converted to Python 3 when it is installed; that changes these two names alone.
sys.modules["Queue"] = queue
builtins.xrange = range

import toro

io_loop = ioloop.IOLoop.instance()
seen = {}


@gen.coroutine
def consume(items, received):
    while True:
        received.append((yield items.get()))
        items.task_done()


@gen.coroutine
def enter(lock, name, order):
    with (yield lock.acquire()):
        order.append(name + " in")
        yield gen.Task(io_loop.add_callback)
        order.append(name + " out")


@gen.coroutine
def main():
    items, seen["received"] = toro.JoinableQueue(maxsize=2), []
    consume(items, seen["received"])
    for number in range(5):
        yield items.put(number)
    yield items.join(deadline=datetime.timedelta(seconds=60))

    lock, seen["order"] = toro.Lock(), []
    yield [enter(lock, "a", seen["order"]), enter(lock, "b", seen["order"])]

    event = toro.Event()
    io_loop.add_callback(event.set)
    seen["event"] = yield event.wait()
    try:
        yield toro.Event().wait(deadline=datetime.timedelta(milliseconds=1))
    except toro.Timeout as error:
        seen["timeout"] = type(error).__name__

    condition = toro.Condition()
    waiting = condition.wait()
    condition.notify()
    seen["notified"] = yield waiting

    result = toro.AsyncResult()
    io_loop.add_callback(result.set, 42)
    seen["result"] = yield result.get()

    semaphore = toro.BoundedSemaphore(1)
    yield semaphore.acquire()
    semaphore.release()
    try:
        semaphore.release()
    except ValueError as error:
        seen["bounded"] = str(error)


io_loop.run_sync(main)
print(json.dumps(seen))
