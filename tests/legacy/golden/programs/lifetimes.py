"""How long things live: what a coroutine, a Future or a Task holds on to, and when not.

The garbage collector is off unless a program says `gc.collect()`, so that only what is
in no cycle is freed.
"""

import functools
import gc
import weakref

from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program


class Thing:
    """Something whose end can be watched."""


class Watch:
    """Makes things and tells which of them are still there."""

    def __init__(self, stage):
        self.stage = stage
        self._refs = []

    def thing(self, name):
        thing = Thing()
        self.watch(name, thing)
        return thing

    def watch(self, name, thing):
        self._refs.append((name, weakref.ref(thing)))

    def note(self, when):
        there = [name for name, ref in self._refs if ref() is not None]
        self.stage.note(when, "there are", " ".join(there) or "none")


def without_collector(function):
    """Play a program while the garbage collector is off."""

    @functools.wraps(function)
    def play(stage):
        gc.collect()
        gc.disable()
        try:
            function(stage, Watch(stage))
        finally:
            gc.enable()

    return play


@program
@without_collector
def ended_coroutine_is_freed_at_once(stage, watch):
    @stage.gen.coroutine
    def work(argument):
        local = watch.thing("local")
        for _ in range(waits):
            yield stage.gen.moment
        raise stage.gen.Return(local is not argument)

    for waits in (0, 2):
        future = work(watch.thing("argument"))
        watch.note("begun")
        stage.turn(3)
        watch.note("ended")
        stage.note(future)
        watch.watch("future", future)
        del future
        watch.note("dropped")


@program
@without_collector
def suspended_coroutine_lives_as_long_as_its_result_is_held(stage, watch):
    refs = []

    @stage.gen.coroutine
    def work():
        local = watch.thing("local")
        pending = make_future(stage)
        refs.append(weakref.ref(pending))
        value = yield pending
        raise stage.gen.Return((value, local is None))

    future = work()
    gc.collect()
    watch.note("collected")
    pending = refs[0]()
    stage.note("still there", pending is not None)
    pending.set_result(42)
    del pending
    stage.turn(3)
    stage.note(future)
    watch.note("ended")
