"""Legacy names in a Python with strict options: gencoro itself causes no warning."""

import linecache
import re

from tests.helpers.legacy import strict_play
from tests.legacy.golden import stage

# What the programs use of each module; the arguments are told by other words.
USED = """
    gen.Arguments gen.Callback gen.MultiYieldPoint gen.Task gen.TracebackFuture gen.Wait
    gen.WaitAll gen.YieldFuture gen.YieldPoint gen.engine concurrent.TracebackFuture
    concurrent.return_future stack_context.ExceptionStackContext
    stack_context.NullContext stack_context.StackContext
    stack_context.StackContextInconsistentError stack_context._state
    stack_context.run_with_stack_context stack_context.wrap
"""

# Where a name is asked for by its text, or an argument is handed on.
INDIRECT = r"hasattr\(|getattr\(|\*\*kwargs|gen\.Task\(work"

# What Tornado and asyncio warn of by themselves, the last one from Python 3.12 on.
FOREIGN = "_current is deprecated|unclosed event loop|There is no current event loop"


def test_golden_programs_warn_at_the_lines_with_legacy_names(script):
    # Without assertions and docstrings.  A warning of gencoro itself would be told too.
    options = ["-OO", "-bb", "-X", "dev"]

    told = script(strict_play.__file__, *options, arguments=["warnings"]).splitlines()

    names = set()
    for one in told:
        found = re.fullmatch(r"(.+):(\d+): (.+?) is legacy: .+", one)
        if found is None:
            # A trace that differs is printed in another form.
            assert re.search(FOREIGN, one), one
            continue
        file, line, used = found.groups()
        names.add(used)
        word = re.search(r"(\w+)(\(\)|=)?( of \w+)?$", used)[1]
        source = linecache.getline(file, int(line))
        assert file.startswith(stage.HERE), one
        assert word in source or re.search(INDIRECT, source), one
    assert set(USED.split()) - names == set()
