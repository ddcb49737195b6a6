"""What users of coroutines do every day: the well-known patterns, one by one."""

import concurrent.futures
import datetime
import gc
import threading

from tests.legacy.golden.stage import program


def make_fetch(stage):
    """Return a coroutine that takes some turns to fetch something by its name."""

    @stage.gen.coroutine
    def fetch(name, turns=1):
        stage.note("asks for", name)
        for _ in range(turns):
            yield stage.gen.moment
        stage.note("has got", name)
        raise stage.gen.Return(name.upper())

    return fetch


@program
def callback_functions_are_adapted(stage):
    def fetch(name, callback, turns=1):
        if turns:
            stage.loop.add_callback(fetch, name, callback, turns - 1)
        else:
            callback(name.upper())

    @stage.gen.coroutine
    def main():
        stage.note((yield stage.gen.Task(fetch, "one")))
        both = [stage.gen.Task(fetch, "two", turns=3), stage.gen.Task(fetch, "three")]
        stage.note((yield both))

    stage.run(main)


@program
def blocking_functions_run_on_an_executor(stage):
    def block(name):
        assert threading.current_thread() is not main_thread
        gate.wait(5)
        return name.upper()

    @stage.gen.coroutine
    def main():
        one, two = executor.submit(block, "one"), executor.submit(block, "two")
        yield stage.gen.moment
        stage.note("the loop goes on", one, two)
        gate.set()
        stage.note((yield one), threading.current_thread() is main_thread)
        stage.note((yield two))
        yield executor.submit(int, "three")

    main_thread = threading.current_thread()
    gate = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        stage.run(main)


@program
def things_are_fetched_one_by_one_and_in_parallel(stage):
    @stage.gen.coroutine
    def main():
        for name in ("one", "two"):
            stage.note((yield fetch(name)))
        stage.note((yield [fetch("three", 3), fetch("four")]))
        stage.note((yield {name: fetch(name) for name in ("five", "six")}))

    fetch = make_fetch(stage)
    stage.run(main)


@program
def next_fetch_goes_on_while_the_last_is_processed(stage):
    @stage.gen.coroutine
    def process(chunk):
        stage.note("processing", chunk)
        yield stage.gen.moment
        stage.note("processed", chunk)

    @stage.gen.coroutine
    def main():
        fetched = fetch("one")
        for name in ("two", "three", None):
            chunk = yield fetched
            if name:
                fetched = fetch(name, 3)
            yield process(chunk)

    fetch = make_fetch(stage)
    stage.run(main)


@program
def cursor_is_looped_over(stage):
    class Cursor:
        """Fetches a batch of objects when the last is used up."""

        def __init__(self, batches):
            self.batches = batches
            self.batch = []

        @property
        def fetch_next(self):
            future = stage.concurrent.Future()
            if self.batch or not self.batches:
                future.set_result(bool(self.batch))
            else:
                stage.loop.add_callback(self.fetch_batch, future)
            return future

        def fetch_batch(self, future):
            self.batch = self.batches.pop(0)
            stage.note("fetched", self.batch)
            future.set_result(True)

        def next_object(self):
            return self.batch.pop(0)

    @stage.gen.coroutine
    def main():
        cursor = Cursor([[1, 2, 3], [4], [5, 6]])
        while (yield cursor.fetch_next):
            stage.note(cursor.next_object())

    stage.run(main)


@program
def rounds_sleep_while_they_work(stage):
    @stage.gen.coroutine
    def rounds():
        for takes in (0, 0.04):
            # A call of sleep after the work would begin too late.
            slept = stage.gen.sleep(0.02)
            stage.note("works for", takes)
            yield stage.gen.sleep(takes)
            if takes:
                stage.note("the time is over", slept)
            yield slept

    stage.run(rounds)


@program
def background_coroutine_is_spawned_and_nobody_waits(stage):
    @stage.gen.coroutine
    def background(name):
        stage.note("begins", name)
        yield fetch(name, 2)
        raise ValueError(name)

    @stage.gen.coroutine
    def main():
        stage.loop.spawn_callback(background, "one")
        stage.note("spawned")
        yield stage.gen.moment
        stage.note("main goes on")
        for _ in range(5):
            yield stage.gen.moment

    fetch = make_fetch(stage)
    stage.run(main)


@program
def division_by_zero_is_lost_unless_it_is_yielded(stage):
    @stage.gen.coroutine
    def divide(x, y):
        yield stage.gen.moment
        raise stage.gen.Return(x / y)

    @stage.gen.coroutine
    def main():
        divide(1, 0)
        stage.note("called")
        for _ in range(5):
            yield stage.gen.moment
        gc.collect()
        stage.note("spawning")
        stage.loop.spawn_callback(divide, 2, 0)
        for _ in range(5):
            yield stage.gen.moment
        try:
            yield divide(3, 0)
        except ZeroDivisionError:
            stage.note("caught")
        yield divide(4, 0)

    stage.run(main)


@program
def fetch_that_is_too_slow_is_given_up_and_goes_on(stage):
    @stage.gen.coroutine
    def fetch():
        stage.note("has got", (yield page))
        raise ValueError("late")

    @stage.gen.coroutine
    def main():
        soon, late = [datetime.timedelta(seconds=x) for x in (0.02, 5)]
        try:
            yield stage.gen.with_timeout(soon, fetch())
        except stage.gen.TimeoutError:
            stage.note("given up")
        page.set_result("page")
        stage.note((yield stage.gen.with_timeout(late, stage.gen.sleep(0.02))))

    page = stage.concurrent.Future()
    stage.run(main)


@program
def fetch_is_tried_again_after_longer_and_longer_waits(stage):
    @stage.gen.coroutine
    def fetch():
        tries.append(None)
        yield stage.gen.moment
        if len(tries) < 3:
            raise OSError(f"try {len(tries)}")
        raise stage.gen.Return("page")

    @stage.gen.coroutine
    def main():
        for number in range(5):
            try:
                page = yield fetch()
            except OSError as exc:
                stage.note("failed", str(exc))
                yield stage.gen.sleep(0.01 * 2**number)
            else:
                raise stage.gen.Return(page)

    tries = []
    stage.run(main)


@program
def all_who_ask_meanwhile_share_one_fetch(stage):
    @stage.gen.coroutine
    def cached(name):
        if name not in cache:
            cache[name] = fetch(name, 2)
        page = yield cache[name]
        raise stage.gen.Return(page)

    @stage.gen.coroutine
    def main():
        stage.note((yield [cached("one"), cached("one"), cached("two")]))
        asked_again = cached("one")
        stage.note("done at once", asked_again)

    cache = {}
    fetch = make_fetch(stage)
    stage.run(main)


@program
def generators_inside_of_coroutines(stage):
    def names():
        for name in ("one", "two"):
            stage.note("next is", name)
            yield name

    def fetch_both():
        pages = []
        for name in names():
            pages.append((yield fetch(name)))
        return pages

    @stage.gen.coroutine
    def main():
        stage.note((yield from fetch_both()))
        pages = (fetch(name) for name in names())
        stage.note((yield list(pages)))
        try:
            yield fetch_both()
        except stage.gen.BadYieldError:
            stage.note("an undecorated generator is refused")

    fetch = make_fetch(stage)
    stage.run(main)


@program
def coroutines_call_themselves(stage):
    @stage.gen.coroutine
    def leaves(tree):
        yield stage.gen.moment
        if not isinstance(tree, list):
            raise stage.gen.Return([tree])
        parts = yield [leaves(branch) for branch in tree]
        raise stage.gen.Return([leaf for part in parts for leaf in part])

    @stage.gen.coroutine
    def count_down(number, wait):
        if number:
            below = yield count_down(number - 1, wait)
            raise stage.gen.Return(below + 1)
        yield wait
        raise stage.gen.Return(0)

    stage.run(lambda: leaves([1, [2, [3, 4]], [[5]]]))
    stage.run(lambda: count_down(40, stage.gen.moment))
    stage.run(lambda: count_down(40, None))
