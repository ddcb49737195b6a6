"""The configuration of the converter."""

import pytest

from gencoro.porting.config import BadConfig, find_config

TOML = '[tool.gencoro.convert]\nexclude = ["a/*", "b/*"]\nstrict = true\n'
CFG = (
    "[gencoro:convert]\nexclude =\n    a/*\n    b/*\nstrict = true\nkeep-public = no\n"
)


def test_pyproject(tmp_path):
    (tmp_path / "pyproject.toml").write_text(TOML)

    assert find_config(str(tmp_path)) == {"exclude": ["a/*", "b/*"], "strict": True}


def test_setup_cfg(tmp_path):
    (tmp_path / "setup.cfg").write_text(CFG)

    assert find_config(str(tmp_path)) == {
        "exclude": ["a/*", "b/*"],
        "strict": True,
        "keep_public": False,
    }


def test_file_of_an_outer_folder_counts_if_the_inner_has_no_section(tmp_path):
    (tmp_path / "pyproject.toml").write_text(TOML)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\n")

    assert find_config(str(inner))["strict"] is True


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "pyproject.toml",
            "[tool.gencoro.convert]\nstrikt = true\n",
            "no option 'strikt'",
        ),
        (
            "pyproject.toml",
            "[tool.gencoro.convert]\nstrict = 1\n",
            "must be true or false",
        ),
        (
            "pyproject.toml",
            "[tool.gencoro.convert]\nskip = 'x'\n",
            "must be a list of texts",
        ),
        ("pyproject.toml", "[tool", "is not TOML"),
        ("setup.cfg", "[gencoro:convert]\nstrict = maybe\n", "Not a boolean"),
    ],
)
def test_wrong_option_is_an_error(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)

    with pytest.raises(BadConfig, match=said):
        find_config(str(tmp_path))
