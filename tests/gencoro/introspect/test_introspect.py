"""suspended(), format_tree() and traceback_of() for waiting coroutines."""

import asyncio
import concurrent.futures
import datetime
import gc
import queue
import re
import sys
import textwrap
import threading

import pytest
import tornado.gen
import tornado.locks
import tornado.queues

import gencoro.locks
import gencoro.queues
from gencoro import gen
from gencoro.introspect import format_tree, suspended
from gencoro.introspect.drawing import LONGEST_CHAIN
from gencoro.virtual_clock import VirtualClock, VirtualLoop


@pytest.fixture
def event_loop():
    """Make a current loop with virtual time."""
    loop = VirtualClock().new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    asyncio.set_event_loop(None)
    loop.close()
    # What has waited is a cycle of references, and a survey looks at every object there is.
    gc.collect()


@pytest.fixture
def see(event_loop):
    """Call functions within the loop, let it run, and return the tree.

    Its places and the numbers of Tasks, which differ from one Python to the next, are
    taken off.
    """

    def see(*functions, seconds=1):
        held = []
        event_loop.call_soon(lambda: held.extend(start(one) for one in functions))
        event_loop.call_later(seconds, event_loop.stop)
        event_loop.run_forever()
        return without_places(format_tree(event_loop))

    return see


def start(function):
    result = function()
    return asyncio.ensure_future(result) if asyncio.iscoroutine(result) else result


def without_places(tree):
    return re.sub(r"Task-\d+", "Task", re.sub(r" at \S+\.py:\d+", "", tree))


def lines(text):
    return textwrap.dedent(text).strip("\n")


@gen.coroutine
def nap(seconds=61):
    yield gen.sleep(seconds)


@gen.coroutine
def wait_for(yielded):
    yield yielded


async def native(awaitable):
    await awaitable


async def call(function, make_argument):
    """Return what a function returns in a running loop, in a list."""
    return [function(make_argument())]


# How a tree ends with that coroutine, a second later.
NAP = "\n-> nap(): sleep, 60.0 s left"


def test_nothing_suspended_is_told(event_loop):
    assert format_tree(event_loop) == "no coroutine is suspended"


def test_tree_names_function_file_and_line(event_loop):
    held = nap()

    tree = format_tree(event_loop)

    line = nap.__wrapped__.__code__.co_firstlineno + 2
    assert re.fullmatch(
        rf"nap\(\) at \S*test_introspect\.py:{line}: sleep, 61.0 s left", tree
    )
    del held


@gen.coroutine
def by_yield_from(generator):
    yield from generator


def helper():
    yield nap()


async def numbers():
    await nap()
    yield 1


async def iterate():
    async for _ in numbers():
        pass


@tornado.gen.coroutine
def of_tornado():
    yield nap()


@pytest.mark.parametrize(
    ("main", "begin", "end"),
    [
        (lambda: nap(21), "nap()", ": sleep, 20.0 s left"),
        (
            lambda: native(asyncio.sleep(21)),
            "native() (Task)\n-> sleep()",
            ": timer, 20.0 s left",
        ),
        (
            lambda: asyncio.create_task(native(nap()), name="crawl\n1"),
            "native() (crawl\\n1)",
            NAP,
        ),
        (lambda: by_yield_from(helper()), "by_yield_from()\n-> helper()", NAP),
        (lambda: by_yield_from(native(nap())), "by_yield_from()\n-> native()", NAP),
        (iterate, "iterate() (Task)\n-> numbers()", NAP),
        (lambda: wait_for(of_tornado()), "wait_for()\n-> of_tornado()", NAP),
        (
            lambda: native(wait_for([native(nap())])),
            "native() (Task)\n-> wait_for(): list, 0 of 1 done\n'-- [0] native() (Task)",
            NAP.replace("\n", "\n    "),
        ),
    ],
    ids=[
        "sleep of ours",
        "sleep of asyncio",
        "Task with a name",
        "generator",
        "native coroutine taken over",
        "asynchronous generator",
        "coroutine of Tornado",
        "Task in a list",
    ],
)
def test_every_kind_of_coroutine_is_shown_with_what_it_waits_for(see, main, begin, end):
    assert see(main) == begin + end


def test_list_and_dict_show_what_is_not_done(see):
    def main():
        return wait_for(
            {"list": [nap(), nap(1), nap()], "dict": {1: nap(3)}, "x": nap(1)}
        )

    assert see(main, seconds=2) == lines("""
        wait_for(): dict, 1 of 3 done
        |-- ['list'] list, 1 of 3 done
        |   |-- [0] nap(): sleep, 59.0 s left
        |   '-- [2] nap(): sleep, 59.0 s left
        '-- ['dict'] dict, 0 of 1 done
            '-- [1] nap(): sleep, 1.0 s left
    """)


def test_keys_of_other_types_are_not_asked_for_a_repr(see):
    class Key:
        def __repr__(self):
            raise AssertionError

    tree = see(lambda: wait_for({Key(): nap(), "k" * 100: nap()}))

    assert "|-- [a Key] nap()" in tree
    assert f"'-- ['{'k' * 39}...] nap()" in tree


def test_failed_child_is_counted_and_its_error_stays_unretrieved(see, event_loop):
    failed = event_loop.create_future()
    failed.set_exception(KeyError("k"))

    tree = see(lambda: wait_for([failed, nap()]))

    assert tree.startswith("wait_for(): list, 1 of 2 done, 1 failed\n")
    assert failed._log_traceback
    failed.exception()


def test_moment_and_what_is_done_already(event_loop):
    future = event_loop.create_future()
    held = [wait_for(None), wait_for(future)]
    future.set_result(None)

    tree = without_places(format_tree(event_loop))

    assert tree == "wait_for(): a moment\nwait_for(): about to go on"
    event_loop.run_until_complete(held[0])


def test_running_coroutines_are_named_so_and_are_not_suspended(event_loop):
    seen = []

    @gen.coroutine
    def look():
        yield gen.moment
        seen.append(without_places(format_tree(event_loop)))
        seen.append(suspended(event_loop))

    async def main():
        await look()
        seen.append(without_places(format_tree(event_loop)))

    event_loop.run_until_complete(main())

    assert seen == ["main() (Task)\n-> look(): running", [], "main() (Task): running"]


def test_task_that_has_not_begun(event_loop):
    task = event_loop.create_task(asyncio.sleep(0))

    assert without_places(format_tree(event_loop)) == "sleep() (Task): about to go on"
    event_loop.run_until_complete(task)


def test_jobs_of_an_executor(see, event_loop):
    begun, gate = threading.Event(), threading.Event()
    # Virtual time stands still as long as a job is waited for.
    event_loop.call_later_really(0.01, event_loop.stop)

    def job():
        begun.set()
        gate.wait()

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        jobs = [pool.submit(job), pool.submit(job)]
        begun.wait()
        tree = see(lambda: wait_for(jobs))
        gate.set()

    assert tree == lines("""
        wait_for(): list, 0 of 2 done
        |-- [0] job of an executor, running
        '-- [1] job of an executor, pending
    """)


@pytest.mark.parametrize("package", [tornado, gencoro], ids=lambda it: it.__name__)
def test_queues_and_locks_of_tornado_and_our_own(see, package):
    empty, full = package.queues.Queue(), package.queues.Queue(1)
    lock, semaphore = package.locks.Lock(), package.locks.Semaphore(0)
    event, condition = package.locks.Event(), package.locks.Condition()

    async def main():
        await full.put(1)
        await lock.acquire()
        waits = [empty.get(), full.put(2), lock.acquire(), semaphore.acquire()]
        await wait_for([*waits, event.wait(), condition.wait(), nap(0)])

    assert see(main) == lines(f"""
        main() (Task)
        -> wait_for(): list, 1 of 7 done
        |-- [0] {package.__name__} Queue.get()
        |-- [1] {package.__name__} Queue.put()
        |-- [2] {package.__name__} Lock.acquire()
        |-- [3] {package.__name__} Semaphore.acquire()
        |-- [4] {package.__name__} Event.wait()
        '-- [5] {package.__name__} Condition.wait()
    """)


def test_native_coroutine_that_a_yield_entered_is_shown_as_with_yield_from(see):
    @gen.coroutine
    def main():
        yield asyncio.Event().wait()

    assert see(main) == lines("""
        main()
        -> Event.wait(): a Future
    """)


def test_future_in_debug_mode_tells_who_made_it(event_loop):
    event_loop.set_debug(True)
    held = wait_for(event_loop.create_future())

    tree = format_tree(event_loop)

    assert re.search(r": a Future made at \S*test_introspect\.py:\d+$", tree)
    del held


def in_time():
    return gen.with_timeout(datetime.timedelta(seconds=91), nap())


def in_time_by_tornado():
    return tornado.gen.with_timeout(datetime.timedelta(seconds=91), nap())


@pytest.mark.parametrize(
    ("main", "told"),
    [
        (in_time, "time limit, 90.0 s left\n-> nap(): sleep, 60.0 s left"),
        (in_time_by_tornado, "a Future\n-> nap(): sleep, 60.0 s left"),
        (lambda: asyncio.shield(nap()), "a Future\n-> nap(): sleep, 60.0 s left"),
        (
            lambda: asyncio.gather(nap(), nap(0)),
            "gather, 1 of 2 done\n'-- [0] nap(): sleep, 60.0 s left",
        ),
        (
            lambda: gen.WaitIterator(a=nap(3), b=nap(2)).next(),
            (
                "WaitIterator, the first of 2\n"
                "|-- ['a'] nap(): sleep, 2.0 s left\n"
                "'-- ['b'] nap(): sleep, 1.0 s left"
            ),
        ),
        (
            lambda: tornado.gen.multi([nap(), nap()]),
            "a Future\n|-- nap(): sleep, 60.0 s left\n'-- nap(): sleep, 60.0 s left",
        ),
    ],
)
def test_what_a_future_gets_its_outcome_from_is_shown_below_it(see, main, told):
    assert see(lambda: wait_for(main())) == f"wait_for(): {told}"


# Without the GIL, what one waits for is shown in any order: that of the garbage collector.
def test_structured_waits_of_asyncio_show_their_tasks(see):
    async def group():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(native(nap(11)))
            tasks.create_task(native(nap(11)))

    async def wait():
        await asyncio.wait([nap(12), nap(12)], timeout=31)

    async def limit():
        await asyncio.wait_for(native(nap(13)), 32)

    tree = see(lambda: wait_for([group(), wait(), limit()]))

    told = re.findall(r"\[\d\] \w+\(\)|sleep, .*|time limit, 30.*", tree)
    assert told == [
        "[0] group()",
        "sleep, 10.0 s left",
        "sleep, 10.0 s left",
        "[1] wait()",
        "time limit, 30.0 s left",
        "sleep, 11.0 s left",
        "sleep, 11.0 s left",
        "[2] limit()",
        "sleep, 12.0 s left",
    ]


def test_suspended_gives_each_with_its_place(see, event_loop):
    def helper():
        yield gen.sleep(61)

    @gen.coroutine
    def main():
        yield from helper()

    see(lambda: wait_for([main()]), lambda: native(nap()))

    by_function = {
        one.function.rpartition(".")[2]: one for one in suspended(event_loop)
    }
    assert list(by_function) == ["nap", "wait_for", "main"]
    assert by_function["main"].function == main.__wrapped__.__qualname__
    assert by_function["main"].filename == __file__
    assert by_function["main"].line == helper.__code__.co_firstlineno + 1
    assert by_function["main"].waits_for == "sleep, 60.0 s left"
    assert by_function["wait_for"].waits_for == "list, 0 of 1 done"


def test_since_when_is_known_of_a_runner_that_has_written_it_down(see, event_loop):
    event_loop.set_debug(True)

    tree = see(nap, seconds=2)

    [one] = suspended(event_loop)
    assert one.suspended_at == 0.0
    assert tree == "nap() (for 2.0 s): sleep, 59.0 s left"


def test_only_what_is_on_the_given_loop_is_told(see, event_loop):
    see(nap)
    elsewhere = VirtualClock().new_event_loop()
    held = elsewhere.run_until_complete(call(wait_for, asyncio.Future))

    assert without_places(format_tree(elsewhere)) == "wait_for(): a Future"
    assert [one.function for one in suspended(elsewhere)] == ["wait_for"]
    everything = without_places(format_tree())
    assert "VirtualLoop, not running:\nnap(): sleep, 60.0 s left" in everything
    assert "VirtualLoop, not running:\nwait_for(): a Future" in everything
    elsewhere.close()
    assert "VirtualLoop, closed:\nwait_for(): a Future" in without_places(format_tree())
    del held


def test_loop_of_tornado_stands_for_its_asyncio_loop(loop):
    seen = []

    @gen.coroutine
    def main():
        yield gen.moment
        seen.append(without_places(format_tree(loop)))

    loop.run_sync(main)

    assert seen == ["main(): running"]


def test_chain_that_is_longer_than_the_stack_is_deep(see):
    def main():
        future = nap()
        for _ in range(10_000):
            future = wait_for(future)
        return future

    tree = see(main).splitlines()

    assert tree[0] == "wait_for()"
    assert tree[-1] == "-> nap(): sleep, 60.0 s left"
    assert len(tree) == LONGEST_CHAIN + 2
    assert f"-> ... and {10_000 - LONGEST_CHAIN} more, until" in tree


class CuriousLoop(VirtualLoop):
    """Runs the survey whenever an object is created on this loop."""

    trees = None

    def get_debug(self):
        # Futures, Tasks and timers ask for it before they are complete.
        if self.trees is not None:
            self.trees.append(without_places(format_tree(self)))
        return False


def test_what_is_only_half_made_can_be_looked_at():
    loop = CuriousLoop(VirtualClock())

    async def main():
        loop.trees = []
        await wait_for([nap(1), native(nap(2))])
        trees, loop.trees = loop.trees, None
        return trees

    trees = loop.run_until_complete(main())
    loop.close()

    assert len(trees) > 10
    assert all("main() (Task)" in tree for tree in trees)


@pytest.fixture
def frequent_switches():
    """Let threads take turns after a few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_loop_of_another_thread_can_be_looked_at_while_it_runs(frequent_switches):
    loops = queue.Queue()
    stop = threading.Event()

    @gen.coroutine
    def churn():
        while not stop.is_set():
            yield [wait_for({"a": wait_for(None), "b": gen.sleep(0)}), native(nap(0))]
            yield gen.WaitIterator(wait_for(gen.sleep(0))).next()

    async def main():
        churning = churn()
        loops.put(asyncio.get_running_loop())
        await churning

    thread = threading.Thread(target=asyncio.run, args=[main()])
    thread.start()
    loop = loops.get()
    try:
        for _ in range(5):
            format_tree(loop)
            suspended(loop)
        # Each look may fall between two waits.
        looks = range(1000)
        is_in_tree = any("churn()" in format_tree(loop) for _ in looks)
        is_found = any(suspended(loop) for _ in looks)
    finally:
        stop.set()
        thread.join()

    assert is_in_tree
    assert is_found
