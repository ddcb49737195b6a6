"""`run_on_executor` and the Futures of threads."""

import gc
import threading
from concurrent import futures

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.own_future import make_future
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
def run_on_executor_hands_on_arguments_and_keeps_the_name(stage):
    worker = make_worker(stage)

    @stage.gen.coroutine
    def main():
        results = yield [
            worker.add(1),
            worker.add(1, 2),
            worker.add(1, b=3),
            worker.add(1, 2, 3, c=4),
            worker.add(b=5, a=6),
        ]
        raise stage.gen.Return(results)

    stage.run(main)
    stage.note(worker.add.__name__, worker.add.__doc__)
    worker.executor.shutdown()


@program
def run_on_executor_error_is_raised_at_the_yield(stage):
    worker = make_worker(stage)

    @stage.gen.coroutine
    def main():
        try:
            yield worker.fail()
        except ValueError as exc:
            stage.note("caught", exc)
        values = yield {"one": worker.add(0), "failed": worker.fail("in a dict")}
        stage.note("not reached", values)

    stage.run(main)
    worker.executor.shutdown()


@program
def run_on_executor_failure_that_nobody_looks_at(stage):
    worker = make_worker(stage)
    worker.fail()
    worker.executor.shutdown()
    stage.turn(5)
    gc.collect()
    stage.note("dropped")


@program
def run_on_executor_does_not_call_back_on_failure_but_raises_to_the_caller(stage):
    names = NamedContexts(stage)
    worker = make_worker(stage)
    with names.handler("caller", consumes=True):
        worker.fail("handled", callback=stage.noting("not called"))
    worker.fail("logged", callback=stage.noting("not called"))
    worker.executor.shutdown()
    stage.turn(5)


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


@program
def chain_future_from_a_thread(stage):
    may_end = threading.Event()
    target = make_future(stage)
    target.add_done_callback(lambda f: stage.note("target done", where()))
    with futures.ThreadPoolExecutor(1) as executor:
        source = executor.submit(may_end.wait, 5)
        stage.concurrent.chain_future(source, target)
        may_end.set()
    stage.note("worked")
    stage.turn(4)
    stage.note(target)
