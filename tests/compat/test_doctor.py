"""The doctor's output and exit status for files, folders and packages."""

import io
import json
import os
import sys
import time

import pytest

from gencoro.compat.doctor import ALL_SERVED, BAD_TARGET, NOT_SERVED, doctor

SERVED = (
    "from tornado import gen\n\n@gen.engine\ndef get(self):\n    yield gen.Task(f)\n"
)
UNSERVED = "import tornado.database\n"
MODERN = "from tornado import gen\n\n@gen.coroutine\ndef f():\n    yield gen.sleep(1)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def see(capsys):
    """Have the doctor look; return what he returns, and what he prints."""

    def look(target, **options):
        status = doctor(str(target), **options)
        return status, capsys.readouterr().out

    return look


def write(folder, source_by_path):
    for name, source in source_by_path.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)


def test_all_is_served(folder, see):
    write(folder, {"app.py": SERVED})

    assert see("app.py") == (
        ALL_SERVED,
        """\
Served by gencoro.compat:

tornado.gen.Task  (Tornado 2.1 to 5.1, 1 use)
    by hand: yield the call of a coroutine, or of a function that returns a Future; see 'gen.engine, gen.Task' in docs/porting.rst
    convert: GC105, where it is certain
    app.py:5

tornado.gen.engine  (Tornado 2.1 to 5.1, 1 use)
    by hand: decorate it with gen.coroutine, and return what it passed to its callback; see 'gen.engine, gen.Task' in docs/porting.rst
    app.py:3

1 file, 2 legacy names in 2 places: all are served
""",
    )


def test_not_all_is_served(folder, see):
    write(folder, {"app.py": SERVED, "db.py": UNSERVED})

    status, text = see(".")

    assert status == NOT_SERVED
    assert text.startswith(
        """\
Not served by gencoro.compat:

tornado.database  (Tornado 2.0 to 2.4, 1 use)
    use the package torndb, its successor
    ./db.py:1

Served by gencoro.compat:
"""
    )
    assert text.endswith("2 files, 3 legacy names in 3 places: 1 not served\n")


def test_nothing_is_found(folder, see):
    write(folder, {"app.py": MODERN})

    assert see("app.py") == (
        ALL_SERVED,
        "1 file: no legacy names found\n",
    )


def test_unknown_name_is_not_served(folder, see):
    write(folder, {"app.py": "from tornado.gen import nonsense\n"})

    status, text = see("app.py")

    assert status == NOT_SERVED
    assert "tornado.gen.nonsense  (unknown, 1 use)" in text
    assert "neither today's Tornado nor gencoro.compat has this name" in text


def test_argument_is_told(folder, see):
    write(folder, {"app.py": "import tornado.iostream\ns.read_bytes(1, callback=f)\n"})

    status, text = see("app.py")

    assert status == ALL_SERVED
    assert "tornado.iostream.BaseIOStream.read_bytes(callback=)  (Tornado" in text


def test_file_that_does_not_parse_is_told_with_its_line(folder, see):
    write(folder, {"old.py": "import tornado\nprint 'hello'\n"})

    status, text = see("old.py")

    assert status == NOT_SERVED
    assert "Not checked:\n    old.py:2: " in text
    assert "old.py:2: this is Python 2, to be converted first: Missing paren" in text
    assert text.endswith("found; 1 file not checked\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_cannot_be_read_is_told(folder, see):
    write(folder, {"secret.py": SERVED})
    (folder / "secret.py").chmod(0)

    assert see("secret.py")[0] == NOT_SERVED


def test_pipe_is_left_out(folder, see):
    os.mkfifo(folder / "pipe.py")

    status, text = see(".")

    assert status == ALL_SERVED
    assert "pipe.py" not in text


def test_link_that_leads_nowhere_is_told(folder, see):
    (folder / "gone.py").symlink_to(folder / "nowhere.py")

    status, text = see(".")

    assert status == NOT_SERVED
    assert "    ./gone.py: No such file or directory\n" in text


def test_few_places_are_told_or_all(folder, see):
    write(folder, {"app.py": "from tornado import gen\n" + "gen.Task(f)\n" * 5})

    few, everything = see("app.py")[1], see("app.py", show_all=True)[1]

    assert "app.py:4\n    and 2 more\n" in few
    assert "app.py:4\n    app.py:5\n    app.py:6\n" in everything
    assert "(Tornado 2.1 to 5.1, 5 uses)" in few


def test_json_has_it_all(folder, see):
    write(
        folder,
        {
            "app.py": SERVED,
            "db.py": UNSERVED,
            "old.py": "print 1",
            "s.py": "s.read_bytes(1)",
        },
    )

    status, text = see(".", as_json=True)

    told = json.loads(text)
    assert status == NOT_SERVED
    assert told["files"] == 4
    assert [name["name"] for name in told["names"]] == [
        "tornado.database",
        "tornado.gen.Task",
        "tornado.gen.engine",
    ]
    assert told["names"][0] == {
        "name": "tornado.database",
        "argument": None,
        "first": "2.0",
        "last": "2.4",
        "is_served": False,
        "instead": "use the package torndb, its successor",
        "note": None,
        "convert": None,
        "by_hand": None,
        "places": [{"file": "./db.py", "line": 1}],
    }
    [unreadable] = told["unreadable"]
    assert (unreadable["file"], unreadable["line"]) == ("./old.py", 1)


def test_loop_of_another_thread_is_told_with_the_cure(folder, see):
    work = "from tornado.ioloop import IOLoop\ndef work(): IOLoop.current().stop()\n"
    start = "import work\ndef start(executor):\n    executor.submit(work.work)\n"
    write(folder, {"work.py": work, "start.py": f"import tornado.web\n{start}"})

    text = see(".")[1]

    # The function is not wrong in itself: the place is where the thread gets it.
    assert [line.strip() for line in text.splitlines() if ".py" in line] == [
        "./start.py:4"
    ]
    assert "IOLoop.current() on another thread  (Tornado 3.0 to 4.5, 1 use)" in text
    assert "pass the loop to the thread" in text


def test_folder_is_read_in_order_without_what_is_not_its_own(folder, see):
    write(folder, {"b/c.py": UNSERVED, "b/a.py": UNSERVED, "a/z.py": UNSERVED})
    write(folder, {"venv/lib/x.py": UNSERVED, ".git/hook.py": UNSERVED})
    (folder / "venv" / "pyvenv.cfg").touch()
    (folder / "b" / "text.txt").write_text(UNSERVED)

    text = see(".", show_all=True)[1]

    assert [line.strip() for line in text.splitlines() if ".py" in line] == [
        "./a/z.py:1",
        "./b/a.py:1",
        "./b/c.py:1",
    ]


def test_scripts_without_a_suffix_are_read(folder, see):
    shebang = "#!/usr/bin/env python\n"
    write(folder, {"run": shebang + UNSERVED, "notes": UNSERVED, "run.txt": shebang})

    text = see(".", show_all=True)[1]

    assert "./run:2" in text
    assert "notes" not in text


RE_EXPORTED = {
    "app/__init__.py": "",
    "app/compat.py": (
        "from tornado import gen\nfrom tornado.web import *\n"
        "try:\n    from tornado.stack_context import wrap\n"
        "except ImportError:\n    wrap = None\n"
    ),
    "app/base.py": (
        "from . import compat\nfrom .handlers import nothing\n"
        "class Base(compat.RequestHandler):\n"
        "    def write(self, data, callback=None): pass\n"
        "    @compat.gen.coroutine\n"
        "    def load(self): pass\n"
    ),
    "app/handlers/__init__.py": "from app.compat import *\n",
    "app/handlers/pages.py": (
        "from app.handlers import asynchronous, wrap\n"
        "from app.base import Base as B\n"
        "from ..compat import gen as g\n"
        "class Page(B):\n"
        "    @asynchronous\n"
        "    @g.engine\n"
        "    def get(self):\n"
        "        self.flush(callback=wrap(f))\n"
        "        self.write('x', callback=f)\n"
        "        self.load(callback=f)\n"
        "        self.nonsense(callback=f)\n"
    ),
    "app/parser.py": "def parse(): pass\n",
    "app/formatter.py": "from . import parser\nparser.parse()\n",
    "app/mistaken.py": "from .parser import compat\ncompat.gen.Task\n",
}


def test_modules_of_the_project_are_seen_through(folder, see):
    write(folder, RE_EXPORTED)

    told = json.loads(see("app", as_json=True)[1])

    places = {
        (place["line"], name["name"], name["argument"])
        for name in told["names"]
        for place in name["places"]
    }
    assert {place["file"] for n in told["names"] for place in n["places"]} == {
        "app/handlers/pages.py"
    }
    assert places == {
        (5, "tornado.web.asynchronous", None),
        (6, "tornado.gen.engine", None),
        (8, "tornado.web.RequestHandler.flush", "callback"),
        (10, "tornado.gen.coroutine", "callback"),
    }


def test_installed_packages_are_seen_through(folder, see, monkeypatch):
    write(folder, {"site/legacykit/__init__.py": "from tornado import gen\n"})
    write(folder, {"app.py": "from legacykit import gen\n# tornado\ngen.Task(f)\n"})
    monkeypatch.syspath_prepend(str(folder / "site"))

    text = see("app.py")[1]

    assert (
        "tornado.gen.Task  (Tornado 2.1 to 5.1, 1 use)\n"
        "    by hand: yield the call of a coroutine, or of a function that returns a Future; "
        "see 'gen.engine, gen.Task' in docs/porting.rst\n"
        "    convert: GC105, where it is certain\n    app.py:3\n"
    ) in text


def test_project_whose_modules_import_each_other_is_quick(folder, see):
    handlers = "".join(
        f"class Page{n}(Base{n % 7}):\n    @asynchronous\n    def get(self):\n"
        f"        self.client{n}.fetch(url, callback=self.on_{n})\n"
        for n in range(125)
    )
    bases = "".join(f"class Base{n}(RequestHandler): pass\n" for n in range(7))
    sources = {
        f"app/m{n}.py": f"from .m{n + 1} import *\n{handlers}" for n in range(20)
    }
    sources["app/m20.py"] = f"from tornado.web import *\nfrom .m0 import *\n{bases}"
    write(folder, {"app/__init__.py": "", **sources})
    begin = time.thread_time()

    text = see("app")[1]

    assert time.thread_time() - begin < 15  # it takes one second for these 10,000 lines
    assert "tornado.web.asynchronous  (Tornado 2.0 to 5.1, 2500 uses)" in text


def test_packages_that_cannot_be_found_are_left_out(folder, see):
    # Relative imports that lead nowhere, packages without files, and a file without lines.
    source = "import nowhere.one, test.x.y.z\nfrom .... import a\nfrom . import *\n"
    write(folder, {"empty/x/y.txt": "", "empty.py": "", "app.py": source + SERVED})

    status, text = see(".")

    assert status == ALL_SERVED
    assert text.endswith("2 files, 2 legacy names in 2 places: all are served\n")


def test_what_is_not_tornados_is_told(folder, see):
    source = SERVED + "type(f) is gen.Future\nimport os\nos.errno, run(async=1)\n"
    write(folder, {"app.py": source})

    status, text = see("app.py")

    assert status == NOT_SERVED
    assert text.startswith(
        """\
Not served by gencoro.compat:

async or await as a name  (Python to 3.6, 1 use)
    rename it: it is a keyword since Python 3.7
    app.py:8

os.errno  (Python to 3.6, 1 use)
    import errno
    app.py:8

Served by gencoro.compat, with a difference:

type(...) is tornado.concurrent.Future  (Tornado 3.0 to 4.5, 1 use)
    this is false for some Futures, such as that of TCPClient.connect; use isinstance
    app.py:6

Served by gencoro.compat:
"""
    )


def test_package_is_found_and_not_imported(folder, see, monkeypatch):
    write(folder, {"legacypkg/__init__.py": "raise SystemExit('imported')"})
    write(folder, {"legacypkg/sub/__init__.py": "", "legacypkg/sub/mod.py": SERVED})
    monkeypatch.syspath_prepend(str(folder))

    for target in ("legacypkg", "legacypkg.sub", "legacypkg.sub.mod"):
        status, text = see(target)
        assert status == ALL_SERVED
        assert "    legacypkg/sub/mod.py:3\n" in text
    assert not any(name.startswith("legacypkg") for name in sys.modules)


def test_package_in_several_folders_is_found(folder, see, monkeypatch):
    write(folder, {"one/legacyspace/a.py": SERVED, "two/legacyspace/b.py": UNSERVED})
    monkeypatch.syspath_prepend(str(folder / "one"))
    monkeypatch.syspath_prepend(str(folder / "two"))

    status, text = see("legacyspace")

    assert status == NOT_SERVED
    assert text.endswith("2 files, 3 legacy names in 3 places: 1 not served\n")


@pytest.mark.parametrize("has_top_level", [True, False])
def test_distribution_is_found_whose_module_has_another_name(
    folder, see, monkeypatch, has_top_level
):
    write(folder, {"site/legacymod.py": SERVED})
    info = folder / "site" / "Legacy_Dist-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Legacy-Dist\n")
    if has_top_level:
        (info / "top_level.txt").write_text("legacymod\n")
    else:
        (info / "RECORD").write_text("legacymod.py,,\nLegacy_Dist.txt,,\n")
    monkeypatch.syspath_prepend(str(folder / "site"))

    status, text = see("legacy-dist")

    assert status == ALL_SERVED
    assert "    site/legacymod.py:3\n" in text
    assert "legacymod" not in sys.modules


def test_file_wins_over_a_package_of_its_name(folder, see):
    (folder / "json").write_text(UNSERVED)

    assert see("json")[0] == NOT_SERVED


@pytest.mark.parametrize(
    "target",
    [
        "nowhere.py",
        "no/where",
        "nosuchmodule",
        "json.nosuch",
        "sys",
        "a b",
        "",
        "..x",
        "-",
    ],
)
def test_bad_target_is_told(folder, target, capsys):
    assert doctor(target) == BAD_TARGET

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"doctor: {target!r}")
    assert told.err.count("\n") == 1


def test_what_is_printed_fits_where_it_is_printed(folder, see):
    write(folder, {"caf\xe9\x1b.py": SERVED})
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")

    assert doctor(".", out) == ALL_SERVED

    assert b"./caf\\xe9\\x1b.py:5" in out.buffer.getvalue()


def test_it_tells_the_same_where_compat_is_installed(folder, see, compat):
    write(folder, {"app.py": SERVED})
    import tornado.gen

    assert tornado.gen.Task
    assert see("app.py")[0] == ALL_SERVED
    assert see("tornado.stack_context")[0] == BAD_TARGET
