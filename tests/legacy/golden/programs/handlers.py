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
