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
PICTURES = sorted(path.name for path in TRACES.glob("*.svg"))
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "text, ground",
    [
        ("text", "ground"),
        ("quiet", "ground"),
        ("quiet", "pause"),
        ("text", "runs"),
        ("in", "ends"),
    ],
)
def test_text_has_the_contrast_that_wcag_asks_for(text, ground, scheme):
    style = ElementTree.parse(TRACES / PICTURES[0]).getroot().find(f"{SVG}style").text
    light, dark = style.split("@media")
    rules = light if scheme == "light" else light + dark
    fills = dict(re.findall(r"(\w+) \{[^}]*?fill: #(\w{6})", rules))

    dim, bright = sorted(luminance(fills[name]) for name in (text, ground))

    assert (bright + 0.05) / (dim + 0.05) >= 4.5


def luminance(color):
    """Return the relative luminance of WCAG 2.2."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (byte / 255 for byte in bytes.fromhex(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    "name, order",
    [
        (
            "three_naps.svg",
            ["nap(1): ends", "nap(2): ends", "nap(3): ends", "main(): ends"],
        ),
        (
            "one_cancel.svg",
            [
                "fetch(/sky): error",
                "fetch(/sky): ends",
                "main(): error",
                "main(): ends",
            ],
        ),
    ],
)
def test_order_is_that_of_the_coroutines(name, order):
    root = ElementTree.parse(TRACES / name).getroot()
    description = root.find(f"{SVG}desc").text.replace("'", "")

    done = re.findall(
        r"(\w+\([/\w]*\)): (starts|goes on|error)((?:, \w+)*)", description
    )
    words = [
        f"{who}: {word}" for who, *both in done for word in "".join(both).split(", ")
    ]

    assert [word for word in words if word.endswith(("error", ": ends"))] == order
