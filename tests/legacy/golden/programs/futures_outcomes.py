"""4.5's own Future: states, results, errors, and a second outcome."""

import gc
import sys

from tests.legacy.golden.noting import note_whether_refused
from tests.legacy.golden.own_future import has_own_future, make_future
from tests.legacy.golden.stage import program


def error_with_traceback():
    """Return the exc_info of an error that was raised in here."""
    try:
        raise ValueError("lost")
    except ValueError:
        return sys.exc_info()


@program
def future_tells_its_state_and_does_not_block(stage):
    if not has_own_future(stage):
        return
    future = make_future(stage)
    stage.note(future.done(), future.running(), future.cancelled())
    for read in (future.result, future.exception):
        note_whether_refused(stage, read)
        note_whether_refused(stage, read, 0.01)
    stage.note(future.exc_info(), future)
    future.set_result(None)
    stage.note(future.done(), future.running(), future.cancelled())
    stage.note(future.result(), future.exception(), future.exc_info())


@program
def future_cannot_be_cancelled(stage):
    future = make_future(stage)
    future.add_done_callback(stage.noting("called back"))
    stage.note(future.cancel(), future.cancelled(), future.done())
    note_whether_refused(stage, future.set_result, 1)
    stage.turn()
    stage.note(future.cancel(), future)


@program
def future_given_exc_info_keeps_error_and_traceback(stage):
    if not has_own_future(stage):
        return
    exc_info = error_with_traceback()
    future = make_future(stage)
    future.add_done_callback(stage.noting("called back"))
    future.set_exc_info(exc_info)
    stage.note("set", future)
    typ, value, tb = future.exc_info()
    stage.note(typ, value is exc_info[1], tb.tb_frame.f_code.co_name)
    try:
        future.result()
    except ValueError:
        tb = sys.exc_info()[2]
        while tb.tb_next:
            tb = tb.tb_next
        stage.note("raised in", tb.tb_frame.f_code.co_name)


@program
def future_failure_nobody_looked_at_is_logged_when_it_is_dropped(stage):
    gc.disable()
    try:
        future = make_future(stage)
        future.add_done_callback(lambda f: stage.note("done", f.done()))
        future.set_exception(ValueError("lost"))
        stage.turn()
        stage.note("dropping")
        del future
        stage.note("dropped")
    finally:
        gc.enable()
