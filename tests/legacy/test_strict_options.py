"""All that is legacy, in a Python with strict options: gencoro itself gives no offence."""

import pathlib
import pkgutil
import re

import pytest

import gencoro
from tests.helpers.legacy import all_features

ALL_FEATURES = pathlib.Path(all_features.__file__)

# What the program uses of each module; the arguments are told by other words.
USED = """
    gen.Arguments gen.Callback gen.MultiYieldPoint gen.Task gen.TracebackFuture gen.Wait
    gen.WaitAll gen.YieldFuture gen.YieldPoint gen.engine concurrent.TracebackFuture
    concurrent.return_future stack_context.ExceptionStackContext
    stack_context.NullContext stack_context.StackContext
    stack_context.StackContextInconsistentError stack_context._state
    stack_context.run_with_stack_context stack_context.wrap
"""

MODULES = [
    "gencoro",
    *(
        module.name
        for module in pkgutil.walk_packages(gencoro.__path__, "gencoro.")
        if "pytest" not in module.name
    ),
]


def test_warnings_of_all_features_are_at_the_lines_that_use_them(script):
    told = script(ALL_FEATURES, "-W", "always").splitlines()

    lines = ALL_FEATURES.read_text().splitlines()
    names = set()
    for one in told:
        place, used = re.fullmatch(r"(.+:\d+): (.+?) is legacy: .+", one).groups()
        file, _, line = place.rpartition(":")
        names.add(used)
        word = re.search(r"(\w+)(\(\)|=)?( of \w+)?$", used)[1]
        source = lines[int(line) - 1]
        assert file == str(ALL_FEATURES)
        # A positional argument, and a method that is called by another name.
        assert word in source or "PeriodicCallback(tick, 1, loop)" in source, one
    assert set(USED.split()) - names == set()


def test_gencoro_itself_may_not_use_what_is_deprecated(script):
    errors = [f"-Werror::DeprecationWarning:{module}" for module in MODULES]

    told = script(ALL_FEATURES, "-Wignore", *errors)

    assert told == ""


def test_gencoro_itself_may_give_no_warning_at_all(script):
    errors = [f"-Werror::Warning:{module}" for module in MODULES]

    told = script(ALL_FEATURES, "-Wignore", *errors)

    assert told == ""


@pytest.mark.parametrize(
    "options",
    [["-O"], ["-OO"], ["-bb"], ["-X", "dev"], ["-X", "dev", "-bb", "-O"]],
    ids=" ".join,
)
def test_all_features_work_with_strict_options(script, options):
    told = script(ALL_FEATURES, *options, "-Wignore::DeprecationWarning:__main__")

    assert told == ""
