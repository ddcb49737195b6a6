"""The configuration file of the working directory, ``gencrawl.toml``.

It is read without being named, and may be another person's, for example from an unpacked
archive.  Rule: it cannot refer to anything outside its directory, and cannot send the user's
secrets elsewhere.  A file named with ``--config`` may set everything.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from crawler_app.base.config.option import Option
from crawler_app.base.config.toml import read_config_file
from crawler_app.base.errors import ConfigError
from crawler_app.base.storage.objects import is_url

__all__ = ["FOUND_NAME", "find_config_file", "read_found_file"]

FOUND_NAME = "gencrawl.toml"


def find_config_file() -> Path | None:
    """Return the file of the working directory; None if there is none.

    Parent directories are not searched.
    """
    path = Path(FOUND_NAME)
    return path if path.is_file() else None


def read_found_file(
    path: Path, options: Iterable[Option], given: Collection[str]
) -> dict[str, Any]:
    """Return the values that the file of the working directory sets.

    Args:
        given: Names of the fields that are set on the command line.

    Raises:
        ConfigError: the file is invalid, or sets what only a named file may set.
    """
    options = tuple(options)
    values = read_config_file(path, options)
    for option in options:
        if option.name in values and option.name not in given:
            reason = _refusal(option, values[option.name], path.absolute().parent)
            if reason:
                raise ConfigError(_complaint(path, f"{option.key} {reason}"))
    _require_own_seeds(path, values, options, given)
    return values


def _refusal(option: Option, value: Any, directory: Path) -> str:
    """Return why a value is not taken from a file that was found; empty if it is."""
    if option.is_path and is_url(value):
        return "would send what is fetched to a store of its own"
    if option.name == "ca_file" and value:
        return "could vouch for every site"
    if option.name == "login_file" and value:
        return "could send what is in your environment to a URL of its own"
    if option.is_path and value:
        is_inside = Path(value).resolve().is_relative_to(directory.resolve())
        return "" if is_inside else f"is {value}, which is outside its directory"
    if option.name == "proxy" and value:
        return "would see every request"
    if option.name == "frontier" and value:
        return "would send what is found to a server of its own"
    if option.name == "deny_private" and value is False:
        return "= false would open your own network to the site"
    return ""


def _require_own_seeds(
    path: Path,
    values: Mapping[str, Any],
    options: Iterable[Option],
    given: Collection[str],
) -> None:
    """Check that no secret of the user is sent to URLs of the file."""
    if "seeds" not in values or "seeds" in given:
        return
    if "auth" not in given and ":" not in values.get("auth", ":"):
        raise ConfigError(_complaint(path, "auth asks for a password for its own URLs"))
    for option in options:
        is_sent = option.is_secret or option.name in ("cookie_file", "client_cert")
        if option.name in given and is_sent:
            raise ConfigError(
                _complaint(path, f"its start URLs would be sent your {option.flag}")
            )


def _complaint(path: Path, reason: str) -> str:
    return (
        f"{path}: {reason}; to trust this file, name it with --config {path}, or ignore "
        "it with --no-config"
    )
