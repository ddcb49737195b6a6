"""Command-line options of a crawl, and how they are merged with a file.

Rule: the command line takes precedence over the file, and the file over the defaults.  A
list is replaced as a whole.
"""

import argparse
import getpass
from pathlib import Path
from typing import Any

from crawler_app.config import CrawlConfig
from crawler_app.config.option import Option, kinds_of, options_of
from crawler_app.config.toml import read_config_file
from crawler_app.errors import ConfigError

__all__ = ["add_options", "config_of", "read_options", "values_of"]

OPTIONS = options_of(CrawlConfig)


def add_options(parser: argparse.ArgumentParser, *, is_new: bool = True) -> None:
    """Add all configuration options, and ``--config``; their default is None.

    Args:
        is_new: Whether the crawl is new.  Otherwise only the options that ``resume`` may
            change are added.

    >>> parser = argparse.ArgumentParser()
    >>> add_options(parser)
    >>> arguments = parser.parse_args(["http://a.test/", "--host-gap", "0.5"])
    >>> arguments.seeds, arguments.host_gap_s, arguments.tries
    (['http://a.test/'], 0.5, None)
    """
    if is_new:
        parser.add_argument(
            "--config",
            metavar="FILE",
            type=Path,
            help="read options from this TOML file; the command line takes precedence",
        )
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for option in OPTIONS:
        if is_new or option.is_resumable:
            if option.group not in groups:
                groups[option.group] = parser.add_argument_group(option.group)
            _add_option(groups[option.group], option, is_new)


def _add_option(
    group: argparse._ActionsContainer, option: Option, is_new: bool
) -> None:
    text = _help(option, is_new)
    if option.is_switch:
        _add_switch(group, option, text)
    elif option.flag:
        _add_value(group, option, text)
    else:
        group.add_argument(option.name, metavar=option.metavar, nargs="*", help=text)


def _help(option: Option, is_new: bool) -> str:
    default = option.default_words
    if default and not is_new:
        default = "as before"
    return f"{option.help} (default {default})" if default else option.help


def _add_switch(group: argparse._ActionsContainer, option: Option, text: str) -> None:
    """Add the flag that turns an option off, or a flag for each value."""
    if not option.opposite:
        group.add_argument(
            option.flag, action="store_const", const=False, dest=option.name, help=text
        )
        return
    opposite, its_text = option.opposite
    both = group.add_mutually_exclusive_group()
    both.add_argument(
        option.flag, action="store_const", const=True, dest=option.name, help=text
    )
    both.add_argument(
        opposite, action="store_const", const=False, dest=option.name, help=its_text
    )


def _add_value(group: argparse._ActionsContainer, option: Option, text: str) -> None:
    kinds = kinds_of(option.annotation)
    group.add_argument(
        option.flag,
        action="append" if option.is_list else "store",
        dest=option.name,
        type=next((kind for kind in (int, float) if kind in kinds), str),
        choices=option.choices or None,
        # argparse shows the choices instead.
        metavar=None if option.choices else option.metavar,
        help=text,
    )


def read_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values given on the command line, by field name.

    Raises:
        ConfigError: a value is not allowed; the message begins with the flag.

    >>> read_options(argparse.Namespace(tries=5, include=["/docs/"], max_pages=None))
    {'include': ('/docs/',), 'tries': 5}
    """
    given: dict[str, Any] = {}
    for option in OPTIONS:
        value = getattr(arguments, option.name, None)
        if value is None or value == []:
            continue
        given[option.name] = tuple(value) if isinstance(value, list) else value
        option.check(given[option.name], option.flag)
    return given


def config_of(arguments: argparse.Namespace) -> CrawlConfig:
    """Return the configuration of a new crawl, from a file and the command line.

    Asks for the password on the terminal if only the user is given.

    Args:
        arguments: From a parser that was passed to `add_options`.

    Raises:
        ConfigError: a value is not allowed, or the URLs or the directory are missing.
    """
    values = values_of(arguments)
    if not values.get("seeds"):
        raise ConfigError(
            "give a URL to start from, or `seeds = [...]` in a file for --config"
        )
    if not values.get("into"):
        raise ConfigError(
            "give a directory with --into DIR, or `into = ...` in a file for --config"
        )
    return CrawlConfig(**values)


def values_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values given in a file or on the command line, by field name.

    Asks for the password on the terminal if only the user is given.

    Args:
        arguments: From a parser that was passed to `add_options`.

    Raises:
        ConfigError: a value is not allowed.
    """
    values = read_options(arguments)
    if arguments.config is not None:
        values = read_config_file(arguments.config, OPTIONS) | values
    if values.get("cookie_file"):  # ``resume`` may run in another directory
        values["cookie_file"] = str(Path(values["cookie_file"]).absolute())
    if values.get("auth") and ":" not in values["auth"]:
        values["auth"] += f":{_password()}"
    return values


def _password() -> str:
    try:
        return getpass.getpass()
    except (EOFError, AttributeError):  # AttributeError if standard input is closed
        raise ConfigError(
            "there is no terminal to ask for the password; give --auth USER:PASSWORD, or "
            "`auth = ...` in a file for --config"
        ) from None
