"""``python -m gencoro run``: a legacy program, run as Python would run it."""

import os
import subprocess
import sys
import textwrap

import pytest

from gencoro.__main__ import main

LEGACY = """
    from tornado import gen, ioloop

    def ask(question, callback):
        ioloop.IOLoop.instance().add_callback(callback, question + " Yes.")

    @gen.engine
    def main():
        print((yield gen.Task(ask, "Tea?")))
        ioloop.IOLoop.instance().stop()

    ioloop.IOLoop.instance().add_callback(main)
    ioloop.IOLoop.instance().start()
"""


@pytest.fixture
def run(tmp_path):
    """Run ``python -m gencoro run`` in a folder; return what came of it."""

    def run(*args, options=()):
        return subprocess.run(
            [sys.executable, *options, "-m", "gencoro", *args],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": _root()},
        )

    return run


def _root():
    return os.path.dirname(os.path.dirname(__import__("gencoro").__file__))


def _status_of_main(argv):
    """Call the command line in this process; return the exit status."""
    try:
        return main(argv)
    except SystemExit as ended:
        return ended.code


def _write(path, source):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return str(path)


def _outcome(done):
    return done.returncode, done.stdout, done.stderr


def test_legacy_script_runs_unmodified(run, tmp_path):
    _write(tmp_path / "app.py", LEGACY)

    assert _outcome(run("run", "app.py")) == (0, "Tea? Yes.\n", "")


def test_script_sees_what_python_would_show_it(run, tmp_path):
    _write(tmp_path / "lib" / "beside.py", "text = 'beside me'")
    _write(
        tmp_path / "lib" / "app.py",
        """
        import sys, beside
        mine = 42
        print(__name__, sys.argv, beside.text, __file__)
        print(sys.modules["__main__"].mine)
        """,
    )
    path = os.path.join("lib", "app.py")

    done = run("run", path, "--port=80", "-m", "doctor")

    plain = subprocess.run(
        [sys.executable, path, "--port=80", "-m", "doctor"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert _outcome(done) == (0, plain.stdout, "")
    assert plain.stdout.startswith(f"__main__ ['{path}', '--port=80', '-m', 'doctor']")


def test_module_and_package_run(run, tmp_path):
    _write(tmp_path / "shop" / "__init__.py", "")
    _write(tmp_path / "shop" / "__main__.py", "from shop.cart import main; main()")
    _write(
        tmp_path / "shop" / "cart.py",
        """
        import sys
        from tornado.gen import Task
        def main():
            print(Task.__name__, sys.argv[1:])
        if __name__ == "__main__":
            main()
        """,
    )

    assert _outcome(run("run", "-m", "shop", "-v")) == (0, "Task ['-v']\n", "")
    assert _outcome(run("run", "-m", "shop.cart", "x")) == (0, "Task ['x']\n", "")


def test_folder_runs(run, tmp_path):
    _write(tmp_path / "shop" / "__main__.py", "import cart")
    _write(tmp_path / "shop" / "cart.py", "from tornado.gen import Task; print('ok')")

    assert _outcome(run("run", "shop")) == (0, "ok\n", "")


def test_error_is_shown_without_our_frames(run, tmp_path):
    _write(tmp_path / "app.py", "def main():\n    1 / 0\nmain()\n")

    done = run("run", "app.py")

    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.count("File ") == 2
    assert "gencoro" not in done.stderr
    assert "runpy" not in done.stderr


def test_syntax_error_is_shown(run, tmp_path):
    _write(tmp_path / "app.py", "print 'Python 2'\n")

    done = run("run", "app.py")

    assert done.returncode == 1
    assert "SyntaxError" in done.stderr
    assert "Traceback" not in done.stderr


def test_exit_status_is_the_programs(run, tmp_path):
    _write(tmp_path / "app.py", "import sys; sys.exit(7)")

    assert run("run", "app.py").returncode == 7


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["run", "missing.py"], "there is no file 'missing.py'"),
        (["run"], "FILE"),
        (["run", "-m"], "expected one argument"),
        (["nonsense"], "COMMAND is 'nonsense'; it must be run or doctor"),
    ],
)
def test_mistakes_get_a_sentence(capsys, args, sentence):
    assert _status_of_main(args) == 2
    assert sentence in capsys.readouterr().err


def test_module_that_is_not_there(run):
    done = run("run", "-m", "no_such_module")

    error = f"{sys.executable}: No module named no_such_module\n"
    assert _outcome(done) == (1, "", error)


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["doctor", "-h"]])
def test_help(capsys, command):
    assert _status_of_main(command) == 0
    printed = capsys.readouterr()
    assert (printed.out[:24], printed.err) == ("usage: python -m gencoro", "")


def test_autoreload_restarts_with_compat(run, tmp_path):
    """An app with debug=True starts anew when a file of it changes."""
    _write(
        tmp_path / "app.py",
        """
        import os, sys
        from tornado import autoreload, ioloop
        from tornado.gen import Task
        print("started", sys.argv[1:], flush=True)
        if os.path.exists("restarted"):
            sys.exit(3)
        open("restarted", "w").close()
        autoreload.start(check_time=10)
        loop = ioloop.IOLoop.instance()
        loop.call_later(0.1, os.utime, __file__, (1, 1))
        loop.start()
        """,
    )

    done = run("run", "app.py", "--debug", options=["-W", "ignore"])

    started = "started ['--debug']\n"
    assert _outcome(done) == (3, started * 2, "")


def test_processes_of_multiprocessing_run_legacy_code_too(run, tmp_path):
    source = """
        import multiprocessing
        from tornado.gen import Task

        def work(number):
            return Task.__name__, number * 2

        if __name__ == "__main__":
            for method in ("fork", "forkserver", "spawn"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(pool.map(work, [21]))
    """
    _write(tmp_path / "app.py", source)
    _write(tmp_path / "shop" / "__init__.py", "")
    _write(tmp_path / "shop" / "work.py", source)

    for args in (["app.py"], ["-m", "shop.work"]):
        assert _outcome(run("run", *args)) == (0, "[('Task', 42)]\n" * 3, "")


def test_other_child_processes_run_legacy_code_too(run, tmp_path):
    _write(
        tmp_path / "app.py",
        """
        import subprocess, sys
        legacy = "from tornado.gen import Task; print(Task.__name__)"
        for options in ([], ["-S"], ["-E"]):
            subprocess.call([sys.executable, *options, "-c", legacy], stderr=-3)
        modern = "import json, sys; print([n for n in sys.modules if 'gencoro' in n])"
        subprocess.call([sys.executable, "-c", modern])
        """,
    )

    assert _outcome(run("run", "app.py")) == (0, "Task\n[]\n", "")


def test_builtins_can_be_patched(run, tmp_path):
    """As code for Python 2 and 3 does."""
    _write(tmp_path / "app.py", "__builtins__.unicode = str; print(unicode('x'))")

    assert _outcome(run("run", "app.py")) == (0, "x\n", "")


def test_ctrl_c_shows_the_programs_frames_only(run, tmp_path):
    _write(
        tmp_path / "app.py",
        """
        import os, signal
        def main():
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()
        main()
        """,
    )

    done = run("run", "app.py")

    assert done.returncode == -2
    assert done.stderr.count("File ") == 2
