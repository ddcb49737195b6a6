"""A configuration as a TOML file: one key for each knob, no tables.

Rule: what is wrong in the file is told with the file's name, the key as it stands there,
and the words of TOML.  The knobs are an argument: `crawler_app.config` has them.
"""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from crawler_app.config.option import Knob, is_of_type, kinds_of, require, shown
from crawler_app.errors import ConfigError

__all__ = ["read_config_file"]

WORDS_BY_KIND: Mapping[Any, str] = {
    str: "a string",
    tuple[str, ...]: "a list of strings",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def read_config_file(path: Path | str, knobs: Iterable[Knob]) -> dict[str, Any]:
    """Return the values that a TOML file has for some of the knobs.

    A key is called like its knob's field or option, with hyphens or underscores.  A list
    of one string may be that string.  Paths that are not absolute begin at the file's
    directory, or at home after a ``~``.

    Returns:
        Values by the names of fields; each is one that its knob can have.

    Raises:
        ConfigError: the file cannot be read, a key means nothing or comes twice, or a
            value cannot be.
    """
    knobs = tuple(knobs)
    knob_by_key = _knob_by_key(knobs)
    values: dict[str, Any] = {}
    key_by_field: dict[str, str] = {}
    try:
        for key, value in _parse(path).items():
            knob = _find(key, value, knob_by_key)
            if knob.name in values:
                other = key_by_field[knob.name]
                raise ConfigError(f"{other} and {key} are the same; give one of them")
            key_by_field[knob.name] = key
            values[knob.name] = _read(knob, key, value, Path(path).parent)
    except ConfigError as exc:
        raise ConfigError(f"{path}: {exc}") from None
    return values


def _parse(path: Path | str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror or exc}") from None
    except RecursionError:
        raise ConfigError("is nested too deeply; an option is one key") from None
    except ValueError as exc:  # no TOML, no UTF-8, or a number of 5000 digits
        raise ConfigError(f"is no TOML: {exc}") from None


def _knob_by_key(knobs: tuple[Knob, ...]) -> dict[str, Knob]:
    """Return every name that a knob may have, with hyphens.

    What is the key of one knob and the option of another, as ``cookies`` is, means the
    former.
    """
    by_option = {
        knob.option.removeprefix("--"): knob
        for knob in knobs
        if knob.option != knob.off_option
    }
    by_field = {knob.name.replace("_", "-"): knob for knob in knobs}
    by_key = {knob.key: knob for knob in knobs}
    return by_option | by_field | by_key


def _find(key: str, value: object, knob_by_key: Mapping[str, Knob]) -> Knob:
    name = key.replace("_", "-")
    if name in knob_by_key:
        _refuse_other_meaning(key, value, knob_by_key)
        return knob_by_key[name]
    if isinstance(value, dict):
        raise ConfigError(f"{key!r} is a table; every option is a key by itself")
    for knob in knob_by_key.values():
        if f"--{name}" == knob.off_option:
            raise ConfigError(f"{key} is no key; write `{knob.key} = false`")
    near = difflib.get_close_matches(name, knob_by_key, n=1)
    cure = f"did you mean {near[0]}?" if near else "see gencrawl crawl --help"
    raise ConfigError(f"there is no option {key!r}; {cure}")


def _refuse_other_meaning(
    key: str, value: object, knob_by_key: Mapping[str, Knob]
) -> None:
    """Refuse what would be the file of ``--cookies FILE`` on the command line."""
    name = key.replace("_", "-")
    for other in knob_by_key.values():
        is_other = other.option == f"--{name}" and other is not knob_by_key[name]
        if is_other and isinstance(value, str):
            raise ConfigError(f"{key} must be true or false; did you mean {other.key}?")


def _read(knob: Knob, key: str, value: object, directory: Path) -> object:
    """Return what the knob is set to."""
    read = value
    if knob.is_list:
        texts = [value] if isinstance(value, str) else value
        read = tuple(texts) if isinstance(texts, list) else texts
    if not is_of_type(read, knob.annotation):
        raise ConfigError(_wrong_type(knob, key, value))
    knob.check(read, key)
    return _placed(str(read), key, directory) if knob.is_path and read else read


def _placed(path: str, key: str, directory: Path) -> str:
    """Return where a path leads; ``~`` is home, as in a shell, which sees no file."""
    try:
        return str(directory / Path(path).expanduser())
    except RuntimeError:  # nobody has that name, or no home
        require(key, path, False, "a path, and ~ somebody's home")
        raise


def _wrong_type(knob: Knob, key: str, value: object) -> str:
    kinds = kinds_of(knob.annotation)
    wanted = " or ".join(WORDS_BY_KIND[kind] for kind in kinds if kind in WORDS_BY_KIND)
    if knob.is_secret:
        return f"{key} must be {wanted}"
    write = partial(json.dumps, default=str, ensure_ascii=False)
    return f"{key} is {shown(value, write)}; it must be {wanted}"
