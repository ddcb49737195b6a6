"""docs/story/check.py: refuses each stage as it stands, and accepts a solution."""

import pathlib
import re
import subprocess

import pytest

from tests.helpers.programs_in_one import run_in_one
from tests.helpers.scripts import start_python
from tests.helpers.story import STAGES, STORY

ROOT = STORY.parents[1]
SOLUTIONS = pathlib.Path(__file__).parent / "solutions"

# Where the exercise does not change the program of the stage.
FILES = {"6": "task", "7": "runner"}

PROBLEMS = {
    "1": "fetch waits for the server to close the connection",
    "2": "still alive after the crawl: ",
    "3": "not fetched a second time: broken http://",
    "4": "not fetched a second time: broken http://",
    "5": "Queue takes no max_items yet",
    "6": "Task has no method `cancel` yet",
    "7": "`finally` was run in: none",
    "8": "a page was fetched that robots.txt forbids",
}


def test_stage_as_it_stands_does_not_solve_its_exercise():
    stages = {stage[0]: STORY / f"{FILES.get(stage[0], stage)}.py" for stage in STAGES}

    ended = run_in_one([STORY / "check.py", *each] for each in stages.items())

    for number, each in zip(stages, ended, strict=True):
        assert each.output.startswith(PROBLEMS[number]), number
        assert each.status == 1, number


def test_solution_passes():
    solutions = {number: SOLUTIONS / f"solution_{number}.py" for number in PROBLEMS}

    ended = run_in_one([STORY / "check.py", *each] for each in solutions.items())

    for number, each in zip(solutions, ended, strict=True):
        expected = (0, f"exercise {number}: passed\n")
        assert (each.status, each.output) == expected, each.errors


def test_unknown_exercise_is_told_how_to_ask():
    process = start_python(STORY / "check.py", "9", "x.py", stderr=subprocess.PIPE)

    assert "check.py NUMBER FILE" in process.communicate()[1]
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("page", "exercise"), [("index", "1"), *((stage, stage[0]) for stage in STAGES)]
)
def test_commands_of_a_page_name_programs_that_exist(page, exercise):
    text = (STORY / f"{page}.rst").read_text(encoding="utf-8")

    programs = set(re.findall(r"python ((?:docs/story|benchmarks)/\w+\.py)", text))

    assert {each for each in programs if not (ROOT / each).exists()} == set()
    assert re.findall(r"check\.py (\d)", text) == [exercise]
