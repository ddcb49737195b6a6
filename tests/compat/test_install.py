"""install(), uninstall() and installed()."""

import contextlib
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest
import tornado.concurrent
import tornado.gen
import tornado.ioloop
import tornado.locks
import tornado.queues
import tornado.testing
import tornado.web
import tornado.websocket

import gencoro.compat
from gencoro import deprecated
from gencoro.compat import installer
from gencoro.compat.names import INSTEAD, TABLE
from gencoro.errors import BadYieldError
from tests.helpers.compat.rows import uses

# Modules of today's Tornado, of which some names are put, wrapped or refused.
PATCHED_MODULES = sorted(
    {installer._module_of(name) for name in TABLE if name.startswith("tornado.")}
    - {name for name, row in TABLE.items() if row.how == "module"}
    - {"tornado.database", "tornado.win32_support"}
)


def _everything():
    """Return what every module of Tornado, and every class in it, has now."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] != "tornado" or name.startswith("tornado.test."):
            continue
        for key, value in vars(module).items():
            found[name, key] = value
            if isinstance(value, type) and value.__module__.startswith("tornado"):
                found |= {(name, key, own): v for own, v in vars(value).items()}
    return {key: id(value) for key, value in found.items() if key[-1] != "__doc__"}


@pytest.fixture
def before():
    for name in PATCHED_MODULES:
        with contextlib.suppress(ImportError):  # what it needs is not installed
            importlib.import_module(name)
    gencoro.compat.install()  # loads what it needs
    gencoro.compat.uninstall()
    return _everything()


def test_second_install_does_nothing_and_uninstall_restores_everything(before):
    bases = BadYieldError.__bases__
    gencoro.compat.install()
    changed = _everything()
    assert {key[0] for key, _ in before.items() ^ changed.items()} >= {
        name for name in PATCHED_MODULES if name in sys.modules
    }
    gencoro.compat.install()
    assert _everything() == changed

    for _ in range(2):
        gencoro.compat.uninstall()
        assert _everything() == before
        assert BadYieldError.__bases__ == bases


def test_installed_tells():
    assert not gencoro.compat.installed()
    gencoro.compat.install()
    assert gencoro.compat.installed()
    gencoro.compat.uninstall()
    assert not gencoro.compat.installed()


@pytest.mark.parametrize("good_rows", [0, 1, 40])
def test_what_cannot_be_installed_whole_is_not_installed(
    before, monkeypatch, good_rows
):
    """A row that fails: as if its place had been misspelt."""
    at, calls = installer._at, []

    def failing(place):
        calls.append(place)
        if len(calls) > good_rows:
            raise ImportError("no such place")
        return at(place)

    monkeypatch.setattr(installer, "_at", failing)
    finders = list(sys.meta_path)

    with pytest.raises(ImportError, match="no such place"):
        gencoro.compat.install()

    assert not gencoro.compat.installed()
    assert _everything() == before
    assert sys.meta_path == finders
    assert not deprecated.is_quiet


def test_threads_install_once(before):
    threads = [threading.Thread(target=gencoro.compat.install) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gencoro.compat.installed()
    gencoro.compat.uninstall()

    assert _everything() == before


def _run(source):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_legacy_modules_keep_what_they_have_imported():
    gencoro.compat.install()
    stack_context = importlib.import_module("tornado.stack_context")
    for _ in range(2):
        gencoro.compat.uninstall()
        gencoro.compat.install()
    gencoro.compat.uninstall()

    assert stack_context.wrap(len)("four") == 4


def test_modules_that_are_imported_later_are_patched_too():
    output = _run(
        """
        import sys
        import gencoro.compat
        gencoro.compat.install()
        assert "tornado.web" not in sys.modules
        from tornado import web
        print(web.asynchronous.__name__, web.bytes_type is bytes)
        print("asynchronous" in web.__loader__.get_source("tornado.web"))
        gencoro.compat.uninstall()
        print(hasattr(web, "asynchronous"))
        """
    )

    assert output.split() == ["asynchronous", "True", "True", "False"]


def test_each_module_is_patched_once():
    """Those too that the places of others import, in a process that has loaded nothing."""
    output = _run(
        """
        from gencoro.compat import installer
        patch, patched = installer._Installation.patch, []
        def counting(self, module):
            patched.append(module.__name__)
            patch(self, module)
        installer._Installation.patch = counting
        installer.install()
        import tornado.web, tornado.websocket, tornado.auth, tornado.testing
        print(len(patched) > 20, len(patched) == len(set(patched)))
        """
    )

    assert output == "True True\n"


def test_what_is_not_used_is_not_loaded():
    output = _run(
        """
        import sys
        import gencoro.compat
        gencoro.compat.install()
        print(sorted({"tornado.web", "tornado.testing"} & set(sys.modules)))
        """
    )

    assert output == "[]\n"


@uses("tornado.stack_context", "tornado.platform.epoll")
def test_removed_modules_are_imported_in_every_way(compat):
    import tornado.platform.epoll
    import tornado.stack_context
    from tornado import stack_context
    from tornado.platform import epoll

    assert stack_context is tornado.stack_context
    assert epoll is tornado.platform.epoll
    assert importlib.import_module("tornado.stack_context") is stack_context


def test_removed_modules_go_with_uninstall():
    gencoro.compat.install()
    importlib.import_module("tornado.stack_context")
    gencoro.compat.uninstall()

    with pytest.raises(ImportError):
        importlib.import_module("tornado.stack_context")
    assert not hasattr(sys.modules["tornado"], "stack_context")


@uses("tornado.database", "tornado.win32_support")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "import tornado.database",
            r"last in Tornado 2\.4, and gencoro.compat does not serve it; use the pac",
        ),
        ("from tornado import database", "tornado.database was last in Tornado 2.4"),
        ("from tornado.database import Connection", "use the package torndb"),
        ("import tornado.win32_support", "last in Tornado 2.0"),
        (
            "from tornado.netutil import _dnsname_to_pat",
            r"last in Tornado 3\.1, and gencoro.compat does not serve it; use check_h",
        ),
    ],
)
def test_import_that_cannot_be_served_says_what_to_use(compat, line, sentence):
    with pytest.raises(ImportError, match=sentence):
        exec(line)  # noqa: S102


REFUSED = [
    name
    for name, row in TABLE.items()
    if row.how == "none" and installer._module_of(name) in PATCHED_MODULES
]


@uses(*REFUSED)
@pytest.mark.parametrize("name", REFUSED)
def test_name_that_is_not_served_says_what_to_use(compat, name):
    pytest.importorskip(installer._module_of(name))
    place, _, own_name = name.rpartition(".")
    owner = pkgutil.resolve_name(place)
    if inspect.ismodule(owner):
        with pytest.raises(ImportError, match=re.escape(INSTEAD[name])):
            exec(f"from {place} import {own_name}")  # noqa: S102
    else:
        owner = type("Derived", (owner,), {})

    with pytest.raises(AttributeError, match=re.escape(INSTEAD[name])) as caught:
        getattr(owner, own_name)
    assert f"last in Tornado {TABLE[name].last}" in str(caught.value)
    assert not hasattr(owner, own_name)


def test_name_that_never_was_fails_as_ever(compat):
    with pytest.raises(
        AttributeError, match=r"module 'tornado.netutil' has no attribu"
    ):
        importlib.import_module("tornado.netutil").nonsense  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from tornado.netutil import nonsense")  # noqa: S102


def test_nothing_warns_of_what_was_asked_for(compat):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec("from tornado.gen import Task, engine")  # noqa: S102
        tornado.ioloop.IOLoop.clear_instance()


def test_tornados_own_futures_keep_asyncios_timing(loop):
    """Condition and Queue count on callbacks in a later turn."""
    condition, queue = tornado.locks.Condition(), tornado.queues.Queue()
    calls = []

    async def main():
        for future in (condition.wait(), queue.get(), tornado.gen.sleep(60)):
            future.add_done_callback(calls.append)
            future.set_result(None)
            assert calls == []
            await tornado.gen.sleep(0)
            assert calls == [future]
            del calls[:]

    loop.run_sync(main)
