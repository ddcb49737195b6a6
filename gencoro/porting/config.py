"""Reads the configuration of ``convert`` from pyproject.toml or setup.cfg.

Rule: the first folder from the current one upwards whose file has a section counts; an
option of the command line overrides it.

Used by `gencoro.porting.command`.
"""

import configparser
import os
import tomllib
from typing import Any

from gencoro.errors import GencoroError

__all__ = ["BadConfig", "find_config"]

# The options that may be configured, and their types.
_OPTIONS: dict[str, type] = {
    "evidence": list,
    "exclude": list,
    "keep-public": bool,
    "only-functions": str,
    "skip": list,
    "strict": bool,
}
_SECTION = "gencoro:convert"


class BadConfig(GencoroError):
    """A file has a wrong option."""


def find_config(folder: str) -> dict[str, Any]:
    """Return the configured options, by their names with underscores.

    Raises:
        BadConfig: an option does not exist, or has a wrong value.
    """
    folder = os.path.abspath(folder)
    while True:
        for name, read in (("pyproject.toml", _of_toml), ("setup.cfg", _of_cfg)):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                section = read(path)
                if section is not None:
                    return _checked(path, section)
        parent = os.path.dirname(folder)
        if parent == folder:
            return {}
        folder = parent


def _of_toml(path: str) -> dict[str, Any] | None:
    with open(path, "rb") as opened:
        try:
            data = tomllib.load(opened)
        except tomllib.TOMLDecodeError as exc:
            raise BadConfig(f"{path} is not TOML: {exc}") from None
    found = data.get("tool", {}).get("gencoro", {}).get("convert")
    return found if isinstance(found, dict) else None


def _of_cfg(path: str) -> dict[str, Any] | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
        if not parser.has_section(_SECTION):
            return None
        section = parser[_SECTION]
        return {
            name: section.getboolean(name)
            if _OPTIONS.get(name) is bool
            else value.split()
            if _OPTIONS.get(name) is list
            else value
            for name, value in section.items()
        }
    except (configparser.Error, ValueError) as exc:
        raise BadConfig(f"{path}: {exc}") from None


def _checked(path: str, section: dict[str, Any]) -> dict[str, Any]:
    for name, value in section.items():
        wanted = _OPTIONS.get(name)
        if wanted is None:
            raise BadConfig(
                f"{path}: there is no option {name!r} of convert; there are "
                f"{', '.join(_OPTIONS)}"
            )
        is_list_of_text = wanted is not list or all(isinstance(v, str) for v in value)
        if not isinstance(value, wanted) or not is_list_of_text:
            kind = {bool: "true or false", list: "a list of texts", str: "a text"}[
                wanted
            ]
            raise BadConfig(f"{path}: {name} is {value!r}; it must be {kind}")
    return {name.replace("-", "_"): value for name, value in section.items()}
