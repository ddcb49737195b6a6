"""Legacy names and signatures exist and are loaded lazily."""

import inspect

import pytest

import gencoro.concurrent
import gencoro.gen
import gencoro.ioloop
import gencoro.stack_context

# Each is used here; that it warns is the business of test_deprecation.py.
pytestmark = pytest.mark.filterwarnings("ignore:.* is legacy. :DeprecationWarning")

MODULES = {
    "concurrent": gencoro.concurrent,
    "gen": gencoro.gen,
    "ioloop": gencoro.ioloop,
    "stack_context": gencoro.stack_context,
}

# The names as Tornado 4.5 has them; those of a class follow it.
NAMES = {
    "gen": """
        engine coroutine Return Task Callback Wait WaitAll YieldPoint YieldFuture Multi
        MultiYieldPoint multi multi_future WaitIterator with_timeout sleep maybe_future
        is_coroutine_function moment convert_yielded Arguments KeyReuseError
        UnknownKeyError LeakedCallbackError BadYieldError ReturnValueIgnoredError
        TimeoutError Runner _null_future _argument_adapter _value_from_stopiteration
        _wrap_awaitable _contains_yieldpoint Future IOLoop chain_future is_future app_log
        TracebackFuture
    """,
    "concurrent": """
        Future TracebackFuture return_future run_on_executor chain_future is_future
        FUTURES DummyExecutor dummy_executor future_set_result_unless_cancelled
        future_set_exc_info future_add_done_callback
        future_set_exception_unless_cancelled ReturnValueIgnoredError
    """,
    "stack_context": """
        StackContext ExceptionStackContext NullContext wrap run_with_stack_context
        StackContextInconsistentError _state
    """,
    "ioloop": "IOLoop PeriodicCallback TimeoutError",
}

MEMBERS = {
    "gen.YieldPoint": "start is_ready get_result",
    "gen.WaitIterator": "done next __aiter__ __anext__",
    "gen.Runner": """
        running finished pending_callbacks results yield_point had_exception io_loop
        register_callback is_ready set_result pop_result run handle_yield
        result_callback handle_exception
    """,
    "gen.Arguments": "args kwargs",
    "gen.convert_yielded": "register",
    "concurrent.TracebackFuture": """
        exc_info set_exc_info result exception running done cancelled cancel set_result
        set_exception add_done_callback
    """,
    "stack_context._state": "contexts",
    "ioloop.IOLoop": """
        instance initialized install clear_instance current make_current clear_current
        add_callback add_callback_from_signal spawn_callback add_timeout call_at
        call_later remove_timeout add_handler update_handler remove_handler add_future
        run_sync start stop close time handle_callback_exception log_stack
        set_blocking_signal_threshold set_blocking_log_threshold run_in_executor
        set_default_executor
    """,
    "ioloop.PeriodicCallback": "start stop is_running",
}

# Calls in the ways of Tornado 4.5, by position and by name.
CALLS = {
    "gen.engine": ["f", "func=f"],
    "gen.coroutine": ["f", "f, False", "func=f, replace_callback=True"],
    "gen.Return": ["", "42", "value=42"],
    "gen.Task": ["f", "f, 1, b=2, callback_time=3"],
    "gen.Callback": ["'key'", "key=('any', 'hashable')"],
    "gen.Wait": ["'key'", "key=1"],
    "gen.WaitAll": ["['a', 'b']", "keys=()"],
    "gen.YieldPoint": [""],
    "gen.YieldPoint.start": ["self, runner", "self, runner=runner"],
    "gen.YieldPoint.is_ready": ["self"],
    "gen.YieldPoint.get_result": ["self"],
    "gen.YieldFuture": ["f", "f, loop", "future=f, io_loop=None"],
    "gen.Multi": ["[]", "{}, ()", "children=[], quiet_exceptions=KeyError"],
    "gen.MultiYieldPoint": ["[]", "{}, ()", "children=[], quiet_exceptions=KeyError"],
    "gen.multi": ["[]", "{}, ()", "children=[], quiet_exceptions=KeyError"],
    "gen.multi_future": ["[]", "{}, ()", "children=[], quiet_exceptions=KeyError"],
    "gen.WaitIterator": ["f, f", "a=f, b=f"],
    "gen.with_timeout": [
        "1.0, f",
        "1.0, f, loop",
        "1.0, f, loop, KeyError",
        "timeout=1.0, future=f, io_loop=loop, quiet_exceptions=KeyError",
    ],
    "gen.sleep": ["1", "duration=1"],
    "gen.maybe_future": ["42", "x=42"],
    "gen.is_coroutine_function": ["f", "func=f"],
    "gen.convert_yielded": ["[]", "yielded=[]"],
    "gen.Arguments": ["(), {}", "args=(), kwargs={}"],
    "gen.Runner": [
        "generator, future, first",
        "gen=generator, result_future=future, first_yielded=first",
    ],
    "gen.Runner.register_callback": ["self, 'key'"],
    "gen.Runner.is_ready": ["self, 'key'"],
    "gen.Runner.set_result": ["self, 'key', 42"],
    "gen.Runner.pop_result": ["self, 'key'"],
    "gen.Runner.result_callback": ["self, 'key'"],
    "gen.Runner.run": ["self"],
    "gen.Runner.handle_yield": ["self, []"],
    "gen.Runner.handle_exception": ["self, typ, value, tb"],
    "gen._argument_adapter": ["f", "callback=f"],
    "gen._value_from_stopiteration": ["stop", "e=stop"],
    "gen._wrap_awaitable": ["f", "x=f"],
    "gen._contains_yieldpoint": ["[]", "children={}"],
    "gen.TracebackFuture": [""],
    "concurrent.TracebackFuture.result": ["self", "self, 5", "self, timeout=None"],
    "concurrent.TracebackFuture.exception": ["self", "self, 5", "self, timeout=0"],
    "concurrent.TracebackFuture.exc_info": ["self"],
    "concurrent.TracebackFuture.set_exc_info": ["self, info", "self, exc_info=info"],
    "concurrent.TracebackFuture.running": ["self"],
    "concurrent.TracebackFuture.add_done_callback": ["self, f"],
    "concurrent.return_future": ["f", "f=f"],
    "concurrent.run_on_executor": ["f", "executor='pool', io_loop='loop'"],
    "concurrent.chain_future": ["f, f"],
    "concurrent.is_future": ["f", "x=f"],
    "stack_context.StackContext": ["f", "context_factory=f"],
    "stack_context.ExceptionStackContext": [
        "f",
        "exception_handler=f",
        "f, delay_warning=True",
    ],
    "stack_context.NullContext": [""],
    "stack_context.wrap": ["f", "fn=f"],
    "stack_context.run_with_stack_context": ["context, f", "context=context, func=f"],
    "ioloop.IOLoop.instance": [""],
    "ioloop.IOLoop.initialized": [""],
    "ioloop.IOLoop.install": ["self"],
    "ioloop.IOLoop.clear_instance": [""],
    "ioloop.IOLoop.current": ["", "False", "instance=False"],
    "ioloop.IOLoop.handle_callback_exception": ["self, f", "self, callback=f"],
    "ioloop.IOLoop.log_stack": ["self, 14, frame", "self, signal=14, frame=frame"],
    "ioloop.IOLoop.set_blocking_signal_threshold": [
        "self, 1.0, f",
        "self, seconds=None, action=None",
    ],
    "ioloop.IOLoop.set_blocking_log_threshold": ["self, 1.0", "self, seconds=None"],
    "ioloop.IOLoop.add_callback": ["self, f", "self, f, 1, b=2"],
    "ioloop.IOLoop.add_callback_from_signal": ["self, f", "self, f, 1, b=2"],
    "ioloop.IOLoop.spawn_callback": ["self, f", "self, f, 1, b=2"],
    "ioloop.IOLoop.add_timeout": ["self, 1.0, f", "self, deadline, f, 1, b=2"],
    "ioloop.IOLoop.call_at": ["self, 1.0, f", "self, 1.0, f, 1, b=2"],
    "ioloop.IOLoop.call_later": ["self, 1.0, f", "self, 1.0, f, 1, b=2"],
    "ioloop.IOLoop.add_future": ["self, f, f", "self, future=f, callback=f"],
    "ioloop.IOLoop.add_handler": ["self, 3, f, 1", "self, fd=3, handler=f, events=1"],
    "ioloop.IOLoop.run_sync": ["self, f", "self, f, 1.0", "self, func=f, timeout=None"],
    "ioloop.PeriodicCallback": [
        "f, 100",
        "f, 100, loop",
        "callback=f, callback_time=100, io_loop=loop",
        "f, 100, jitter=0.1",
    ],
}


def _find(path):
    module, *names = path.split(".")
    found = MODULES[module]
    for name in names:
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", CALLS)
def test_call_in_the_old_way_fits_the_signature(path):
    signature = inspect.signature(_find(path))
    # Any argument will do: none of them is used.
    words = "context deadline f first frame future generator info loop runner self stop"
    names = dict.fromkeys([*words.split(), "tb", "typ", "value"])

    refused = []
    for call in CALLS[path]:
        try:
            eval(f"bind({call})", names | {"bind": signature.bind})
        except TypeError as error:
            refused.append((call, str(error)))

    assert refused == []


@pytest.mark.parametrize("module", NAMES)
def test_every_name_is_there(module):
    missing = [
        name for name in NAMES[module].split() if not hasattr(MODULES[module], name)
    ]

    assert missing == []


@pytest.mark.parametrize("path", MEMBERS)
def test_every_member_is_there(path):
    # The Runner has them as soon as anything legacy is used.
    assert gencoro.gen.YieldPoint
    owner = _find(path)

    assert [name for name in MEMBERS[path].split() if not hasattr(owner, name)] == []


def test_names_of_one_thing_are_one_object():
    gen, concurrent = gencoro.gen, gencoro.concurrent

    assert gen.TracebackFuture is concurrent.TracebackFuture
    assert gen.Multi is gen.multi is gen.multi_future
    assert gen.IOLoop is gencoro.ioloop.IOLoop
    assert gen.TimeoutError is gencoro.ioloop.TimeoutError is TimeoutError
    assert gen.Task is gen.Task


@pytest.mark.parametrize("module", ["gen", "concurrent", "stack_context"])
def test_unknown_name_is_an_attribute_error_that_says_whose(module):
    with pytest.raises(AttributeError, match=rf"'gencoro\.{module}'.*'nothing'"):
        MODULES[module].nothing  # noqa: B018


@pytest.mark.parametrize("module", ["gen", "concurrent"])
def test_star_brings_nothing_legacy(module):
    names = {}

    exec(f"from gencoro.{module} import *", names)  # noqa: S102

    legacy = {"Task", "engine", "TracebackFuture", "return_future", "_null_future"}
    assert legacy & set(names) == set()


def test_star_of_stack_context_brings_all_its_public_names():
    names = {}

    exec("from gencoro.stack_context import *", names)  # noqa: S102

    brought = {name for name in names if not name.startswith("_")}
    assert brought == set(NAMES["stack_context"].split()) - {"_state"}


LOADED = """
    import sys
    def loaded():
        return sorted(
            name
            for name in sys.modules
            if name in ("tornado", "gencoro.legacy")
            or name.startswith("gencoro.legacy.")
        )
"""


def test_facades_load_nothing_legacy_and_no_tornado(script):
    output = script(
        LOADED
        + """
    from gencoro import concurrent, gen, stack_context
    from gencoro.concurrent import *
    for facade in (concurrent, gen, stack_context):
        dir(facade), hasattr(facade, "nothing"), facade.__doc__
    print(loaded())
    """
    )

    assert output == "[]\n"


def test_loop_loads_nothing_legacy(script):
    output = script(
        LOADED
        + """
    from gencoro import gen
    from gencoro.ioloop import IOLoop, PeriodicCallback

    @gen.coroutine
    def main():
        yield [gen.sleep(0), None, gen.with_timeout(IOLoop.current().time() + 60, gen.sleep(0))]

    periodic = PeriodicCallback(main, 1)
    loop = IOLoop.current()
    loop.run_sync(main)
    loop.add_callback(loop.stop)
    loop.start()
    print([name for name in loaded() if name != "tornado"])
    """
    )

    assert output == "[]\n"
