"""Questions about each coroutine."""

import pytest

from gencoro.porting.conversion import convert
from gencoro.porting.interactive import Asking, Quit

SOURCE = b"""\
from tornado import gen

@gen.coroutine
def one(unknown):
    yield unknown()

@gen.coroutine
def two():
    yield gen.sleep(1)

@gen.coroutine
def three():
    yield gen.sleep(1)
"""


def _ask(answers):
    questions, shown = [], []

    def ask(question):
        questions.append(question)
        return answers.pop(0)

    conversion = convert({"m.py": SOURCE}, is_wanted=Asking(ask, shown.append))
    names = [d.function.name for d in conversion.converted]
    return names, questions, "".join(shown)


def test_each_function_is_asked_about_with_its_diff():
    names, questions, shown = _ask(["y", "n", "yes"])

    assert names == ["one", "three"]
    assert questions == [f"Convert {n}? [y/n/a/q] " for n in ("one", "two", "three")]
    assert "+async def one(unknown):\n" in shown
    assert "m.py:5: `unknown()` is awaited" in shown


def test_all_asks_no_more():
    names, questions, _ = _ask(["n", "a"])

    assert names == ["two", "three"]
    assert len(questions) == 2


def test_other_answer_is_explained_and_asked_again():
    names, questions, shown = _ask(["what", "y", "n", "n"])

    assert names == ["one"]
    assert questions[0] == questions[1]
    assert "y: convert it; n: leave it" in shown


def test_quit_and_the_end_of_the_input_change_nothing():
    with pytest.raises(Quit):
        _ask(["y", "q"])

    def ask(_question):
        raise EOFError

    with pytest.raises(Quit):
        convert({"m.py": SOURCE}, is_wanted=Asking(ask, lambda text: None))


def test_declined_function_is_left_for_that_reason():
    conversion = convert({"m.py": SOURCE}, is_wanted=lambda _decision, _source: False)

    assert {d.stays[0].reason for d in conversion.left} == {"declined"}
    assert conversion.sources == {}
