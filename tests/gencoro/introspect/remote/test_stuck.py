"""Stuck processes, examined by signal and by script."""

import pytest

from .conftest import BEAT, GENCORO, PREPARED, needs_scripts, on_linux

pytestmark = on_linux

MIXED = """
async def native(future):
    await wait_for([wait_for(future)])

async def main():
    asyncio.get_running_loop().call_later(0, ready)  # after the first step of the Task
    await asyncio.create_task(native(asyncio.Future()), name="inner")

asyncio.run(main())
"""


def test_tree_has_coroutines_of_both_kinds_and_tasks(start_each_way, gencoro):
    target = start_each_way(MIXED)

    tree = gencoro("pstree", target.pid).tree()

    inner = f"wait_for() {target.at('yield yielded')}"
    main = target.at(
        'await asyncio.create_task(native(asyncio.Future()), name="inner")'
    )
    assert tree.splitlines() == [
        f"main() {main} (Task-1)",
        f"-> native() {target.at('await wait_for([wait_for(future)])')} (inner)",
        f"-> {inner}: list, 0 of 1 done",
        f"'-- [0] {inner}: a Future",
    ]


def test_list_has_a_line_for_each(start_each_way, gencoro):
    target = start_each_way(MIXED)

    head, *lines = gencoro("ps", target.pid).tree().splitlines()

    assert head.split() == ["KIND", "NAME", "COROUTINE", "AT", "WAITS", "FOR"]
    line = target.at("yield yielded").removeprefix("at ")
    assert sorted(line.split()[:3] for line in lines) == [
        ["Task", "Task-1", "main"],
        ["Task", "inner", "native"],
        ["coroutine", "wait_for", line],
        ["coroutine", "wait_for", line],
    ]


def test_json_has_what_the_tree_and_the_list_have(start_each_way, gencoro):
    target = start_each_way(MIXED)

    graph = gencoro("pstree", target.pid, "--json").json()
    listed = gencoro("ps", target.pid, "--json").json()

    assert graph["process"]["pid"] == listed["process"]["pid"] == target.pid
    [thread] = graph["threads"]
    assert (thread["name"], thread["runs"]) == ("MainThread", [])
    nodes = {node["id"]: node for node in graph["nodes"]}
    [main] = [node for node in nodes.values() if node["name"] == "Task-1"]
    functions, node = [], main
    while node["waits_for"]:
        functions += [call["function"] for call in node["calls"]]
        node = nodes[node["waits_for"][0]["id"]]
    assert functions == ["main", "native", "wait_for", "wait_for"]
    assert {(one["kind"], one["name"]) for one in listed["coroutines"]} == {
        ("coroutine", None),
        ("Task", "Task-1"),
        ("Task", "inner"),
    }


@pytest.mark.parametrize(
    "step",
    [
        "for _ in iter(int, ready()): pass",
        "ready(); time.sleep(3600)",
        "ready(); select.select([0], [], [])",
        "ready(); sys.stdin.read()",
        "poll = select.poll(); poll.register(0); poll.unregister(0); ready(); poll.poll()",
    ],
)
def test_blocked_loop_tells_what_blocks_it(start_each_way, gencoro, step):
    target = start_each_way(f"""
        def crunch():
            {step}

        @gen.coroutine
        def main():
            yield gen.moment
            crunch()

        async def run():
            await main()

        asyncio.run(run())
    """)

    ended = gencoro("pstree", target.pid)

    assert ended.status == 0, ended.err
    _, running, tree = ended.out.rstrip("\n").split("\n\n")
    assert running.splitlines() == [
        "MainThread runs:",
        f"main() {target.at('crunch()')}",
        f"-> crunch() {target.at(step)}",
    ]
    assert f"main() {target.at('crunch()')}: running" in tree


def test_loops_of_several_threads_are_told_apart(start, gencoro):
    target = start(
        """
        async def main():
            asyncio.get_running_loop().call_soon_threadsafe(started.release)
            await wait_for(asyncio.Future())

        started = threading.Semaphore(0)
        threads = [
            threading.Thread(target=lambda: asyncio.run(main()), name=name, daemon=True)
            for name in ("first", "sec\\x1b[31mond")
        ]
        for thread in threads:
            thread.start()
            started.acquire()
        ready()
        threads[0].join()
        """,
        GENCORO,
        PREPARED,
    )

    ended = gencoro("pstree", target.pid)

    assert ended.status == 0, ended.err
    paragraphs = ended.out.rstrip("\n").split("\n\n")
    titles = [one.partition(" ")[0] for one in paragraphs[1:]]
    assert titles[0] == "MainThread"
    assert set(titles[1:3]) == {"first", r"sec\x1b[31mond"}
    assert [one.splitlines()[0] for one in paragraphs[4:]] == [
        "_UnixSelectorEventLoop on first:",
        r"_UnixSelectorEventLoop on sec\x1b[31mond:",
    ]


# What an unprepared process waits in: the first runs no Python code until an event comes.
WAITS = [
    pytest.param("asyncio.run(main(ready))", id="loop"),
    pytest.param("lock.acquire(); ready(); lock.acquire()", id="lock"),
]


@needs_scripts
@pytest.mark.parametrize("wait", WAITS)
def test_process_that_runs_no_python_code_names_other_tools(start, gencoro, wait):
    target = start(
        f"""
        async def main(ready):
            asyncio.get_running_loop().call_soon(ready)
            await asyncio.Future()

        lock = threading.Lock()
        {wait}
        """
    )

    ended = gencoro("pstree", target.pid, "--timeout", 0.5)

    assert ended.status == 1
    assert ended.out == ""
    assert "executed no Python code in time" in ended.err
    assert f"`python -m asyncio pstree {target.pid}` shows its Tasks" in ended.err
    assert f"`py-spy dump --pid {target.pid}`" in ended.err


@needs_scripts
def test_process_without_gencoro_names_another_tool(start, gencoro):
    target = start("ready(); time.sleep(3600)", BEAT)

    ended = gencoro("pstree", target.pid)

    assert ended.status == 1
    assert "has not imported gencoro; `python -m asyncio pstree" in ended.err


def test_names_that_a_terminal_would_obey_are_escaped(start_each_way, gencoro):
    target = start_each_way(r"""
        async def main():
            asyncio.current_task().set_name("\x1b[31mcafé\n\udc80")
            asyncio.get_running_loop().call_soon(ready)
            await asyncio.Future()

        main.__code__ = main.__code__.replace(co_qualname="mäin\x1b\"", co_filename="é\x9b")
        main.__qualname__ = "main"
        asyncio.run(main())
    """)

    for command in ["pstree", "ps"]:
        ended = gencoro(command, target.pid, env={"PYTHONIOENCODING": "ascii"})
        assert ended.status == 0, ended.err
        assert ended.out.replace("\n", "").isprintable()
        assert r"\x1b[31mcaf\xe9\n\udc80" in ended.out
        assert r"m\xe4in\x1b" in ended.out
    line = int(target.at("await asyncio.Future()").rpartition(":")[2])
    [task] = gencoro("ps", target.pid, "--json").json()["coroutines"]
    assert task["name"] == "\x1b[31mcafé\n\udc80"
    call = {"function": 'mäin\x1b"', "file": "é\x9b", "line": line, "place": "é\x9b"}
    assert task["calls"] == [call]


def test_more_coroutines_than_the_limit_are_counted(start_each_way, gencoro):
    target = start_each_way("""
        async def main():
            asyncio.get_running_loop().call_soon(ready)
            await gen.multi([wait_for(asyncio.Future()) for _ in range(2000)])

        asyncio.run(main())
    """)

    ended = gencoro("pstree", target.pid, "--limit", 100)

    assert ended.status == 0, ended.err
    assert "more coroutines and Tasks were not examined" in ended.out
    main, first, _, more, *_ = ended.out.split("\n\n")[2].splitlines()
    assert main.endswith("(Task-1): list, 0 of 2000 done")
    assert first.startswith("|-- [0] wait_for() at ") and first.endswith(": a Future")
    assert "more like wait_for() at " in more or "more like" in ended.out
    assert len(ended.out.splitlines()) < 20


def test_process_without_standard_streams(start_each_way, gencoro):
    target = start_each_way("""
        async def main():
            asyncio.get_running_loop().call_soon(close)
            await wait_for(asyncio.Future())

        def close():
            ready()
            sys.stdout = sys.stderr = None
            for file in range(3):
                os.close(file)

        asyncio.run(main())
    """)
    target.process.stderr.read()  # until it is closed

    assert "wait_for() " in gencoro("pstree", target.pid).tree()
