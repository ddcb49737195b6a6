"""4.5's own Future: when, where and in which order its callbacks run."""

import threading

from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program


@program
def future_callback_that_raises_what_is_no_exception(stage):
    class Halt(BaseException):
        pass

    def attempt(error):
        def fail(future):
            raise error

        future = make_future(stage)
        future.add_done_callback(fail)
        future.add_done_callback(stage.noting("second"))
        try:
            future.set_result(1)
            stage.note("set", future)
            stage.turn()
        except (Halt, KeyboardInterrupt) as exc:
            stage.note("came out", exc, future)

    attempt(Halt())
    stage.turn()
    attempt(KeyboardInterrupt())


@program
def future_works_where_no_loop_is(stage):
    def work(where):
        try:
            future = make_future(stage)
        except RuntimeError:
            stage.note("needs a loop in", where)
            return
        future.add_done_callback(stage.noting("called back in", where))
        future.set_result(1)
        stage.note("set", future)

    stage.loop.clear_current()
    work("the main thread")
    thread = threading.Thread(target=work, args=("another thread",))
    thread.start()
    thread.join()
