"""`add_handler` and its kin, over pairs of sockets: events, errors, removal."""

import contextlib
import errno
import socket

from tests.legacy.golden.noting import note_whether_refused
from tests.legacy.golden.stage import program


@contextlib.contextmanager
def connection():
    """Two connected sockets, which do not block."""
    pair = socket.socketpair()
    for end in pair:
        end.setblocking(False)
    try:
        yield pair
    finally:
        for end in pair:
            end.close()


@program
def handler_is_given_the_number_it_was_added_with(stage):
    def handler(fd, events):
        stage.note("called", fd == end.fileno(), events, end.recv(10))
        stage.stop()

    stage.note(stage.loop.NONE, stage.loop.READ, stage.loop.WRITE, stage.loop.ERROR)
    with connection() as (end, peer):
        stage.loop.add_handler(end.fileno(), handler, stage.loop.READ)
        stage.wait(0.04)
        stage.note("nothing to read")
        peer.send(b"text")
        stage.wait()
        stage.loop.remove_handler(end.fileno())


@program
def handler_is_called_until_all_is_read(stage):
    def handler(thing, events):
        stage.note("called", thing.recv(2))
        if not left(thing):
            stage.stop()

    def left(thing):
        try:
            return thing.recv(10, socket.MSG_PEEK)
        except BlockingIOError:
            return b""

    with connection() as (end, peer):
        stage.loop.add_handler(end, handler, stage.loop.READ)
        peer.send(b"abcdef")
        stage.wait()
        stage.loop.remove_handler(end)


@program
def handler_is_updated_between_reading_and_writing(stage):
    def handler(thing, events):
        stage.note("called", events)
        stage.stop()

    with connection() as (end, peer):
        peer.send(b"text")
        stage.loop.add_handler(end, handler, stage.loop.READ)
        stage.wait()
        stage.loop.update_handler(end, stage.loop.WRITE)
        stage.wait()
        stage.loop.update_handler(end.fileno(), stage.loop.NONE)
        stage.wait(0.04)
        stage.note("nothing")
        stage.loop.update_handler(end, stage.loop.READ)
        stage.wait()
        stage.loop.remove_handler(end)


@program
def handler_is_called_for_reading_and_writing(stage):
    def handler(thing, events):
        stage.note("called", events)
        seen.append(events)
        if sum(seen) == stage.loop.READ | stage.loop.WRITE:
            stage.loop.remove_handler(thing)
            stage.stop()

    seen = []
    with connection() as (end, peer):
        peer.send(b"text")
        both = stage.loop.READ | stage.loop.WRITE
        stage.loop.add_handler(end, handler, both)
        stage.wait()


@program
def handler_added_twice_for_one_socket(stage):
    def first(thing, events):
        stage.note("the first")
        stage.stop()

    def second(thing, events):
        stage.note("the second")
        stage.stop()

    with connection() as (end, peer):
        peer.send(b"text")
        stage.loop.add_handler(end, first, stage.loop.READ)
        note_whether_refused(
            stage, stage.loop.add_handler, end, second, stage.loop.READ
        )
        stage.wait()
        stage.loop.remove_handler(end)


@program
def handler_of_an_unknown_socket_is_removed_or_updated(stage):
    with connection() as (end, _peer):
        note_whether_refused(stage, stage.loop.remove_handler, end)
        note_whether_refused(stage, stage.loop.remove_handler, end.fileno())
        note_whether_refused(stage, stage.loop.update_handler, end, stage.loop.READ)


@program
def failing_handler_is_logged_and_called_again(stage):
    def handler(thing, events):
        calls.append(None)
        if len(calls) < 3:
            raise ValueError("no")
        stage.note("reads", thing.recv(10))
        stage.stop()

    calls = []
    with connection() as (end, peer):
        stage.loop.add_handler(end, handler, stage.loop.READ)
        peer.send(b"text")
        stage.wait()
        stage.loop.remove_handler(end)


@program
def handler_that_fails_with_a_broken_pipe(stage):
    def handler(thing, events):
        stage.loop.remove_handler(thing)
        raise OSError(number, "no")

    for number in (errno.EPIPE, errno.ENOENT):
        stage.note(errno.errorcode[number])
        with connection() as (end, _peer):
            stage.loop.add_handler(end, handler, stage.loop.WRITE)
            stage.wait(0.04)


@program
def overridden_handler_of_errors_and_those_of_handlers(stage):
    def handler(thing, events):
        stage.loop.remove_handler(thing)
        raise ValueError("no")

    stage.loop.handle_callback_exception = lambda callback: stage.note("handled")
    with connection() as (end, _peer):
        stage.loop.add_handler(end, handler, stage.loop.WRITE)
        stage.wait(0.04)


@program
def handler_that_is_a_coroutine(stage):
    @stage.gen.coroutine
    def handler(thing, events):
        stage.loop.remove_handler(thing)
        stage.note("begun")
        yield stage.gen.moment
        raise ValueError("no")

    with connection() as (end, _peer):
        stage.loop.add_handler(end, handler, stage.loop.WRITE)
        stage.wait(0.04)


@program
def handler_of_a_connection_whose_peer_has_closed(stage):
    def handler(thing, events):
        stage.note("called", events, thing.recv(10))
        stage.loop.remove_handler(thing)
        stage.stop()

    for wanted in (stage.loop.READ, stage.loop.NONE):
        stage.note("waits for", wanted)
        with connection() as (end, peer):
            stage.loop.add_handler(end, handler, wanted)
            peer.close()
            stage.wait(0.04)
            stage.loop.remove_handler(end)


@program
def closing_the_loop_closes_the_sockets_if_it_is_told_to(stage):
    for all_fds in (False, True):
        loop = stage.ioloop.IOLoop(make_current=False)
        with connection() as (end, _peer):
            loop.add_handler(end, stage.noting("called"), loop.READ)
            loop.close(all_fds=all_fds)
            stage.note(all_fds, "closed", end.fileno() == -1)
