"""`add_callback` and `add_future`: order, turns, errors, threads; start and stop."""

import signal
import threading
import time

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


def failing(text):
    """Return a callback that fails, whatever it is given."""

    def fail(*args):
        raise ValueError(text)

    return fail


@program
def callbacks_run_later_in_order_with_their_arguments(stage):
    stage.loop.add_callback(stage.noting("first"))
    stage.loop.add_callback(stage.noting("second"), 1, 2)
    stage.loop.add_callback(stage.noting("third"), 3, four=4)
    stage.note("added")
    stage.turn()
    stage.note("turn over")
    stage.turn()


@program
def what_can_not_be_called_is_refused_or_logged(stage):
    note_refusal(stage, stage.loop.add_callback, None)
    note_refusal(stage, stage.loop.add_callback, 42)
    stage.turn()
    stage.note("turn over")


@program
def callback_returning_other_things_is_left_alone(stage):
    for thing in (42, "text", True, 0, (), (1,), [1, 2], {"a": 1}):
        stage.loop.add_callback(lambda thing=thing: thing)
    stage.turn(3)
    stage.note("nothing happened")


@program
def callback_returning_a_moment(stage):
    stage.loop.add_callback(lambda: stage.gen.moment)
    stage.loop.add_callback(lambda: [None, stage.gen.moment])
    stage.turn(3)
    stage.note("turns over")


@program
def callback_returning_an_empty_container_lets_the_loop_rest(stage):
    for thing in ({}, []):
        stage.loop.add_callback(lambda thing=thing: thing)
        before = time.process_time()
        stage.wait(0.1)
        stage.note(thing, "rested", time.process_time() - before < 0.05)


@program
def overridden_handler_of_errors_that_fails_itself(stage):
    def handle(callback):
        raise KeyError("handler")

    stage.loop.handle_callback_exception = handle
    stage.loop.add_callback(failing("callback"))
    stage.loop.add_callback(stage.noting("the next callback"))
    note_refusal(stage, stage.turn)
    note_refusal(stage, stage.turn)
    stage.loop.stop()
    for number in range(2):
        note_refusal(stage, stage.turn)


@program
def callback_from_a_thread_wakes_the_loop(stage):
    main = threading.current_thread()

    def called(number):
        stage.note("called", number, threading.current_thread() is main)
        if number == 2:
            stage.stop()

    def work():
        time.sleep(0.02)
        for number in range(3):
            stage.loop.add_callback(called, number)

    thread = threading.Thread(target=work)
    thread.start()
    too_late = stage.loop.call_later(3, stage.noting("not woken"))
    stage.wait()
    stage.loop.remove_timeout(too_late)
    thread.join()


@program
def stop_before_start(stage):
    stage.loop.add_callback(stage.noting("callback"))
    stage.loop.stop()
    stage.loop.stop()
    stage.note("starts")
    stage.loop.start()
    stage.note("stopped")
    stage.turn()
    stage.note("turn over")


@program
def stop_and_close_before_start(stage):
    loop = stage.ioloop.IOLoop(make_current=False)
    loop.add_callback(stage.noting("callback"))
    loop.add_callback(loop.stop)
    loop.start()
    loop.stop()
    loop.close()
    stage.attempt(loop.start)


@program
def loops_started_inside_a_running_one(stage):
    other = stage.ioloop.IOLoop(make_current=False)
    other.add_callback(stage.noting("the other loop"))
    other.add_callback(other.stop)
    stage.loop.add_callback(note_refusal, stage, other.start)
    stage.loop.add_callback(note_refusal, stage, stage.loop.start)
    stage.loop.add_callback(stage.noting("the next callback"))
    stage.turn()
    stage.loop.add_callback(stage.noting("started again"))
    stage.turn()
    other.close()


@program
def closed_loop_drops_its_callbacks(stage):
    loop = stage.ioloop.IOLoop(make_current=False)
    loop.add_callback(stage.noting("added before"))
    loop.call_later(0, stage.noting("timer"))
    loop.close()
    stage.note("closed")
    note_refusal(stage, loop.add_callback, stage.noting("added later"))
    note_refusal(stage, loop.call_later, 0, stage.noting("timer"))
    note_refusal(stage, loop.start)


@program
def blocked_loop_logs_where_it_is(stage):
    def block():
        give_up_at = time.time() + 3
        while stage.lines == lines and time.time() < give_up_at:
            pass
        stage.note("blocked")

    before = signal.getsignal(signal.SIGALRM)
    note_refusal(stage, lambda: stage.loop.set_blocking_log_threshold(0.1))
    lines = list(stage.lines)
    # The alarm is not set in the first turn.
    stage.loop.add_callback(stage.loop.add_callback, block)
    stage.loop.add_callback(stage.loop.add_callback, stage.stop)
    stage.loop.start()
    note_refusal(stage, lambda: stage.loop.set_blocking_log_threshold(None))
    signal.signal(signal.SIGALRM, before)
