"""gencoro.pytest_plugin and its fixtures, in complete pytest runs."""

import collections
import pathlib
import re
import subprocess
import sys
import textwrap

import hypothesis
import pytest

from gencoro import pytest_plugin, testing

# Imported here, or each run within this process would import them again.
MODULES = [hypothesis, pytest_plugin, testing]

# Not of the plugin: an editable install lists the modules of our tests as its own, and some
# of them are imported by the run around this one.
STRICT = [
    "-Werror",
    "-Wignore:Module already imported:pytest.PytestAssertRewriteWarning",
]

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "testing.rst"

HEAD = """
import asyncio

import pytest
import tornado.web

from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.testing import gen_test
"""


@pytest.fixture
def run(pytester):
    """Write a test module and run it; return what pytest says."""

    def run(source, *arguments, head=HEAD, subprocess=False):
        pytester.makepyfile(head + textwrap.dedent(source))
        # What this environment has besides is to be asked for by the tests that need it.
        off = ["asyncio", "anyio", "xdist", "randomly"]
        arguments = [*(f"-pno:{name}" for name in off), *arguments]
        if subprocess:
            return pytester.runpytest_subprocess(*arguments)
        return pytester.runpytest_inprocess(*STRICT, *arguments)

    return run


# What is a test, besides what the guide shows.


def test_coroutine_of_any_kind_is_a_test_on_a_loop_of_its_own(run):
    result = run("""
        import functools
        from hypothesis import given, settings, strategies

        loops, numbers = [], []

        @pytest.mark.parametrize("number", range(2))
        @gen_test
        def test_decorated(io_loop, number):
            assert type(IOLoop.current()) is type(io_loop)
            assert IOLoop.current() is io_loop
            loops.append(io_loop)
            yield gen.sleep(0.001)

        def test_loops_are_closed():
            assert loops[0] is not loops[1]
            assert all(loop.asyncio_loop.is_closed() for loop in loops)

        def test_plain_with_a_loop(io_loop):
            assert io_loop.run_sync(lambda: gen.multi([])) == []

        @settings(max_examples=5, database=None)
        @given(number=strategies.integers(0, 3))
        @gen.coroutine
        def test_examples(number):
            yield gen.sleep(0.0001)
            numbers.append(number)

        def test_examples_were_run():
            assert len(numbers) > 1

        class TestMethods:
            name = "of the class"

            @pytest.mark.gen_test
            def test_marked(self):
                yield gen.sleep(0.001)
                assert self.name == "of the class"

            @gen_test(timeout=60)
            def test_decorated(self, io_loop):
                assert IOLoop.current() is io_loop
                yield gen.sleep(0.001)
                assert self.name == "of the class"

            @staticmethod
            @gen.coroutine
            def test_static():
                yield gen.sleep(0.001)

        def wrapped(function):
            return functools.wraps(function)(lambda self: function(self))

        @pytest.mark.gen_test
        class TestMarked:
            def test_generator_function(self):
                yield gen.sleep(0.001)

            @wrapped
            async def test_wrapped(self):
                assert await gen.multi([asyncio.sleep(0, "rested")]) == ["rested"]

            def test_plain(self):
                with pytest.raises(RuntimeError):
                    asyncio.get_running_loop()

        class TestOwnLoop:
            class OwnLoop(IOLoop):
                pass

            @pytest.fixture
            def io_loop(self):
                loop = self.OwnLoop(make_current=False)
                yield loop
                loop.close()

            @gen.coroutine
            def test_loop(self, io_loop):
                yield gen.sleep(0.001)
                assert type(IOLoop.current()) is self.OwnLoop

        @gen.coroutine
        def helper():
            yield

        @gen.coroutine
        def test_helper():
            yield

        test_helper.__test__ = False

        def test_plain():
            assert helper and IOLoop.current(instance=False) is None
    """)

    result.assert_outcomes(passed=14)


def test_coroutine_that_fails_is_a_test_that_fails(run):
    result = run("""
        from hypothesis import given, settings, strategies

        @gen.coroutine
        def test_coroutine():
            yield gen.sleep(0.001)
            assert 1 == 2

        @pytest.mark.gen_test
        async def test_marked_async_def():
            await gen.sleep(0.001)
            assert 1 == 2

        @pytest.mark.gen_test
        @settings(max_examples=5, database=None)
        @given(number=strategies.integers(0, 3))
        def test_marked_with_examples(number):
            yield gen.sleep(0.0001)
            assert number < 3

        @pytest.mark.parametrize("number", [1, 3])
        @pytest.mark.gen_test
        def test_with_parameters(number):
            yield gen.sleep(0.001)
            assert number < 2

        @pytest.mark.xfail
        @gen.coroutine
        def test_that_is_expected_to_fail():
            yield
            assert 1 == 2

        @pytest.mark.skip
        @gen.coroutine
        def test_skipped():
            yield

        @gen.coroutine
        def test_with_a_value():
            yield
            return 42
    """)

    result.assert_outcomes(passed=1, failed=5, xfailed=1, skipped=1)
    result.stdout.fnmatch_lines(["*def test_coroutine():", ">*assert 1 == 2"])
    result.stdout.fnmatch_lines(["E *assert 3 < 3"])
    result.stdout.fnmatch_lines(["*None*return*"])
    result.stdout.fnmatch_lines(["FAILED *::test_with_parameters?3?*"])


# Virtual time, and the server.


def test_virtual_clock(run):
    result = run("""
        @pytest.fixture
        def nap(virtual_clock):
            return lambda: gen.sleep(3600)

        @gen.coroutine
        def test_by_way_of_a_fixture(nap):
            yield nap()

        @gen.coroutine
        def test_real_time(io_loop):
            assert type(io_loop.asyncio_loop).__name__ != "VirtualLoop"
            yield

        @gen.coroutine
        def test_deadlock(virtual_clock):
            yield [gen.sleep(1), wait_for_ever()]

        @gen.coroutine
        def wait_for_ever():
            yield asyncio.Future()
    """)

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*yield asyncio.Future()",
            "E *DeadlockError: Everything waits, and forever*",
            "E *test_deadlock() at *: list, 1 of 2 done",
            "E *wait_for_ever() at *: a Future*",
        ]
    )


def test_server_and_client(run):
    result = run("""
        class Hello(tornado.web.RequestHandler):
            @gen.coroutine
            def get(self):
                yield gen.sleep(float(self.get_argument("seconds", 0)))
                self.write("hello")

        @pytest.fixture
        def app():
            return tornado.web.Application([("/", Hello)])

        @pytest.mark.gen_test
        async def test_port(http_client, http_server, http_port, http_server_port):
            assert http_port == http_server_port
            url = f"http://127.0.0.1:{http_port}/"
            assert (await http_client.fetch(url)).code == 200

        @pytest.mark.gen_test
        async def test_client_without_server(http_client):
            with pytest.raises(OSError):
                await http_client.fetch("http://127.0.0.1:1/")

        @gen.coroutine
        def test_slow_page(http_client, base_url, virtual_clock):
            response = yield http_client.fetch(base_url + "/?seconds=15")
            assert response.body == b"hello"
            assert virtual_clock.time() == response.request_time == 15
    """)

    result.assert_outcomes(passed=3)


# The time-out.

STUCK = """
    @gen.coroutine
    def load():
        try:
            yield gen.sleep(60)  # stuck here
        finally:
            print("cleaned up")

    @pytest.mark.gen_test(MARK)
    def test_stuck():
        yield [load()]
"""


@pytest.mark.parametrize(
    ("mark", "option", "variable", "line", "seconds"),
    [
        ("timeout=0.01", 30, 30, 30, "0.01"),
        ("", 0.02, 30, 30, "0.02"),
        ("", None, 0.03, 30, "0.03"),
        ("", None, None, 0.04, "0.04"),
    ],
    ids=["marker", "option", "environment", "ini-file"],
)
def test_time_out(run, pytester, monkeypatch, mark, option, variable, line, seconds):
    pytester.makeini(f"[pytest]\ngen_test_timeout = {line}")
    arguments = [] if option is None else [f"--gen-test-timeout={option}"]
    if variable is not None:
        monkeypatch.setenv("ASYNC_TEST_TIMEOUT", str(variable))

    result = run(STUCK.replace("MARK", mark), *arguments)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*yield [[]load()]",
            ">*yield gen.sleep(60)  # stuck here",
            f"E *TimeoutError: The test timed out after {seconds} seconds; *",
            "E *Who waited for whom:",
            "cleaned up",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_time_out_of_the_class_and_of_the_decorator(run):
    result = run("""
        @pytest.mark.gen_test(timeout=0.01)
        class TestStuck:
            @gen.coroutine
            def test_class(self):
                yield gen.sleep(60)

            @pytest.mark.gen_test(timeout=5)
            def test_function(self):
                yield gen.sleep(0.05)

        @gen_test(timeout=0.02)
        def test_decorator():
            yield gen.sleep(60)
    """)

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*timed out after 0.01 s*", "*timed out after 0.02 s*"]
    )


def test_time_out_of_the_ini_file_that_is_no_number_is_explained(run, pytester):
    pytester.makeini("[pytest]\ngen_test_timeout = soon")

    result = run("""
        @gen.coroutine
        def test_coroutine():
            yield
    """)

    assert "gen_test_timeout = soon: give a number of seconds" in result.stdout.str()
    assert result.ret != 0


# Wrong use.


def test_unmarked_generator_function_is_refused_with_the_cure(run):
    result = run("""
        def test_generator_function():
            yield gen.sleep(0.001)
    """)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*mark it with @pytest.mark.gen_test, or decorate it with @gen.coroutine"]
    )


def test_mistake_is_refused_with_the_cure(run):
    result = run("""
        @pytest.mark.gen_test(5)
        def test_number():
            yield

        @pytest.mark.gen_test(time_out=5)
        def test_name():
            yield

        @pytest.mark.gen_test(timeout=-5)
        def test_value():
            yield

        @pytest.mark.gen_test
        async def test_async_generator():
            yield

        async def test_without_a_mark():
            pass

        @gen.coroutine
        def test_server(base_url):
            yield

        class TestApp:
            @pytest.fixture
            def app(self, database):
                pass

            @gen.coroutine
            def test_server(self, base_url):
                yield
    """)

    result.assert_outcomes(failed=5, errors=2)
    result.stdout.fnmatch_lines_random(
        [
            "test_number is marked with *; write gen_test(timeout=SECONDS)",
            "test_name is marked with *; write gen_test(timeout=SECONDS)",
            "timeout=-5: *",
            "test_async_generator is an async generator, *",
            "*async def functions are not natively supported*",
            "http_server needs a fixture `app`, which returns the application*",
            "    def app():",
            "*fixture 'database' not found",
        ]
    )
    result.stdout.no_fnmatch_line("*LookupError*")


def test_coroutine_in_a_test_case_is_refused_with_the_cure(run):
    result = run("""
        import unittest

        import tornado.testing

        from gencoro.testing import AsyncTestCase

        class TestCoroutines(unittest.TestCase):
            @gen.coroutine
            def test_coroutine(self):
                yield

            @pytest.mark.gen_test
            def test_marked(self):
                yield

        class TestDecorated(AsyncTestCase):
            @gen_test
            def test_decorated(self):
                assert IOLoop.current() is self.io_loop
                yield gen.sleep(0.001)

            @pytest.mark.gen_test
            @gen_test
            @gen.coroutine
            def test_decorated_and_marked(self):
                yield gen.sleep(0.001)

            @tornado.testing.gen_test
            def test_decorated_by_tornado(self):
                yield gen.sleep(0.001)

            @gen_test
            def test_that_fails(self):
                yield gen.sleep(0.001)
                self.fail("on purpose")
    """)

    result.assert_outcomes(passed=3, failed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "test_coroutine is a coroutine, *decorate it with gencoro.testing.gen_test",
            "test_marked is a coroutine, *decorate it with gencoro.testing.gen_test",
        ]
    )


# Each decorator, the body that it needs, and the outcome in a TestCase and elsewhere.
DECORATORS = {
    "skip": ("@unittest.skip('why')", "assert 0", "skipped", "skipped"),
    "skip_if": ("@unittest.skipIf(True, 'why')", "assert 0", "skipped", "skipped"),
    "skip_unless": (
        "@unittest.skipUnless(False, '')",
        "assert 0",
        "skipped",
        "skipped",
    ),
    "no_skip": ("@unittest.skipIf(False, 'why')", "assert 0", "failed", "failed"),
    "expected": ("@unittest.expectedFailure", "assert 0", "xfailed", "failed"),
    "mark_skip": ("@pytest.mark.skip", "assert 0", "skipped", "skipped"),
    "mark_xfail": ("@pytest.mark.xfail", "assert 0", "xfailed", "xfailed"),
    "wraps": ("@wrapping", "assert 0", "failed", "failed"),
    "patch": ("@mock.patch('os.sep', 'x')", "assert os.sep == 'x'", "passed", "passed"),
}

DECORATED_HEAD = """
import functools
import os
import unittest
from unittest import mock

import tornado.testing

from gencoro.testing import AsyncTestCase

def wrapping(test):
    @functools.wraps(test)
    def wrapped(*args, **kwargs):
        return test(*args, **kwargs)
    return wrapped
"""


@pytest.mark.parametrize("is_above", [True, False], ids=["above", "below"])
@pytest.mark.parametrize(
    ("coroutine", "base"),
    [
        ("@gen_test", "AsyncTestCase"),
        ("@tornado.testing.gen_test", "AsyncTestCase"),
        ("@gen_test", "object"),
        ("@pytest.mark.gen_test", "object"),
    ],
)
def test_decorators_around_a_test_apply_to_it(run, coroutine, base, is_above):
    tests, expected = [], collections.Counter()
    for name, (decorator, body, in_test_case, elsewhere) in DECORATORS.items():
        if name == "patch" and (coroutine.startswith("@pytest") or not is_above):
            continue  # it ends when the generator function has returned
        order = [decorator, coroutine] if is_above else [coroutine, decorator]
        definition = f"def test_{name}(self):"
        lines = [*order, definition, "    yield gen.sleep(0)", f"    {body}"]
        tests += [f"    {line}" for line in lines]
        expected[in_test_case if base == "AsyncTestCase" else elsewhere] += 1
    source = "\n".join([DECORATED_HEAD, f"class TestIt({base}):", *tests])

    result = run(source)

    result.assert_outcomes(**expected)


def test_decorator_of_a_class_applies_to_coroutines(run):
    result = run(
        DECORATED_HEAD
        + """
class Base(AsyncTestCase):
    @tornado.testing.gen_test
    def test_it(self):
        yield gen.sleep(0)
        assert os.sep == "x"

@unittest.skip("why")
class TestSkipped(Base):
    @gen.coroutine
    def test_coroutine(self):
        yield

class TestSkippedBySetUp(Base):
    def setUp(self):
        raise unittest.SkipTest("why")

@mock.patch("os.sep", "x")
class TestPatched(Base):
    @gen_test
    def test_patched(self):
        yield gen.sleep(0)
        assert os.sep == "x"

del Base
"""
    )

    result.assert_outcomes(passed=2, skipped=3)


def test_decorated_test_runs_on_the_loop_of_its_fixtures(run):
    result = run(
        DECORATED_HEAD
        + """
@wrapping
@gen_test(timeout=0.01)
def test_it(io_loop):
    assert IOLoop.current() is io_loop
    yield gen.sleep(60)
"""
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*TimeoutError: The test timed out after 0.01 seconds*"]
    )


# Beside other plugins.

OTHER_PLUGIN = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--async-test-timeout", type=float)

@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    if name.startswith("test_marked"):
        return list(collector._genfunctions(name, obj))

@pytest.fixture
def io_loop():
    from tornado.ioloop import IOLoop

    loop = IOLoop(make_current=False)
    yield loop
    loop.close()

@pytest.fixture(scope="session")
def base_url():
    return "http://elsewhere.example/"
"""


def test_fixtures_of_another_plugin_are_left_to_it(run, pytester):
    pytester.makepyfile(other_plugin=OTHER_PLUGIN)
    pytester.syspathinsert()

    result = run(
        """
        @pytest.mark.gen_test
        def test_marked(io_loop, base_url):
            assert type(io_loop).__name__ == "AsyncIOLoop"
            assert base_url == "http://elsewhere.example/"
            yield gen.moment

        @gen.coroutine
        def test_coroutine(io_loop):
            assert type(io_loop).__name__ == "AsyncIOLoop"
            yield gen.sleep(0.001)

        @gen.coroutine
        def test_virtual_clock(virtual_clock):
            yield gen.sleep(0.001)
        """,
        "-p",
        "other_plugin",
    )

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*another plugin or conftest.py made it*"])


ASYNC_DEFS = """
    # Where Trio is installed too, anyio would run each of its tests on both.
    @pytest.fixture
    def anyio_backend():
        return "asyncio"

    @pytest.mark.asyncio
    async def test_of_pytest_asyncio(request):
        assert "io_loop" not in request.fixturenames
        await asyncio.sleep(0.001)

    @pytest.mark.anyio
    async def test_of_anyio(request):
        assert "io_loop" not in request.fixturenames
        await asyncio.sleep(0.001)

    @pytest.mark.gen_test
    async def test_ours(io_loop):
        assert asyncio.get_running_loop() is io_loop.asyncio_loop
        await asyncio.sleep(0.001)

    @gen.coroutine
    def test_coroutine(io_loop):
        assert asyncio.get_running_loop() is io_loop.asyncio_loop
        yield gen.sleep(0.001)
"""


@pytest.mark.parametrize(
    ("of_asyncio", "of_anyio"),
    [("auto", "strict"), ("strict", "auto")],
)
def test_async_defs_of_other_plugins_are_left_to_them(run, of_asyncio, of_anyio):
    pytest.importorskip("pytest_asyncio")
    pytest.importorskip("anyio")

    result = run(
        ASYNC_DEFS,
        *["-p", "asyncio", f"--asyncio-mode={of_asyncio}"],
        *["-p", "anyio", f"--anyio-mode={of_anyio}"],
        subprocess=True,
    )

    result.assert_outcomes(passed=4)


# The plugin itself.


def test_examples_of_the_guide_run(run):
    text = GUIDE.read_text(encoding="utf-8")
    examples = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)

    for example in examples:
        result = run(example, head="")
        assert result.ret == 0
        assert result.parseoutcomes()["passed"] > 0
    assert len(examples) == 4


def test_plugin_can_be_switched_off(run):
    result = run(
        """
        def test_fixture(virtual_clock):
            pass
        """,
        "-p",
        "no:gencoro",
    )

    result.assert_outcomes(errors=1)


def test_fixtures_marker_and_option_are_documented(run):
    fixtures = run("", "--fixtures").stdout.str()
    markers = run("", "--markers").stdout.str()
    options = run("", "--help").stdout.str()

    for name in ["base_url", "http_client", "http_port", "http_server", "io_loop"]:
        assert f"\n{name} -- " in fixtures
    assert "\nvirtual_clock -- " in fixtures
    assert "@pytest.mark.gen_test(timeout=None): run a generator" in markers
    assert "--gen-test-timeout=SECONDS" in options
    assert "gen_test_timeout (string)" in options


def test_plugin_loads_no_tornado():
    program = "import sys, gencoro.pytest_plugin; print('tornado' in sys.modules)"

    printed = subprocess.check_output([sys.executable, "-c", program], text=True)

    assert printed == "False\n"
