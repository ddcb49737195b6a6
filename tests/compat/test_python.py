"""Names that Python has removed, as old packages use them."""

# ruff: noqa: UP005 (the old names are what is tested)

import asyncio
import collections
import collections.abc
import importlib
import io
import pkgutil
import socket
import sys
import threading
import unittest
import warnings
from pathlib import Path

import pytest
import trustme

import gencoro.compat
from gencoro.compat import installer
from gencoro.compat.doctor.removed import ASYNC, REMOVED
from gencoro.compat.doctor.scan import scan
from gencoro.compat.names import PYTHON
from tests.helpers.compat import rows
from tests.helpers.compat.rows import uses

ALL_OF_PYTHON = PYTHON | REMOVED
ABCS = [name for name in PYTHON if name.startswith("collections.")]


@uses(*ABCS)
@pytest.mark.parametrize("name", [name.removeprefix("collections.") for name in ABCS])
def test_abstract_classes_of_collections(compat, name):
    namespace = {}
    exec(f"from collections import {name}", namespace)  # noqa: S102

    assert namespace[name] is getattr(collections.abc, name)


def _everything():
    """Return what each module of the table, and each class in it, has now."""
    owners = {name.rpartition(".")[0] for name in PYTHON} - {"cgi"}
    return {name: dict(vars(pkgutil.resolve_name(name))) for name in owners}


def test_install_without_python_leaves_the_standard_library_alone():
    before = _everything()

    gencoro.compat.install(python=False)
    try:
        assert _everything() == before
        assert importlib.import_module("tornado.gen").engine
        assert gencoro.compat.installed()
    finally:
        gencoro.compat.uninstall()


def test_later_install_adds_the_standard_library():
    gencoro.compat.install(python=False)
    try:
        gencoro.compat.install()
        assert collections.Mapping is collections.abc.Mapping
    finally:
        gencoro.compat.uninstall()

    assert not hasattr(collections, "Mapping")


def test_later_install_without_python_takes_nothing_away(compat):
    gencoro.compat.install(python=False)

    assert collections.Mapping is collections.abc.Mapping


def test_later_install_that_fails_leaves_the_earlier_one(monkeypatch):
    gencoro.compat.install(python=False)
    before, calls = _everything(), []
    at = installer._at

    def failing(place):
        calls.append(place)
        if len(calls) > 20:
            raise ImportError("no such place")
        return at(place)

    try:
        with (
            monkeypatch.context() as patch,
            pytest.raises(ImportError, match="no such"),
        ):
            patch.setattr(installer, "_at", failing)
            gencoro.compat.install()
        assert gencoro.compat.installed()
        assert _everything() == before

        gencoro.compat.install()
        assert collections.Mapping is collections.abc.Mapping
    finally:
        gencoro.compat.uninstall()


@uses("inspect.getargspec", "inspect.ArgSpec")
def test_getargspec(compat):
    from inspect import ArgSpec, getargspec

    def function(a, b=1, *c, **d):
        pass

    def annotated(a: int):
        pass

    assert getargspec(function) == ArgSpec(["a", "b"], "c", "d", (1,))
    assert getargspec(function).keywords == "d"
    with pytest.raises(ValueError, match="getfullargspec"):
        getargspec(annotated)


@uses("inspect.formatargspec")
def test_formatargspec(compat):
    from inspect import formatargspec, getfullargspec

    def function(a: "tea", b=1, *c: int, d: str = "x", e, **f) -> None:  # noqa: F821
        pass

    def only_keywords(*, a, b=2):
        pass

    # What Python 3.6 and 3.7 return.
    assert formatargspec(*getfullargspec(function)) == (
        "(a: 'tea', b=1, *c: int, d: str='x', e, **f) -> None"
    )
    assert formatargspec(*getfullargspec(only_keywords)) == "(*, a, b=2)"
    assert formatargspec(["a"], "b", None, (1,), formatvalue=lambda _: "") == "(a, *b)"


@uses("asyncio.coroutine")
def test_coroutines_of_asyncio(compat):
    @asyncio.coroutine
    def nap():
        yield from asyncio.sleep(0)
        return 42

    @asyncio.coroutine
    def plain():
        return asyncio.sleep(0, 43)

    @asyncio.coroutine
    async def native():
        return 44

    async def main():
        return [await nap(), await plain(), await asyncio.create_task(native())]

    assert asyncio.run(main()) == [42, 43, 44]
    assert asyncio.run(nap()) == 42


@uses("base64.encodestring", "base64.decodestring", "fractions.gcd", "time.clock")
def test_functions_of_other_names(compat):
    from base64 import decodestring, encodestring
    from fractions import gcd
    from time import clock

    assert decodestring(encodestring(b"tea")) == b"tea"
    assert gcd(12, 18) == 6
    assert clock() <= clock()


@uses("cgi.escape")
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 has no cgi")
@pytest.mark.filterwarnings("ignore:'cgi' is deprecated")
def test_cgi_escape(compat):
    cgi = importlib.import_module("cgi")

    assert cgi.escape("<\"'&>") == "&lt;\"'&amp;&gt;"
    assert cgi.escape('"', True) == "&quot;"


@uses("threading.Thread.isAlive")
def test_thread_is_alive(compat):
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    assert thread.isAlive()
    release.set()
    thread.join()
    assert not thread.isAlive()


@uses("ssl.wrap_socket", "ssl.match_hostname")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls_sockets(compat, tmp_path):
    import ssl

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    chain = authority.issue_cert("tea.test").private_key_and_cert_chain_pem
    chain.write_to_path(tmp_path / "server.pem")
    left, right = socket.socketpair()

    def serve():
        with ssl.wrap_socket(
            right, certfile=tmp_path / "server.pem", server_side=True
        ) as server:
            server.sendall(server.recv(10).upper())

    thread = threading.Thread(target=serve)
    thread.start()
    with ssl.wrap_socket(
        left, cert_reqs=ssl.CERT_REQUIRED, ca_certs=tmp_path / "ca.pem"
    ) as client:
        ssl.match_hostname(client.getpeercert(), "tea.test")
        with pytest.raises(ssl.CertificateError):
            ssl.match_hostname(client.getpeercert(), "cake.test")
        client.sendall(b"tea")
        assert client.recv(10) == b"TEA"
    thread.join()


@uses(
    "unittest.TestCase.assertAlmostEquals",
    "unittest.TestCase.assertEquals",
    "unittest.TestCase.assertItemsEqual",
    "unittest.TestCase.assertNotAlmostEquals",
    "unittest.TestCase.assertNotEquals",
    "unittest.TestCase.assertNotRegexpMatches",
    "unittest.TestCase.assertRaisesRegexp",
    "unittest.TestCase.assertRegexpMatches",
    "unittest.TestCase.assert_",
    "unittest.TestCase.failIf",
    "unittest.TestCase.failIfAlmostEqual",
    "unittest.TestCase.failIfEqual",
    "unittest.TestCase.failUnless",
    "unittest.TestCase.failUnlessAlmostEqual",
    "unittest.TestCase.failUnlessEqual",
    "unittest.TestCase.failUnlessRaises",
    "unittest.makeSuite",
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_of_unittest(compat):
    class Test(unittest.TestCase):
        def test(self):
            self.assertEquals(1, 1)
            self.assertItemsEqual([1, 2], [2, 1])
            self.assertNotEquals(1, 2)
            self.assertAlmostEquals(1, 1 + 1e-9)
            self.assertNotAlmostEquals(1, 2)
            self.assertNotRegexpMatches("tea", "cake")
            self.assertRegexpMatches("tea", "t.a")
            self.assert_(True)
            self.failIf(False)
            self.failIfAlmostEqual(1, 2)
            self.failIfEqual(1, 2)
            self.failUnless(True)
            self.failUnlessAlmostEqual(1, 1 + 1e-9)
            self.failUnlessEqual(1, 1)
            self.failUnlessRaises(ValueError, int, "tea")
            with self.assertRaisesRegexp(ValueError, "no tea"):
                raise ValueError("no tea")

    result = unittest.TestResult()
    unittest.makeSuite(Test).run(result)

    assert (result.testsRun, result.wasSuccessful()) == (1, True)


REMOVED_NAMES = Path(rows.__file__).with_name("removed_from_python.txt")


def _is_there(name):
    """Return whether this Python has a dotted name, which compat has not put back."""
    if "." not in name:  # another package may have brought the module back
        return name in sys.stdlib_module_names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pkgutil.resolve_name(name)
        except (AttributeError, ImportError):
            return False
    return True


def _is_gone(name):
    last = tuple(map(int, ALL_OF_PYTHON[name].last.split(".")))
    return last < sys.version_info[:2]


def test_every_name_that_python_has_removed_has_a_row():
    lines = REMOVED_NAMES.read_text().splitlines()
    removed = {line for line in lines if not line.startswith("#")}

    assert len(removed) > 150
    assert removed - ALL_OF_PYTHON.keys() == set()


def test_python_has_each_name_up_to_its_last_version():
    names = ALL_OF_PYTHON.keys() - {ASYNC}

    assert [name for name in names if _is_there(name) == _is_gone(name)] == []


def test_doctor_tells_what_this_python_has_removed():
    for name in ALL_OF_PYTHON.keys() - {ASYNC}:
        top = name.partition(".")[0]
        source = f"import {top}\n" + (f"{name}\n" if name != top else "")

        found = {use.name for use in scan(source)}

        assert (name in found) == _is_gone(name), name
        assert found <= {name, top, ASYNC}


@uses("configparser.RawConfigParser.readfp", "configparser.SafeConfigParser")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_of_configparser(compat):
    from configparser import SafeConfigParser

    parser = SafeConfigParser()
    parser.readfp(io.StringIO("[tea]\nmilk = yes\n"))

    assert parser.getboolean("tea", "milk")
