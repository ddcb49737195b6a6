"""Which callbacks of the IOLoop keep the contexts in which they were added."""

import concurrent.futures
import datetime
import socket

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


def fail():
    raise ValueError("first")


@program
def add_callback_keeps_the_contexts_and_the_order(stage):
    def first():
        stage.note("first", names.on())
        stage.loop.add_callback(names.noting("added by the first"))

    names = NamedContexts(stage)
    with names.context("a"):
        stage.loop.add_callback(first)
        with names.context("b"):
            stage.loop.add_callback(names.noting("second"), 1)
    stage.loop.add_callback(names.noting("third"))
    for turn in range(2):
        stage.note("turn", turn)
        stage.turn()


@program
def timers_keep_the_contexts(stage):
    def due(how):
        stage.note(how, names.on())
        stage.stop()

    names = NamedContexts(stage)
    loop, now = stage.loop, stage.loop.time()
    with names.context("a"):
        loop.call_later(0.02, due, "call_later")
    stage.wait()
    with names.context("b"):
        loop.call_at(now + 0.02, due, how="call_at")
    stage.wait()
    with names.context("c"):
        loop.add_timeout(now + 0.02, due, "add_timeout")
    stage.wait()
    with names.context("d"):
        loop.add_timeout(datetime.timedelta(milliseconds=20), due, "add_timeout, delta")
    stage.wait()


@program
def handler_of_a_socket_keeps_the_contexts_at_each_event(stage):
    def handle(fd, events):
        stage.note("read", ours.recv(1), names.on())
        stage.loop.stop()

    names = NamedContexts(stage)
    ours, theirs = socket.socketpair()
    with names.context("a"):
        stage.loop.add_handler(ours.fileno(), handle, stage.loop.READ)
    with names.context("b"):
        stage.loop.update_handler(ours.fileno(), stage.loop.READ | stage.loop.ERROR)
        for data in (b"1", b"2"):
            theirs.send(data)
            stage.wait()
    stage.loop.remove_handler(ours.fileno())
    ours.close()
    theirs.close()


@program
def add_future_keeps_the_contexts_of_adding_not_of_resolving(stage):
    names = NamedContexts(stage)
    future = stage.concurrent.Future()
    with names.context("a"):
        stage.loop.add_future(future, names.noting("pending"))
    with names.context("b"):
        future.set_result(42)
        stage.note("resolved")
        with names.context("c"):
            stage.loop.add_future(future, names.noting("done"))
    stage.turn(3)


@program
def done_callback_of_a_future_does_not_keep_the_contexts(stage):
    names = NamedContexts(stage)
    future = stage.concurrent.Future()
    with names.context("a"):
        future.add_done_callback(names.noting("done callback"))
    with names.context("b"):
        future.set_result(42)
        stage.note("resolved")
    stage.turn(2)


@program
def periodic_callback_keeps_the_contexts_of_its_start(stage):
    def tick():
        ticks.append(None)
        stage.note("tick", len(ticks), names.on())
        if len(ticks) == 2:
            periodic.stop()
            stage.stop()
            fail()

    ticks = []
    names = NamedContexts(stage)
    with names.context("a"):
        periodic = stage.ioloop.PeriodicCallback(tick, 20)
    # Its errors are logged without asking the handlers.
    with names.handler("h", consumes=True), names.context("b"):
        periodic.start()
    stage.wait()


@program
def spawned_callbacks_have_no_contexts(stage):
    names = NamedContexts(stage)
    with names.handler("h", consumes=True), names.context("a"):
        stage.loop.spawn_callback(names.noting("spawned"), 1)
        stage.loop.add_callback_from_signal(names.noting("from a signal"), 1)
        stage.loop.spawn_callback(fail)
        stage.note("body", names.on())
    stage.turn()


@program
def executor_starts_without_contexts_and_its_future_returns_to_them(stage):
    def work():
        stage.note("in the thread", names.on())
        return 42

    def finished(future):
        stage.note("finished", future.result(), names.on())
        stage.stop()

    names = NamedContexts(stage)
    with concurrent.futures.ThreadPoolExecutor(1) as executor, names.context("a"):
        stage.loop.add_future(executor.submit(work), finished)
        stage.wait()
