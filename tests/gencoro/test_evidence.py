"""Evidence is read, added up, and related to the sources that are to be converted."""

import hashlib
import json

import pytest

from gencoro.evidence import (
    HEADER,
    Evidence,
    EvidenceError,
    Ignored,
    SeenPlace,
    id_of,
)

SOURCE = b"the source of app.py\n"
APP = "/srv/shop/app.py"


@pytest.fixture
def record(tmp_path):
    """Write a recording; return its path."""

    def record(*lines, name="evidence"):
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join([HEADER, *texts, ""]))
        return path

    return record


def _file(path=APP, source=SOURCE):
    sha256 = hashlib.sha256(source).hexdigest()
    return {"file": id_of(path, sha256), "path": path, "sha256": sha256}


def _call(use, *at, file=None, line=3, name="fetch"):
    file = (file or _file())["file"]
    return {
        "call": [file, line, name],
        "use": use,
        "at": [file, *at] if at else None,
    }


def _yield(kind, line=9, column=4, file=None):
    return {"yield": [(file or _file())["file"], line, column], "kind": kind}


def test_uses_of_several_runs_add_up(record):
    runs = [
        record(_file(), _call("awaited", 9, 8), _yield("coroutine"), name="one"),
        record(
            HEADER,
            _file(),
            _call("awaited", 9, 8),
            _call("kept", 20, 4),
            _yield("none"),
            name="two",
        ),
    ]

    evidence = Evidence.load(runs, {APP: SOURCE})

    uses = evidence.of(APP, 3, "fetch")
    assert uses.places == {
        "awaited": (SeenPlace(APP, 9, 8),),
        "kept": (SeenPlace(APP, 20, 4),),
    }
    assert not uses.at_once
    assert evidence.yielded(APP, 9, 4) == {"coroutine", "none"}
    assert evidence.ignored == []


def test_uses_that_are_at_once_are_told(record):
    run = record(
        _file(),
        _call("awaited", 9, 8),
        _call("together", 9, None),
        _call("dispatched"),
    )

    uses = Evidence.load([run], {APP: SOURCE}).of(APP, 3, "fetch")

    assert uses.at_once
    assert uses.places["dispatched"] == ()


def test_what_was_not_reached_has_no_evidence(record):
    evidence = Evidence.load(
        [record(_file(), _call("awaited", 9, 8))], {APP: SOURCE, "/srv/b.py": b""}
    )

    assert evidence.of(APP, 4, "fetch") is None
    assert evidence.of("/srv/b.py", 3, "fetch") is None
    assert evidence.yielded(APP, 9, 4) == frozenset()


def test_yield_without_a_column_is_found_by_its_line(record):
    run = record(_file(), _yield("dict of none", column=None))

    evidence = Evidence.load([run], {APP: SOURCE})

    assert evidence.yielded(APP, 9, 4) == {"dict of none"}


@pytest.mark.parametrize(
    "path",
    ["/home/me/shop/app.py", "/elsewhere/app.py", "/v/site-packages/shop/app.py"],
)
def test_source_is_found_again_where_it_has_moved(record, path):
    run = record(_file(), _call("kept", 9, 8))

    evidence = Evidence.load([run], {path: SOURCE, "/home/me/shop/other.py": b""})

    assert evidence.of(path, 3, "fetch").places == {"kept": (SeenPlace(path, 9, 8),)}


def test_equal_files_are_told_apart_by_their_folders(record):
    one, two = _file("/old/one/app.py"), _file("/old/two/app.py")
    run = record(one, two, _call("kept", file=one), _call("awaited", file=two))

    evidence = Evidence.load(
        [run], {"/new/one/app.py": SOURCE, "/new/two/app.py": SOURCE}
    )

    assert set(evidence.of("/new/one/app.py", 3, "fetch").places) == {"kept"}
    assert set(evidence.of("/new/two/app.py", 3, "fetch").places) == {"awaited"}
    alone = Evidence.load([run], {"/new/two/app.py": SOURCE})
    assert set(alone.of("/new/two/app.py", 3, "fetch").places) == {"awaited"}


def test_copies_in_several_environments_add_up(record):
    one, two = _file("/v1/shop/app.py"), _file("/v2/shop/app.py")
    run = record(one, two, _call("kept", file=one), _call("awaited", file=two))

    uses = Evidence.load([run], {APP: SOURCE}).of(APP, 3, "fetch")

    assert set(uses.places) == {"awaited", "kept"}


def test_file_that_may_be_either_of_two_is_ignored(record):
    recorded = _file("/old/app.py")

    evidence = Evidence.load(
        [record(recorded, _call("kept", file=recorded))],
        {"/new/one/app.py": SOURCE, "/new/two/app.py": SOURCE},
    )

    (ignored,) = evidence.ignored
    assert ignored.path == "/old/app.py"
    assert "/new/one/app.py and /new/two/app.py" in ignored.reason
    assert evidence.of("/new/one/app.py", 3, "fetch") is None


@pytest.mark.parametrize("path", [APP, "/home/me/shop/app.py"])
def test_evidence_of_a_changed_file_is_ignored(record, path):
    run = record(_file(), _call("kept", 9, 8))

    evidence = Evidence.load([run], {path: SOURCE + b"more"})

    assert evidence.of(path, 3, "fetch") is None
    assert evidence.ignored == [
        Ignored(path, "it has changed since it was recorded; record it again")
    ]


def test_old_evidence_is_not_mentioned_when_there_is_newer(record):
    old = _file(source=b"before")
    run = record(old, _call("kept", file=old), _file(), _call("awaited", 9, 8))

    evidence = Evidence.load([run], {APP: SOURCE})

    assert set(evidence.of(APP, 3, "fetch").places) == {"awaited"}
    assert evidence.ignored == []


def test_file_of_another_package_is_not_taken_for_a_changed_one(record):
    other = _file("/v/site-packages/other/app.py", b"another package")

    evidence = Evidence.load([record(other, _call("kept", file=other))], {APP: SOURCE})

    assert evidence.ignored == []


def test_place_in_a_file_that_is_not_converted_is_shown_as_recorded(record):
    caller = _file("/srv/cron.py", b"from shop import app")
    call = _call("dropped")
    call["at"] = [caller["file"], 7, 0]

    evidence = Evidence.load([record(_file(), caller, call)], {APP: SOURCE})

    uses = evidence.of(APP, 3, "fetch")
    assert uses.places == {"dropped": (SeenPlace("/srv/cron.py", 7, 0),)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a recording"),
        ("{}", "is not a recording"),
        ("\x00\x01", "is not a recording"),
        ('{"gencoro evidence": 2}', "another version of gencoro"),
        (HEADER + "\n{", r":2 is damaged"),
        (HEADER + "\n[]", r":2 is damaged"),
        (HEADER + "\n3", r":2 is damaged"),
        (HEADER + '\n{"colour": 3}', r":2 is damaged"),
        (HEADER + '\n{"gencoro evidence": 2}', r":2 is damaged"),
        (HEADER + '\n{"file": "a", "path": 1, "sha256": "b"}', r":2 is damaged"),
        (HEADER + '\n{"yield": ["a", 1, 2], "kind": "none"}', r":2 names a file"),
        (HEADER + '\n{"yield": ["a", "1", 2], "kind": "none"}', r":2 is damaged"),
        (HEADER + '\n{"yield": ["a", 1, 2], "kind": "tea"}', r":2 is damaged"),
        (HEADER + '\n{"call": ["a", 1, "f"], "use": "kept"}', r":2 is damaged"),
        (
            HEADER + '\n{"call": ["a", 1, "f"], "use": "tea", "at": null}',
            r":2 is damaged",
        ),
    ],
)
def test_other_and_damaged_files_are_refused_by_name(tmp_path, text, message):
    path = tmp_path / "evidence"
    path.write_text(text)

    with pytest.raises(EvidenceError, match=f"{path}.*{message}"):
        Evidence.load([path], {})
