"""``python -m gencoro run --record FILE``: real programs, and what is noted of them."""

import ast
import importlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import CodeType

import pytest
import tornado

import gencoro
from gencoro.evidence import AT_ONCE, HEADER, Evidence
from gencoro.recording.recorder import WAITING

# Statements that use a coroutine `f`, in a coroutine or in the function that they define; and
# what becomes of its Futures.
SHAPES = {
    "yield": ("yield f(1)", "awaited"),
    "yield_result": ("x = {(yield f(1)): (yield f(x=2))}", "awaited"),
    "yield_with_arguments": ("yield f(*[1], **{})", "awaited"),
    "yield_conditionally": ("yield f(1) if f else f(2)", "awaited"),
    "yield_method": ("yield Method(f).call(1)", "awaited"),
    "yield_property": ("yield Method(f).property", "awaited"),
    "returned_out_of_loop": (
        """
        def looping():
            for x in range(3):
                return f(x)
        yield looping()
        """,
        "awaited",
    ),
    "yield_partial": ("yield functools.partial(f, 1)()", "awaited"),
    "yield_in_helper": ("yield from (lambda: (yield f(1)))()", "awaited"),
    "yield_from": ("yield from f(1)", "awaited"),
    "yield_lambda": ("yield (lambda: f(1))()", "awaited"),
    "yield_of_decorated": ("yield plainly_decorated(f)(1)", "awaited"),
    "await": (
        """
        async def native():
            await f(1)
        yield native()
        """,
        "awaited",
    ),
    "list": ("yield [f(1), f(2)]", "together"),
    "list_with_others": ("yield [f(1), gen.sleep(0), f(2)]", "together"),
    "dict": ("yield {'a': f(1), 'b': f(2)}", "together"),
    "nested_lists": ("yield [[f(1)], {'a': f(2)}]", "together"),
    "list_comprehension": ("yield [f(x) for x in range(3) if x]", "together"),
    "dict_comprehension": ("yield {x: f(x) for x in range(3)}", "together"),
    "generator_expression": ("yield list(f(x) for x in range(3))", "together"),
    "starred_list": ("yield [*[f(x) for x in range(3)], f(4)]", "together"),
    "spawned": (
        "IOLoop.current().spawn_callback(f, 1); yield gen.sleep(0.01)",
        "dispatched",
    ),
    "added": ("IOLoop.current().add_callback(f); yield gen.sleep(0.01)", "dispatched"),
    "periodic": (
        """
        periodic = PeriodicCallback(f, 1)
        periodic.start()
        yield gen.sleep(0.01)
        periodic.stop()
        """,
        "dispatched",
    ),
    "stored": ("future = f(1); yield future", "kept"),
    "stored_in_list": ("futures = [f(1)]; yield futures", "kept"),
    "appended": ("futures = []; futures.append(f(1)); yield futures", "passed"),
    "list_returned_out_of_with": (
        """
        def managed():
            with contextlib.suppress(KeyError):
                return [f(1)]
        yield managed()
        """,
        "kept",
    ),
    "list_returned_before_finally": (
        """
        def finally_():
            try:
                return [f(1)]
            finally:
                print("done")
        yield finally_()
        """,
        "kept",
    ),
    "yield_between_elements": ("yield [f(1), (yield gen.sleep(0))]", "kept"),
    "yield_from_list": ("yield from [f(1), f(2)]", "kept"),
    "result_of_coroutine": (
        """
        @gen.coroutine
        def inner():
            return f(1)
        yield (yield inner())
        """,
        "kept",
    ),
    "yield_to_other_code": (
        """
        @contextlib.contextmanager
        def running():
            yield f(1)
        with running() as future:
            yield future
        """,
        "kept",
    ),
    "awaited_in_list": (
        """
        async def native():
            for future in [f(1), f(2)]:
                await future
        yield native()
        """,
        "kept",
    ),
    "with_timeout": ("yield gen.with_timeout(timedelta(1), f(1))", "passed"),
    "maybe_future": ("yield gen.maybe_future(f(1))", "passed"),
    "multi": ("yield gen.multi([f(1), f(2)])", "passed"),
    "callback": (
        "f(1).add_done_callback(print); yield gen.sleep(0.01)",
        "passed inspected",
    ),
    "dropped": ("f(1)", "dropped"),
    "dropped_by_loop": (
        "IOLoop.current().asyncio_loop.call_soon(f); yield gen.sleep(0.01)",
        "dropped",
    ),
    "with_callback": ("f(1, callback=print); yield gen.sleep(0.01)", "dropped"),
    "yielded_twice": ("future = f(1); yield future; yield [future]", "kept reused"),
    "asked_for_result": (
        "future = f(1); yield future; future.result()",
        "kept inspected",
    ),
    "cancelled": ("future = f(1); future.cancel()", "kept cancelled"),
    "both": ("yield f(1); future = f(2); yield future", "awaited kept"),
}

HEAD = """
import asyncio, contextlib, functools
from datetime import timedelta
from tornado import gen
from tornado.ioloop import IOLoop, PeriodicCallback

class Method:
    def __init__(self, f):
        self.f = f

    def call(self, x):
        return self.f(x)

    @property
    def property(self):
        return self.f(1)

def plainly_decorated(f):
    @functools.wraps(f)
    def decorated(*args):
        return f(*args)
    return decorated
"""

SHAPE = """
@gen.coroutine
def f_{name}(x=0):
    yield gen.sleep(0.001)

@gen.coroutine
def use_{name}():
    f = f_{name}
{body}

IOLoop.current().run_sync(use_{name})
"""

KINDS = {
    "f()": "coroutine",
    "gen.sleep(0)": "future",
    "asyncio.sleep(0)": "awaitable",
    "asyncio.ensure_future(asyncio.sleep(0))": "future",
    "pool.submit(int)": "concurrent",
    "None": "none",
    "": "none",
    "gen.moment": "moment",
    "[]": "list",
    "[f(), None]": "list, list of coroutine, list of none",
    "{1: [f()], 2: gen.sleep(0)}": "dict, dict of list, dict of future",
    "gen.Callback(1)": "legacy",
    "(1, 2)": "other",
}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Record a program; return what came of it, and the path of the recording."""

    def record(source, *args, options=(), folder=None, name="app.py", **env):
        folder = folder or tmp_path_factory.mktemp("recorded")
        (folder / name).write_text(textwrap.dedent(source))
        args = args or (name,)
        done = subprocess.run(
            [sys.executable, *options, "-m", "gencoro", "run", "--record"]
            + ["evidence", *args],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(_root())} | env,
        )
        return done, folder / "evidence"

    return record


def _root():
    return Path(gencoro.__file__).parent.parent


def _evidence(recording):
    folder = recording.parent
    sources = {str(path): path.read_bytes() for path in folder.rglob("*.py")}
    evidence = Evidence.load([recording], sources)
    assert evidence.ignored == []
    return evidence


def _uses(recording, name="app.py"):
    """Return the uses of each coroutine of a file, by its name."""
    path = recording.parent / name
    records = [json.loads(line) for line in recording.read_text().splitlines()]
    calls = [record["call"] for record in records if "call" in record]
    evidence = _evidence(recording)
    found = {
        qualname: evidence.of(str(path), line, qualname) for _, line, qualname in calls
    }
    return {qualname: uses for qualname, uses in found.items() if uses is not None}


@pytest.fixture(scope="module")
def shapes(record):
    """Return the uses of the coroutine of each shape."""
    program = HEAD + "".join(
        SHAPE.format(name=name, body=textwrap.indent(textwrap.dedent(body), "    "))
        for name, (body, _) in SHAPES.items()
    )
    done, recording = record(program)
    assert done.stderr == ""
    return _uses(recording)


@pytest.mark.parametrize("name", SHAPES)
def test_use_of_a_future_is_noted(shapes, name):
    _, expected = SHAPES[name]

    uses = shapes[f"f_{name}"]

    assert set(uses.places) == set(expected.split())
    assert uses.at_once == (set(expected.split()) <= AT_ONCE)


def test_places_of_uses_are_those_of_the_calls(record):
    _, recording = record(
        """\
        from tornado import gen
        from tornado.ioloop import IOLoop

        def plainly(function):
            return lambda: function()

        @gen.coroutine
        def f():
            yield

        # Two decorators, and a comment.
        @plainly
        # Both count.
        @gen.coroutine
        def g():
            yield

        def pass_on():
            return f()

        def keep():
            future = pass_on()
            return future

        @gen.coroutine
        def main():
            yield pass_on()
            yield keep()
            yield g()

        IOLoop.current().run_sync(main)
        """
    )

    uses = _uses(recording)

    assert [place[1:] for place in uses["f"].places["awaited"]] == [(19, 11)]
    assert [place[1:] for place in uses["f"].places["kept"]] == [(22, 13)]
    assert [place[1:] for place in uses["g"].places["awaited"]] == [(5, 19)]
    assert uses["main"].places == {"dispatched": ()}
    source = recording.parent / "app.py"
    lines = {
        node.name: node.decorator_list[0].lineno
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }
    evidence = _evidence(recording)
    assert evidence.of(str(source), lines["f"], "f") == uses["f"]
    assert evidence.of(str(source), lines["g"], "g") == uses["g"]


def test_kinds_of_yielded_values_are_noted(record):
    values = "".join(
        f"""
    try:
        yield {value}
    except gen.BadYieldError:
        pass"""
        for value in KINDS
    )
    program = f"""
import asyncio, concurrent.futures
from tornado import gen
from tornado.ioloop import IOLoop

pool = concurrent.futures.ThreadPoolExecutor()

@gen.coroutine
def f():
    yield

@gen.coroutine
def main():{values}
    raise gen.Return(None)

IOLoop.current().run_sync(main)
"""
    done, recording = record(program)

    assert done.stderr == "" and done.returncode == 0
    evidence = _evidence(recording)
    path = str(recording.parent / "app.py")
    lines = program.splitlines()
    found = {
        lines[number - 1].partition("yield")[2].strip(): evidence.yielded(
            path, number, 8
        )
        for number, line in enumerate(lines, 1)
        if line.startswith("        yield")
    }
    assert found == {value: set(kind.split(", ")) for value, kind in KINDS.items()}


COUNTING = """
import sys
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def f():
    yield gen.sleep(0.001)

@gen.coroutine
def main():
    yield f()

def run():
    IOLoop.current().run_sync(main)
"""


CHILD = """
def run_on_new_loop():
    IOLoop().run_sync(main)

if __name__ == "__main__":
    run()
"""

# How a program starts what is recorded, each a file of its own.
STARTS = {
    "by_subprocess": "subprocess.run([sys.executable, 'by_subprocess.py'], check=True)",
    "by_a_shell": "os.system(f'{sys.executable} by_a_shell.py')",
    "spawned": "multiprocessing.get_context('spawn').Process(target=spawned.run).start()",
    "forkserver": (
        "multiprocessing.get_context('forkserver').Process(target=forkserver.run).start()"
    ),
    "thread": "threading.Thread(target=thread.run_on_new_loop).start()",
    "multiprocessing_fork": (
        "multiprocessing.get_context('fork').Process(target=multiprocessing_fork.run).start()"
    ),
    "forked": "forking = os.fork() or (forked.run(), os._exit(1))",
}


def test_processes_and_threads_are_recorded(record, tmp_path):
    for name in STARTS:
        (tmp_path / f"{name}.py").write_text(COUNTING + CHILD)
    # Those that fork come first, while there is a single thread.
    starts = [f"    {start}" for start in reversed(STARTS.values())]
    program = [
        f"import multiprocessing, os, subprocess, sys, threading, {', '.join(STARTS)}",
        'if __name__ == "__main__":',
        *starts,
        "    os.waitpid(forking, 0)",
    ]

    done, recording = record("\n".join(program), folder=tmp_path)

    assert done.stderr == ""
    for name in STARTS:
        _check_counted(recording, name)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_process_is_recorded_to_a_bad_end(record, tmp_path, end):
    (tmp_path / "child.py").write_text(COUNTING + CHILD)

    done, recording = record(
        f"import os, signal, child; child.run(); {end}", folder=tmp_path
    )

    assert done.stderr == ""
    _check_counted(recording, "child")


def _check_counted(recording, name):
    uses = _uses(recording, f"{name}.py")
    assert {function: set(found.places) for function, found in uses.items()} == {
        "f": {"awaited"},
        "main": {"dispatched"},
    }, name


def test_pytest_run_is_recorded(record, tmp_path):
    (tmp_path / "app.py").write_text(COUNTING)
    (tmp_path / "test_app.py").write_text(
        textwrap.dedent(
            """
            from tornado import gen, web
            from tornado.testing import AsyncHTTPTestCase, AsyncTestCase, gen_test
            import app

            class Base(web.RequestHandler):
                def prepare(self):
                    return self.load()

                @gen.coroutine
                def load(self):
                    yield gen.moment

            class Hello(Base):
                @web.addslash
                @gen.coroutine
                def get(self):
                    yield app.f()

                @gen.coroutine
                def on_finish(self):
                    yield gen.moment

            class TestHello(AsyncHTTPTestCase):
                def get_app(self):
                    return web.Application([("/", Hello)])

                def test_get(self):
                    assert self.fetch("/").code == 200

            class TestApp(AsyncTestCase):
                @gen_test
                def test_f(self):
                    assert (yield app.f()) is None
            """
        )
    )

    # By a worker of pytest-xdist, which is a process that the recorded one starts.
    done, recording = record(
        "",
        *["-m", "pytest", "-q", "-p", "xdist", "-n1", "test_app.py"],
        folder=tmp_path,
        name="x.py",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )

    assert "2 passed" in done.stdout
    assert set(_uses(recording)["f"].places) == {"awaited"}
    uses = _uses(recording, "test_app.py")
    assert {name: set(found.places) for name, found in uses.items()} == {
        "Base.load": {"dispatched"},
        "Hello.get": {"dispatched"},
        "Hello.on_finish": {"dropped"},
        "TestApp.test_f": {"dispatched"},
    }
    source = (tmp_path / "test_app.py").read_text()
    line = 1 + source[: source.index("(yield app.f()")].count("\n")
    found = _evidence(recording).yielded(str(tmp_path / "test_app.py"), line, 16)
    assert found == {"coroutine"}


def test_what_tornado_waits_for_is_dispatched(record):
    done, recording = record(
        """
        from tornado import gen, httpclient, tcpclient, tcpserver, web, websocket
        from tornado.httpserver import HTTPServer
        from tornado.ioloop import IOLoop
        from tornado.testing import bind_unused_port
        from gencoro import gen as ours

        class Echo(websocket.WebSocketHandler):
            @gen.coroutine
            def open(self):
                yield gen.moment

            @gen.coroutine
            def on_message(self, message):
                yield self.write_message(message)

            @gen.coroutine
            def on_close(self):
                yield gen.moment

        @web.stream_request_body
        class Upload(web.RequestHandler):
            @gen.coroutine
            def prepare(self):
                yield gen.moment

            @gen.coroutine
            def data_received(self, chunk):
                yield gen.moment

            @ours.coroutine
            def post(self):
                yield gen.moment

        class Server(tcpserver.TCPServer):
            @gen.coroutine
            def handle_stream(self, stream, address):
                yield stream.write(b"x")

        @gen.coroutine
        def producer(write):
            yield write(b"tea")

        @gen.coroutine
        def upload(port):
            yield httpclient.AsyncHTTPClient().fetch(
                f"http://127.0.0.1:{port}/upload",
                method="POST",
                body_producer=producer,
                headers={"Content-Length": "3"},
            )

        @gen.coroutine
        def main():
            application = web.Application([("/", Echo), ("/upload", Upload)])
            for unzips in (True, False):
                sock, port = bind_unused_port()
                HTTPServer(application, decompress_request=unzips).add_socket(sock)
                yield upload(port)
            echo = yield websocket.websocket_connect(f"ws://127.0.0.1:{port}/")
            yield echo.write_message("tea")
            yield echo.read_message()
            echo.close()
            sock, port = bind_unused_port()
            Server().add_socket(sock)
            stream = yield tcpclient.TCPClient().connect("127.0.0.1", port)
            yield stream.read_bytes(1)
            yield gen.sleep(0.1)

        IOLoop.current().run_sync(main)
        """
    )

    assert done.stderr == ""
    uses = {name: set(found.places) for name, found in _uses(recording).items()}
    assert uses.pop("upload") == {"awaited"}
    assert uses.pop("Echo.on_close") == {"dropped"}
    assert set(uses) == {
        "Echo.on_message",
        "Echo.open",
        "Server.handle_stream",
        "Upload.data_received",
        "Upload.post",
        "Upload.prepare",
        "main",
        "producer",
    }
    assert all(found == {"dispatched"} for found in uses.values())


def test_runs_add_up_and_repeat_nothing(record, tmp_path):
    for argument in ("f", "f", "g"):
        done, recording = record(
            COUNTING + "g = f\nx = globals()[sys.argv[1]]\nrun()\n",
            "app.py",
            argument,
            folder=tmp_path,
        )
        assert done.stderr == ""
    lines = recording.read_text().splitlines()

    assert len(set(lines)) == len(lines) == 6


def test_child_process_finds_a_gencoro_beside_the_command(tmp_path):
    (tmp_path / "child.py").write_text(COUNTING + "run()\n")
    (tmp_path / "app.py").write_text(
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, 'child.py'], check=True, cwd={str(tmp_path)!r})\n"
    )
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "gencoro").symlink_to(_root() / "gencoro")
    env = os.environ | {"PYTHONPATH": ""}

    done = subprocess.run(
        [sys.executable, "-m", "gencoro", "run", "--record"]
        + [str(tmp_path / "evidence"), str(tmp_path / "app.py")],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path / "beside",
        env=env,
    )

    assert done.stderr == ""
    assert set(_uses(tmp_path / "evidence", "child.py")["f"].places) == {"awaited"}


def test_other_environment_is_left_alone(record, tmp_path):
    (tmp_path / "child.py").write_text(COUNTING + "run()\n")

    done, recording = record(
        """
        import os, subprocess, sys
        path = os.environ["GENCORO_RUN"].partition(os.pathsep)[2]
        env = os.environ | {"GENCORO_RUN": f"/another{os.pathsep}{path}"}
        subprocess.run([sys.executable, "child.py"], check=True, env=env)
        """,
        folder=tmp_path,
    )

    assert done.stderr == ""
    assert recording.read_text() == f"{HEADER}\n"


def test_many_processes_write_at_once(record, tmp_path):
    functions = "".join(
        f"@gen.coroutine\ndef f_{x}():\n    yield gen.moment\n" for x in range(200)
    )
    done, recording = record(
        f"""
import multiprocessing
{COUNTING}
{functions}
@gen.coroutine
def main():
    for x in range(200):
        yield globals()[f"f_{{x}}"]()

if __name__ == "__main__":
    processes = [multiprocessing.Process(target=run) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
""",
        folder=tmp_path,
    )

    assert done.stderr == ""
    uses = _uses(recording)
    assert [set(uses[f"f_{x}"].places) for x in range(200)] == [{"awaited"}] * 200


def test_recording_holds_no_values_of_the_program(record):
    _, recording = record(
        COUNTING.replace("def f():", "def f(password='tea'):")
        + "f('cake'); print(main, f()); IOLoop.current().run_sync(lambda: f('scone'))"
    )

    lines = [json.loads(line) for line in recording.read_text().splitlines()]

    assert lines[0] == json.loads(HEADER)
    assert {frozenset(line) for line in lines[1:]} == {
        frozenset({"file", "path", "sha256"}),
        frozenset({"call", "use", "at"}),
        frozenset({"yield", "kind"}),
    }
    text = recording.read_text()
    assert not any(value in text for value in ("tea", "cake", "scone", "password"))


def test_columns_may_be_unknown(record):
    done, recording = record(COUNTING + "run()\n", options=("-X", "no_debug_ranges"))

    assert done.stderr == ""
    uses = _uses(recording)
    (place,) = uses["f"].places["awaited"]
    assert place.column is None
    evidence = _evidence(recording)
    assert evidence.yielded(place.path, place.line, 4) == {"coroutine"}


def test_generated_code_is_not_recorded(record):
    generated = "@gen.coroutine\ndef g():\n    yield f()\n"

    done, recording = record(
        COUNTING + f"exec({generated!r})\nIOLoop.current().run_sync(g)\n"
    )

    assert done.stderr == ""
    assert {name: uses.places for name, uses in _uses(recording).items()} == {
        "f": {"awaited": ()}
    }


def test_own_sitecustomize_of_the_program_is_imported_too(record, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys; sys.mine = __file__")
    child = "import sys; print(sys.mine, *sys.path, 'gencoro' in sys.modules)"

    done, _ = record(
        f"""
        import subprocess, sys
        subprocess.run([sys.executable, "-c", {child!r}], check=True)
        """,
        PYTHONPATH=os.pathsep.join([str(own), str(_root())]),
    )

    mine, *path, has_gencoro = done.stdout.split()
    assert mine == str(own / "sitecustomize.py")
    assert not any(folder.endswith("startup") for folder in path)
    assert has_gencoro == "False"


def test_dropped_futures_are_freed_at_once(record):
    done, _ = record(
        COUNTING
        + """
import gc, weakref
gc.disable()

@gen.coroutine
def fails(x):
    yield
    raise KeyError

@gen.coroutine
def check():
    for call in (f, lambda: fails(1)):
        future = call()
        with __import__("contextlib").suppress(KeyError):
            yield future
        ref = weakref.ref(future)
        del future
        yield gen.moment
        print(ref())

IOLoop.current().run_sync(check)
"""
    )

    assert (done.stdout, done.stderr) == ("None\nNone\n", "")


def test_program_goes_on_when_the_file_is_gone(record):
    done, recording = record(
        COUNTING + "import os; os.remove('evidence'); run(); print('ended')\n"
    )

    assert done.stdout == "ended\n"
    assert done.stderr.count("\n") == 1
    assert "No such file" in done.stderr and "recording ends here" in done.stderr
    assert not recording.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [("print('my program')", "is not a recording"), (f"{HEADER}\n{{", ":2 is damaged")],
)
def test_other_files_are_refused_and_left_alone(record, tmp_path, text, message):
    (tmp_path / "evidence").write_text(text)

    done, recording = record(COUNTING + "run()\n", folder=tmp_path)

    assert done.returncode == 3
    assert done.stderr.startswith("gencoro run: --record: ")
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert recording.read_text() == text


def test_folder_that_does_not_exist_is_named(tmp_path):
    (tmp_path / "app.py").write_text("")

    done = subprocess.run(
        [sys.executable, "-m", "gencoro", "run", "--record", "no/evidence", "app.py"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(_root())},
    )

    assert done.returncode == 3
    assert "no/evidence" in done.stderr


def test_program_that_is_not_recorded_runs_nothing_of_it(tmp_path):
    (tmp_path / "app.py").write_text(
        COUNTING
        + "from gencoro.runner import Runner\n"
        + "run()\n"
        + "print(Runner.handle_yield.__module__, f.__code__.co_filename)\n"
    )

    done = subprocess.run(
        [sys.executable, "-m", "gencoro", "run", "app.py"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(_root())},
    )

    assert done.stdout == f"gencoro.runner {_root() / 'gencoro/coroutines.py'}\n"


@pytest.mark.parametrize(("module", "qualname"), sorted(WAITING))
def test_functions_that_wait_exist(module, qualname):
    if qualname.endswith("_deliver_body") and tornado.version_info < (6, 6):
        pytest.skip("new in Tornado 6.6")
    path = importlib.import_module(module).__file__
    code = compile(Path(path).read_text(), path, "exec")

    assert qualname in set(_names_in(code))


def _names_in(code):
    yield code.co_qualname
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
