"""The facades gen and concurrent: their names and what they import."""

import asyncio
import subprocess
import sys

import pytest
import tornado.concurrent
import tornado.gen
import tornado.ioloop

import gencoro
from gencoro import Runner, concurrent, errors, gen, ioloop

GEN = """
    coroutine Return multi multi_future Multi moment sleep with_timeout
    WaitIterator convert_yielded maybe_future is_coroutine_function Future is_future
    chain_future TimeoutError BadYieldError KeyReuseError UnknownKeyError
    LeakedCallbackError ReturnValueIgnoredError
"""

# Names of other modules that tornado.gen has too, and programs take from there.
GEN_BESIDES = """
    app_log future_add_done_callback future_set_exc_info
    future_set_result_unless_cancelled
"""

CONCURRENT = """
    Future is_future FUTURES chain_future run_on_executor DummyExecutor dummy_executor
    future_set_result_unless_cancelled future_set_exception_unless_cancelled
    future_set_exc_info future_add_done_callback ReturnValueIgnoredError
"""

IOLOOP = "IOLoop PeriodicCallback"


@pytest.mark.parametrize(
    ("module", "names"),
    [(gen, GEN + GEN_BESIDES), (concurrent, CONCURRENT), (ioloop, IOLOOP)],
    ids=["gen", "concurrent", "ioloop"],
)
def test_public_names_are_these(module, names):
    assert sorted(module.__all__) == sorted(names.split())
    assert [name for name in names.split() if not hasattr(module, name)] == []


@pytest.mark.parametrize(
    ("ours", "tornados"),
    [(gen, tornado.gen), (concurrent, tornado.concurrent)],
    ids=["gen", "concurrent"],
)
def test_every_public_name_of_tornado_is_there(ours, tornados):
    names = [
        name
        for name, thing in vars(tornados).items()
        if getattr(thing, "__module__", "") == tornados.__name__ and name[0] != "_"
    ]

    assert [name for name in names if not hasattr(ours, name)] == []


def test_what_has_to_be_the_same_object_is():
    assert gen.Future is concurrent.Future is asyncio.Future
    assert gen.TimeoutError is TimeoutError
    assert gen.Multi is gen.multi is gen.multi_future
    assert gen.IOLoop is ioloop.IOLoop
    assert gen.Runner is Runner
    assert ioloop.TimeoutError is TimeoutError


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gen.nothing  # noqa: B018


def test_package_hands_out_what_it_says():
    assert [name for name in gencoro.__all__ if not hasattr(gencoro, name)] == []
    assert set(errors.__all__) <= set(gencoro.__all__)
    assert gencoro.coroutine is gen.coroutine
    assert gencoro.IOLoop is ioloop.IOLoop
    with pytest.raises(AttributeError, match="'gencoro' has no attribute 'nothing'"):
        gencoro.nothing  # noqa: B018


def test_errors_have_one_base_and_return_is_none_of_them():
    classes = [getattr(errors, name) for name in errors.__all__]
    own = [cls for cls in classes if cls is not errors.Return]

    assert all(issubclass(cls, errors.GencoroError) for cls in own)
    assert not issubclass(errors.Return, errors.GencoroError)
    assert [cls for cls in classes if not cls.__doc__] == []


def test_gen_and_concurrent_load_no_tornado():
    program = """
import asyncio, sys, warnings
import gencoro, gencoro.gen, gencoro.concurrent
from gencoro import gen
warnings.simplefilter("ignore")

@gen.coroutine
def main():
    yield [gen.sleep(0), None, asyncio.sleep(0)]
    return 42

async def native():
    await main(callback=print)
    await asyncio.sleep(0)

asyncio.run(native())
print([name for name in sys.modules if name.split(".")[0] == "tornado"])
"""
    output = subprocess.check_output([sys.executable, "-c", program], text=True)

    assert output == "42\n[]\n"
