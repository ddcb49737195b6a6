"""gencoro.deprecated: which line a warning names, and how often it appears."""

import sys
import types
import warnings

import pytest

from gencoro.deprecated import warn_legacy


@pytest.fixture
def caught():
    """Catch every warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def _module(name, source, file):
    """Make a module of its own, which calls ``below``."""
    module = types.ModuleType(name)
    exec(compile(source, file, "exec"), vars(module))  # noqa: S102
    return module


def test_line_is_that_of_the_first_frame_that_is_not_ours(caught):
    def use():
        ours.use()  # the line

    inner = _module(
        "gencoro.deep.inner", "def use(): warn('x', 'y')", "gencoro/inner.py"
    )
    ours = _module("gencoro", "def use(): below()", "gencoro/__init__.py")
    inner.warn, ours.below = warn_legacy, inner.use

    use()

    [warning] = caught
    assert (warning.filename, warning.lineno) == (
        __file__,
        use.__code__.co_firstlineno + 1,
    )


@pytest.mark.parametrize("name", ["gencoro_app", "gencorox.views", "my.gencoro", ""])
def test_module_that_is_only_called_alike_is_not_ours(caught, name):
    theirs = _module(name, "\n\ndef use(): below('x', 'y')", "theirs.py")
    theirs.below = warn_legacy

    theirs.use()

    assert [(w.filename, w.lineno) for w in caught] == [("theirs.py", 3)]


def test_frame_without_a_module_counts_as_user_code(caught):
    names = {"warn": warn_legacy, "__builtins__": {}}

    exec(compile("warn('x', 'y')", "nowhere.py", "exec"), names)  # noqa: S102

    assert [(w.filename, w.lineno) for w in caught] == [("nowhere.py", 1)]


def test_line_is_told_once_while_the_filters_stay(caught):
    for _ in range(3):
        warn_legacy("a", "b"), warn_legacy("c", "d")

    # Both are on one line.
    assert [str(w.message)[0] for w in caught] == ["a", "c"]


def test_line_is_told_again_when_the_filters_change(caught):
    for category in (UserWarning, ImportWarning):
        warn_legacy("a", "b")
        warnings.simplefilter("ignore", category)

    assert len(caught) == 2


def test_error_is_raised_each_time():
    raised = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(DeprecationWarning, match="a is legacy: b"):
                warn_legacy("a", "b")
            raised += 1

    assert raised == 2


def test_filters_see_the_users_module_and_not_ours(caught):
    warnings.filterwarnings("error", module="gencoro")
    warn_legacy("a", "b")
    warnings.filterwarnings("error", module=rf"{__name__}\Z")
    with pytest.raises(DeprecationWarning):
        warn_legacy("c", "d")

    assert len(caught) == 1


def test_use_of_a_line_that_was_ignored_is_told_where_it_is_not(caught):
    def use():
        warn_legacy("a", "b")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        use()
    use()

    assert len(caught) == 1


def test_users_own_registry_is_left_as_it_was(caught):
    vars(sys.modules[__name__]).pop("__warningregistry__", None)
    for _ in range(2):
        warn_legacy("a", "b")
        for _ in range(2):
            warnings.warn("mine", UserWarning, stacklevel=1)

    assert [w.category for w in caught].count(UserWarning) == 4
