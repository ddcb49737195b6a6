"""The pictures and the recordings in docs/story/traces are those of the programs today.

Compared are what happens in which order, and the code that is shown; not the lines, which
each Python counts a little differently.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

STORY = Path(__file__).parents[2] / "docs/story"
TRACES = STORY / "traces"
PICTURES = ["one_yield.svg", "three_naps.svg", "two_fetches.svg"]
OUTDATED = "run `python docs/story/traces/record.py`"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Record everything again; return the folder."""
    folder = tmp_path_factory.mktemp("traces")
    command = [sys.executable, "-W", "error", TRACES / "record.py", folder]
    done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return folder


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_current(recorded, name):
    drawn = (recorded / name).read_text(encoding="utf-8")

    assert (TRACES / name).read_text(encoding="utf-8") == drawn, OUTDATED


def test_page_is_current(recorded):
    shown, again = (structure(folder / "stepper.html") for folder in (TRACES, recorded))

    assert shown == again, OUTDATED


def structure(path):
    page = path.read_text(encoding="utf-8")
    data = re.search(
        r'<script type="application/json".*?>(.*?)</script>', page, re.DOTALL
    )
    return [
        (program["title"], program["functions"], list(events(program)))
        for program in json.loads(data[1])
    ] + [page.replace(data[1], "")]


def events(program):
    """Yield what happens between the lines, and what is in the queue then."""
    for turn, at_s, _, note, queue, waiting, states in program["steps"]:
        texts = [program["texts"][number] for number in [*queue, *waiting, *states]]
        if program["texts"][note]:
            yield turn, at_s, program["texts"][note], texts


def test_examples_of_labels():
    command = [sys.executable, "-m", "doctest", TRACES / "labels.py"]

    done = subprocess.run(command, check=False, capture_output=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", PICTURES)
def test_picture_says_what_it_shows(name):
    root = ElementTree.parse(TRACES / name).getroot()

    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert root.get("role") == "img"
    assert root.get("aria-labelledby").split() == [
        title.get("id"),
        description.get("id"),
    ]
    # The text in boxes and of callbacks is in the description too.
    assert title.text == texts[0]
    words = set(re.findall(r"\w+", description.text + "The loop calls Runner of"))
    assert set(re.findall(r"\w+", " ".join(texts[1:]))) <= words


def test_three_naps_end_in_the_order_of_their_times():
    picture = (TRACES / "three_naps.svg").read_text(encoding="utf-8")
    description = re.search(r"<desc.*?>(.*?)</desc>", picture)[1]

    ended = re.findall(r"(\w+\(\d?\)): goes on, ends", description)
    assert ended == ["nap(1)", "nap(2)", "nap(3)", "main()"]
