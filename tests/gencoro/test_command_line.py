"""``python -m gencoro``: usage errors in one line, and its version."""

import pytest

import gencoro
from gencoro.__main__ import MISUSED, main


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("docto x", "COMMAND is 'docto'; it must be run or doctor or convert or pst"),
        (
            "doctor x --format jsn",
            "--format is 'jsn'; it must be text or json; did you",
        ),
        ("convert", "the following arguments are required: PATH; see `python -m genco"),
        (
            "convert x --paln",
            "unrecognized arguments: --paln; see `python -m gencoro --",
        ),
    ],
)
def test_usage_error_is_one_line(capsys, words, complaint):
    with pytest.raises(SystemExit) as ended:
        main(words.split())

    assert ended.value.code == MISUSED
    shown = capsys.readouterr().err
    assert f": {complaint}" in shown
    assert shown.count("\n") == 1


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"gencoro {gencoro.__version__}\n"
