"""docs/story/runner.py does what gencoro's Runner does, and lacks what its page says."""

import os
import re
import subprocess
import sys
import types

from gencoro import gen
from tests.gencoro.test_differential import _played_as_in_tornado
from tests.helpers.gencoro.comparing import compare_random
from tests.helpers.gencoro.playing import play
from tests.helpers.gencoro.programs import written
from tests.helpers.story import STORY, load

ORDINARY_PROGRAMS = 300


def readers_gen():
    """Return the names of `gencoro.gen`, with the coroutines of the reader's Runner."""
    runner = load("runner")
    names = {name: getattr(gen, name) for name in gen.__all__}
    # To this Runner only None is a moment.
    own = {"coroutine": runner.coroutine, "Return": runner.Return, "moment": None}
    return types.SimpleNamespace(**names | own)


def test_a_random_program_does_the_same_with_both_runners(pytestconfig):
    readers = readers_gen()

    def compare(choices):
        # It does not wait for the Futures of executors.
        program = written(choices).replace("job(7)", "ready(7)")

        theirs = play(program, readers)
        ours = play(program, gen)

        if ours != theirs:
            ours = _played_as_in_tornado(program)
        assert ours == theirs, f"they differ on\n{program}"

    compare_random(pytestconfig, ORDINARY_PROGRAMS, compare)


PAGE = (STORY / "7_coroutine.rst").read_text(encoding="utf-8")

# Tests of gencoro, by their file and name.
PASSED = [
    "coroutines::test_body_runs_in_one_copy_of_the_callers_context",
    "coroutines::test_methods_of_every_kind_work",
    "coroutines::test_partial_of_a_generator_function_works",
    "coroutines::test_plain_function_may_return_a_native_coroutine",
    "coroutines::test_return_without_a_value_returns_none",
    "coroutines::test_stop_iteration_in_a_body_is_a_runtime_error",
    "coroutines::test_wrapper_may_return_what_is_no_native_coroutine",
    "runner::test_done_futures_are_taken_in_place_without_recursion",
    "runner::test_interrupt_before_the_first_yield_reaches_the_caller",
    "waiting::test_result_that_was_given_up_comes_again",
    "waiting::test_results_that_were_returned_are_let_go",
    "yieldables::test_awaitable_object_is_waited_for",
]

# The page has a table of what the real Runner adds, each with a test.
FAILED = re.findall(r"\w+::test_\w+", PAGE)


OUTCOME = re.compile(r"^(PASSED|FAILED) ([^\s\[]+)", re.MULTILINE)


def node(name):
    file, test = name.split("::")
    return f"tests/gencoro/test_{file}.py::{test}"


def test_readers_runner_passes_a_dozen_tests_and_fails_those_of_the_page():
    tests = map(node, PASSED + FAILED)
    plugins = ["no:cacheprovider", "xdist", "gencoro.pytest_plugin", "use_runner"]
    options = ["-q", "-rA", "--tb=no", *(f"-p{name}" for name in plugins)]
    path = os.pathsep.join([str(STORY), *sys.path])

    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        check=False,  # some are to fail
        capture_output=True,
        text=True,
        cwd=STORY.parents[1],
        env=os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )

    found = {name: set() for name in map(node, PASSED + FAILED)}
    for outcome, name in OUTCOME.findall(run.stdout):
        found[name].add(outcome)
    assert [name for name in PASSED if found[node(name)] != {"PASSED"}] == []
    assert [name for name in FAILED if "FAILED" not in found[node(name)]] == []
    assert (len(PASSED), len(FAILED)) == (12, 9)
