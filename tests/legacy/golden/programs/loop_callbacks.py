"""`add_callback` and `add_future`: order, turns, errors, threads; start and stop."""

import signal
import time

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


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
