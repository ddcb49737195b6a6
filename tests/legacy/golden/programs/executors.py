"""`run_on_executor` and the Futures of threads."""

import threading
from concurrent import futures

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


def where():
    """Tell on which thread this is called."""
    on_main = threading.current_thread() is threading.main_thread()
    return "on the main thread" if on_main else "on another thread"


def make_worker(stage):
    """Return an object whose methods work on a thread."""

    class Worker:
        def __init__(self):
            self.executor = futures.ThreadPoolExecutor(1)
            self.io_loop = stage.loop

        @stage.concurrent.run_on_executor
        def add(self, a, b=1, *more, **named):
            """Add numbers."""
            return a + b + sum(more) + sum(named.values())

        @stage.concurrent.run_on_executor
        def tell_where(self):
            return where()

        @stage.concurrent.run_on_executor
        def fail(self, text="lost"):
            raise ValueError(text)

    return Worker()


@program
def run_on_executor_works_on_a_thread_and_resumes_on_the_loop(stage):
    worker = make_worker(stage)

    @stage.gen.coroutine
    def main():
        stage.note("worked", (yield worker.tell_where()))
        stage.note("resumed", where())

    stage.run(main)
    worker.executor.shutdown()


@program
def run_on_executor_takes_other_names_for_executor_and_loop(stage):
    class Worker:
        pool = stage.concurrent.dummy_executor
        ring = stage.loop

        @stage.concurrent.run_on_executor(executor="pool", io_loop="ring")
        def work(self, value):
            return value

        @stage.concurrent.run_on_executor(executor="pool")
        def without_loop(self, value):
            return value

    stage.note(Worker().work(1, callback=stage.noting("called back")))
    stage.note(Worker().without_loop(2))
    stage.turn(3)


@program
def run_on_executor_needs_the_attributes_that_it_uses(stage):
    class Worker:
        @stage.concurrent.run_on_executor
        def work(self):
            return 1

    worker = Worker()
    note_refusal(stage, worker.work)
    worker.executor = stage.concurrent.dummy_executor
    note_refusal(stage, worker.work)
    note_refusal(stage, worker.work, callback=stage.noting("called back"))
    stage.turn(3)


@program
def run_on_executor_is_misused(stage):
    decorate = stage.concurrent.run_on_executor
    note_refusal(stage, decorate, where, executor="pool")
    note_refusal(stage, decorate, where, where)
    note_refusal(stage, decorate)
    note_refusal(stage, decorate(), where)


@program
def run_on_executor_is_cancelled_before_it_begins(stage):
    begin = threading.Event()

    class Worker:
        executor = futures.ThreadPoolExecutor(1)

        @stage.concurrent.run_on_executor
        def block(self):
            begin.wait(5)

        @stage.concurrent.run_on_executor
        def work(self):
            stage.note("works")

    worker = Worker()
    first, second = worker.block(), worker.work()
    stage.note("cancelled", second.cancel())
    stage.turn(2)
    begin.set()
    worker.executor.shutdown()
    stage.turn(3)
    stage.note(first, second)
