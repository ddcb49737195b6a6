"""Nothing of Tornado's removed interface stays without a reason."""

import collections
import functools

import pytest

from gencoro.compat.doctor.conversions import (
    CONVERSIONS,
    IO_LOOP,
    conversion_of,
    reason_of,
)
from gencoro.compat.doctor.rows import ROWS
from gencoro.compat.doctor.scan import Scanner
from gencoro.compat.doctor.uses import use_of
from gencoro.compat.names import TORNADO
from gencoro.porting.converting import convert
from gencoro.porting.fixers.to_coroutine import TO_COROUTINE
from gencoro.porting.reasons import REASONS
from gencoro.porting.selection import Selection
from tests.helpers.fuzzing import some
from tests.helpers.porting.battery import BATTERY, cases

pytestmark = pytest.mark.once

COROUTINE = Selection("coroutine")


def sources_of_rows():
    """Return a small module for each use of each row: the name, its arguments, its import."""
    sources = {}
    for name in TORNADO:
        module, _, own = name.rpartition(".")
        texts = {
            "name": f"import tornado\nthing = {name}\n",
            "import": f"from {module} import {own}\nthing = {own}\n",
            "export": f"from {module} import {own}\n__all__ = ['{own}']\n",
            "callback": f"import tornado\n{name}(1, callback=print)\n",
            "io_loop": f"import tornado\n{name}(1, io_loop=mine)\n",
            "method": f"import tornado\n{module}().{own}(1, callback=print)\n",
        }
        for kind, text in texts.items():
            sources[f"{name}-{kind}.py"] = text.encode()
    return sources


@functools.lru_cache(maxsize=2)
def conversions(name):
    """Return cases of a file of the battery, each with its conversion."""
    return [(case, convert(case.files, COROUTINE)) for case in some(cases(name), 3)]


def silent(sources, conversion):
    """Return the legacy uses that a conversion leaves without a reason."""
    refusals = conversion.as_written(sources).refusals
    refused = {(refusal.file, refusal.line) for refusal in refusals}
    for refusal in refusals:
        if refusal.function is not None:  # its decorators are part of it
            decorators = refusal.function.node.decorator_list
            refused |= {(refusal.file, node.lineno) for node in decorators}
    after = sources | conversion.sources
    scanner = Scanner(list(after))
    found = {
        (path, use.line, use.name)
        for path, source in after.items()
        if path.endswith(".py")
        for use in scanner.scan(source, path)
        if reason_of(use)
    }
    with_reason = {
        (file, name) for file, line, name in found if (file, line) in refused
    }
    return {
        (file, line, name)
        for file, line, name in found
        # One reason is enough for an import and what is done with it.
        if not any(f == file and f"{n}.".startswith(f"{name}.") for f, n in with_reason)
        and (file, line) not in refused
    }


def test_every_row_is_converted_or_has_a_reason():
    sources = sources_of_rows()
    used = {
        use.name
        for source in sources.values()
        for use in Scanner([]).scan(source)
        if reason_of(use)
    }

    assert {name for name in TORNADO if ROWS.is_gone(name)} <= used
    assert len(used) > 400
    assert silent(sources, convert(sources, COROUTINE)) == set()


@pytest.mark.parametrize("name", sorted({p.stem for p in BATTERY.glob("*.txt")}))
def test_every_use_of_the_battery_is_converted_or_has_a_reason(name):
    left = {
        case.name: found
        for case, conversion in conversions(name)
        if (found := silent(case.files, conversion))
    }

    assert left == {}


def test_doctor_names_a_fixer_or_a_reason_for_every_row():
    codes = {reason.code for reason in REASONS.values()}
    fixers = {fixer.code for fixer in TO_COROUTINE}

    for name in TORNADO:
        if ROWS.is_gone(name):
            assert reason_of(use_of(name, 1)) in codes
    assert {*CONVERSIONS.values(), IO_LOOP} <= fixers


def test_doctor_names_a_fixer_for_every_use_that_a_conversion_takes_away():
    taken: set[tuple[str, str]] = set()
    for case, conversion in conversions("to_coroutine"):
        fewer = uses_in(case.files) - uses_in(case.files | conversion.sources)
        taken |= {use for use in fewer if not conversion_of(use_of(use[0], 1, use[1]))}

    assert taken == set()


def uses_in(sources):
    scanner = Scanner(list(sources))
    return collections.Counter(
        (use.name, use.argument)
        for path, source in sources.items()
        for use in scanner.scan(source, path)
        if use.name.startswith("tornado.")
    )
