"""tornado.testing: legacy test cases, and modern ones in the same process."""

import logging
import os
import subprocess
import sys
import textwrap
import types
import unittest

import pytest

from gencoro.compat.calls import legacy_modules
from gencoro.compat.doctor.eras import MARK
from tests.helpers.compat.rows import uses

# What makes a module one of the callback era, in one line.
LEGACY = "from tornado.stack_context import wrap\n"
OF_PYTHON_2 = "from __future__ import print_function\n"
CONVERTED = f"{MARK}\n"


@pytest.fixture
def module(tmp_path, monkeypatch, compat):
    """Make modules of tests from their source."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("ASYNC_TEST_TIMEOUT", "60")
    made = []

    def make(source, head=LEGACY):
        name = f"tests_of_once_{len(made)}"
        (tmp_path / f"{name}.py").write_text(head + HEAD + textwrap.dedent(source))
        made.append(name)
        __import__(name)
        return sys.modules[name]

    yield make
    for name in made:
        del sys.modules[name]


HEAD = """
import logging, unittest
from tornado import gen, ioloop, testing, web
from tornado.httpclient import AsyncHTTPClient
from tornado.testing import AsyncHTTPTestCase, AsyncTestCase, ExpectLog, gen_test
"""


def run(module, name="Test"):
    """Run the tests of a class; return what unittest tells of them."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(getattr(module, name)).run(result)
    assert result.testsRun
    return result


def passes(module, name="Test"):
    result = run(module, name)
    bad = result.failures + result.errors
    assert not bad, bad[0][1]
    return True


IN_CALLBACK = """
class Test(AsyncTestCase):
    def test(self):
        self.io_loop.add_callback(lambda: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            self.wait()
"""

LOGGED = """
class Test(AsyncTestCase):
    def test(self):
        self.io_loop.add_callback(lambda: 1 / 0)
        self.io_loop.add_callback(self.stop, 42)
        with ExpectLog("tornado.application", "Exception in callback"):
            self.assertEqual(self.wait(), 42)
"""


@uses("tornado.testing.AsyncTestCase.run")
@pytest.mark.parametrize("head", [LEGACY, OF_PYTHON_2, CONVERTED])
def test_error_in_a_callback_ends_a_legacy_test_at_once(module, head):
    assert passes(module(IN_CALLBACK, head))


@pytest.mark.parametrize("head", ["", "from __future__ import annotations\n"])
def test_error_in_a_callback_is_logged_in_a_test_of_today(module, head):
    assert passes(module(LOGGED, head))


def test_class_inherits_its_era(module):
    base = module(IN_CALLBACK)
    source = f"from {base.__name__} import Test as Base\nclass Test(Base): pass"

    assert passes(module(source, head=""))


@uses("tornado.testing.AsyncTestCase.__init__")
def test_era_is_found_when_tests_are_collected(module, monkeypatch):
    tests = module(IN_CALLBACK)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(tests.Test)
    monkeypatch.setattr(legacy_modules, "inspect", None)
    result = unittest.TestResult()

    suite.run(result)

    assert (result.testsRun, result.wasSuccessful()) == (1, True)


def test_module_without_its_source_is_of_today(module, monkeypatch):
    monkeypatch.setitem(sys.modules, "of_no_file", types.ModuleType("of_no_file"))
    exec(HEAD + LOGGED, vars(sys.modules["of_no_file"]))  # noqa: S102

    assert passes(sys.modules["of_no_file"])


def test_second_error_is_logged(module):
    tests = module(
        """
        def fail(text):
            raise Exception(text)
        class Test(AsyncTestCase):
            def test(self):
                self.io_loop.add_callback(fail, "one")
                self.io_loop.add_callback(fail, "two")
                with ExpectLog("tornado.application", "multiple unhandled exceptions"):
                    with self.assertRaisesRegex(Exception, "one"):
                        self.wait()
        """
    )

    assert passes(tests)


def test_unretrieved_error_fails_the_test(module):
    tests = module(
        """
        class Test(AsyncTestCase):
            @gen_test
            def test(self):
                self.io_loop.add_callback(lambda: 1 / 0)
                yield gen.moment
                yield gen.moment
        class Late(AsyncTestCase):
            def tearDown(self):
                super().tearDown()
                self._handle_exception(KeyError, KeyError("late"), None)
            def test(self): pass
        """
    )

    [(_, text)] = run(tests).errors
    assert "ZeroDivisionError" in text
    with pytest.raises(KeyError):
        tests.Late("test").run(unittest.TestResult())


def test_error_reaches_the_test_out_of_coroutines_and_timers(module):
    tests = module(
        """
        class Test(AsyncTestCase):
            def fail(self, *args):
                raise KeyError(args)
            def test_timer(self):
                self.io_loop.call_later(0.001, self.fail)
                self.assertRaises(KeyError, self.wait)
            def test_engine(self):
                @gen.engine
                def fail():
                    yield gen.Task(self.io_loop.add_callback)
                    self.fail()
                fail()
                self.assertRaises(KeyError, self.wait)
            def test_future(self):
                self.io_loop.add_future(gen.sleep(0.001), self.fail)
                self.assertRaises(KeyError, self.wait)
        """
    )

    assert passes(tests)


@uses("tornado.testing.AsyncTestCase._stack_context")
def test_stack_context_of_tornado_2(module):
    tests = module(
        """
        class Test(AsyncTestCase):
            def test(self):
                with self._stack_context():
                    1 / 0
                self.assertRaises(ZeroDivisionError, self.wait)
        """
    )

    assert passes(tests)


HTTP = """
class Handler(web.RequestHandler):
    def get(self):
        self.write("hello")
class Test(AsyncHTTPTestCase):
    def get_app(self):
        return web.Application([("/", Handler)])
"""


@uses("tornado.testing.AsyncHTTPTestCase.fetch")
def test_legacy_fetch_gives_a_response_in_any_case(module):
    tests = module(
        HTTP
        + """
    def test_errors(self):
        self.assertEqual(self.fetch("/").body, b"hello")
        self.assertEqual(self.fetch("/missing").code, 404)
        self.assertEqual(self.fetch(self.get_url("/")).code, 200)
        self.http_server.stop()
        response = self.fetch("/", connect_timeout=1)
        self.assertEqual(response.code, 599)
        self.assertIsInstance(response.error, OSError)
        with self.assertRaises(OSError):
            response.rethrow()
        with self.assertRaises(OSError):
            self.fetch("/", raise_error=True)
        """
    )

    assert passes(tests)


def test_fetch_of_today_raises(module):
    tests = module(
        HTTP
        + """
    def test_errors(self):
        self.assertEqual(self.fetch("/").body, b"hello")
        self.assertEqual(self.fetch("/missing").code, 404)
        self.http_server.stop()
        with self.assertRaises(OSError):
            self.fetch("/", connect_timeout=1)
        """,
        head="",
    )

    assert passes(tests)


def test_what_a_test_leaves_behind_is_no_error_of_it(module):
    tests = module(
        """
        class Test(AsyncTestCase):
            @gen.coroutine
            def forever(self):
                yield gen.sleep(3600)
            @gen_test
            def test(self):
                self.io_loop.add_future(self.forever(), lambda future: future.result())
                yield gen.moment
        """
    )

    assert passes(tests)


@uses("tornado.testing.get_unused_port", "tornado.testing._next_port")
def test_unused_ports_are_different_and_free(module):
    import socket

    from tornado import testing

    first, second = testing.get_unused_port(), testing.get_unused_port()
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        taken = testing._next_port = sock.getsockname()[1]
        third = testing.get_unused_port()

    assert 10000 <= first < second
    assert taken < third


TRAPPED = """
class Test(AsyncTestCase, testing.LogTrapTestCase):
    def test_good(self):
        logging.warning("good")
        self.io_loop.add_callback(self.stop)
        self.wait()
    def test_bad(self):
        logging.warning("bad")
        self.fail()
"""


@uses("tornado.testing.LogTrapTestCase")
def test_log_of_a_test_is_shown_only_if_it_fails(module, monkeypatch, capsys):
    monkeypatch.setattr(logging.root, "handlers", [])
    result = run(module(TRAPPED))

    assert [test.id().rpartition(".")[2] for test, _ in result.failures] == ["test_bad"]
    assert capsys.readouterr().err == "WARNING:root:bad\n"
    assert logging.root.handlers[0].stream is sys.stderr


def test_log_is_not_trapped_where_logging_is_set_up_otherwise(module, monkeypatch):
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    monkeypatch.setattr(logging.root, "handlers", [handler])

    run(module(TRAPPED))

    assert sorted(record.getMessage() for record in records) == ["bad", "good"]


def test_pytest_runs_legacy_tests(tmp_path):
    (tmp_path / "conftest.py").write_text("import gencoro.compat as c\nc.install()\n")
    (tmp_path / "test_it.py").write_text(
        LEGACY
        + HEAD
        + IN_CALLBACK
        + HTTP.replace("class Test", "class WebTest")
        + "    def test_it(self): self.assertEqual(self.fetch('/').code, 200)\n"
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "gencoro.pytest_plugin", tmp_path],
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )

    assert "2 passed" in done.stdout, done.stdout


def test_tornados_own_runner_runs_legacy_tests(tmp_path):
    (tmp_path / "legacy_test.py").write_text(LEGACY + HEAD + IN_CALLBACK)
    script = "import runpy, gencoro.compat as c; c.install(); "
    script += "runpy.run_module('tornado.testing', run_name='__main__', alter_sys=True)"

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, "legacy_test"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    assert "OK" in done.stderr
