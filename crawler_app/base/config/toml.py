"""Configuration files in TOML: one key for each option.

Rule: an error names the file and the key as it is written there, and uses TOML's terms.
The options are an argument; `crawler_app.base.config` defines them.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from crawler_app.base.config.option import (
    REQUIRED,
    Option,
    is_of_type,
    kinds_of,
    options_of,
    require,
    shown,
)
from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import read_limited
from crawler_app.base.storage.objects import is_url
from crawler_app.base.text.suggesting import did_you_mean

__all__ = ["parse_toml", "read_config_file", "read_into", "read_table"]

T = TypeVar("T")

# A hundred thousand start URLs.
MAX_FILE_BYTES = 16 * 2**20

# A frequent slip: max-time = 5m.
BARE_UNIT = re.compile(r"^[\w-]+ *= *[0-9.]+ *[A-Za-z]+ *(?:#|\r?$)", re.MULTILINE)
UNIT_CURE = '; write a value with a unit in quotes, such as "5m"'

WORDS_BY_KIND: Mapping[Any, str] = {
    str: "a string",
    tuple[str, ...]: "a list of strings",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def read_config_file(path: Path | str, options: Iterable[Option]) -> dict[str, Any]:
    """Return the values that a TOML file without tables sets, as `read_table` does.

    Raises:
        ConfigError: the file cannot be read, a key is unknown or repeated, or a value is
            not allowed.
    """
    try:
        return read_table(parse_toml(path), options, Path(path).parent)
    except ConfigError as exc:
        raise ConfigError(f"{path}: {exc}") from None


def read_table(
    table: Mapping[str, object],
    options: Iterable[Option],
    directory: Path,
    cure: str = "; see gencrawl crawl --help",
) -> dict[str, Any]:
    """Return the values that a table of a file sets.

    A key is the name of a field or of a flag, with hyphens or underscores.  A list of one
    string may be given as that string.  Relative paths are relative to the directory;
    ``~`` is the home directory.

    Args:
        cure: What an error adds about a key that is like none.

    Returns:
        Checked values by field name.

    Raises:
        ConfigError: a key is unknown or repeated, or a value is not allowed.
    """
    option_by_key = _option_by_key(tuple(options))
    values: dict[str, Any] = {}
    key_by_field: dict[str, str] = {}
    for key, value in table.items():
        option = _find(key, value, option_by_key, cure)
        if option.name in values:
            other = key_by_field[option.name]
            raise ConfigError(f"{other} and {key} are the same; give one of them")
        key_by_field[option.name] = key
        values[option.name] = _read(option, key, value, directory)
    return values


def read_into(kind: type[T], table: Mapping[str, object], directory: Path) -> T:
    """Return a dataclass of options with the values that a table sets, as `read_table` does.

    Raises:
        ConfigError: also if an option is missing.
    """
    options = options_of(kind)
    keys = ", ".join(each.key for each in options)
    values = read_table(table, options, directory, f"; the keys are {keys}")
    for each in options:
        if each.default is REQUIRED and not values.get(each.name):
            raise ConfigError(f"{each.key} is missing")
    return kind(**values)


def parse_toml(path: Path | str) -> dict[str, Any]:
    """Return the keys and tables of a file.

    Raises:
        ConfigError: it cannot be read, or is not valid TOML.
    """
    text = ""
    try:
        text = read_limited(path, MAX_FILE_BYTES).decode("utf-8-sig")
        return tomllib.loads(text)
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror or exc}") from None
    except RecursionError:
        raise ConfigError("is nested too deeply; an option is one key") from None
    except ValueError as exc:  # invalid TOML or UTF-8, or a number of 5000 digits
        cure = UNIT_CURE if BARE_UNIT.search(text) else ""
        raise ConfigError(f"is not valid TOML: {exc}{cure}") from None


def _option_by_key(options: tuple[Option, ...]) -> dict[str, Option]:
    """Map every name of an option, with hyphens, to the option.

    If a name is the key of one option and the flag of another, as ``cookies`` is, the key
    wins.
    """
    by_flag = {
        option.flag.removeprefix("--"): option for option in options if option.flag
    }
    by_field = {option.name.replace("_", "-"): option for option in options}
    by_key = {option.key: option for option in options}
    return by_flag | by_field | by_key


def _find(
    key: str, value: object, option_by_key: Mapping[str, Option], cure: str
) -> Option:
    name = key.replace("_", "-")
    if name in option_by_key:
        _refuse_other_meaning(key, value, option_by_key)
        return option_by_key[name]
    if isinstance(value, dict):
        raise ConfigError(f"{key!r} is a table; every option is a key by itself")
    for option in option_by_key.values():
        if f"--{name}" == option.off_flag:
            raise ConfigError(f"{key} is not a key; write `{option.key} = false`")
    cure = did_you_mean(name, option_by_key) or cure
    raise ConfigError(f"there is no option {key!r}{cure}")


def _refuse_other_meaning(
    key: str, value: object, option_by_key: Mapping[str, Option]
) -> None:
    """Raise ConfigError if a key means another option on the command line.

    ``--cookies FILE`` is `cookie_file`, but the key ``cookies`` is a switch.
    """
    name = key.replace("_", "-")
    for other in option_by_key.values():
        is_other = other.flag == f"--{name}" and other is not option_by_key[name]
        if is_other and isinstance(value, str):
            raise ConfigError(f"{key} must be true or false; did you mean {other.key}?")


def _read(option: Option, key: str, value: object, directory: Path) -> object:
    """Return the checked value of a key, converted to the type of the field."""
    read = value
    if option.is_list:
        texts = [value] if isinstance(value, str) else value
        read = tuple(texts) if isinstance(texts, list) else texts
    elif option.unit and isinstance(value, str):
        read = option.parse(value, key, _write)
    if not is_of_type(read, option.annotation):
        raise ConfigError(_wrong_type(option, key, value))
    option.check(read, key)
    is_path = option.is_path and read and not is_url(str(read))
    return _placed(str(read), key, directory) if is_path else read


def _placed(path: str, key: str, directory: Path) -> str:
    """Return an absolute path; expand ``~``, which no shell does in a file."""
    try:
        return str(directory / Path(path).expanduser())
    except RuntimeError:  # no such user, or no home directory
        require(key, path, False, "a path whose ~ is an existing home directory")
        raise


def _wrong_type(option: Option, key: str, value: object) -> str:
    kinds = kinds_of(option.annotation)
    wanted = " or ".join(WORDS_BY_KIND[kind] for kind in kinds if kind in WORDS_BY_KIND)
    if option.is_secret:
        return f"{key} must be {wanted}"
    if option.unit:
        wanted = option.unit.noun
    return f"{key} is {shown(value, _write)}; it must be {wanted}"


def _write(value: object) -> str:
    """Format a value nearly as in TOML."""
    return json.dumps(value, default=str, ensure_ascii=False)
