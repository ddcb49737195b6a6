"""Command-line options of a crawl, and how they are merged with a file.

Rule: the command line takes precedence over the file, and the file over the defaults.  A
list is replaced as a whole.
"""

import argparse
import getpass
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.found_file import (
    FOUND_NAME,
    find_config_file,
    read_found_file,
)
from crawler_app.base.config.option import Option, options_of
from crawler_app.base.config.toml import read_config_file
from crawler_app.base.errors import ConfigError
from crawler_app.show.check.check_config import CHECK_OPTIONS

__all__ = [
    "OPTIONS",
    "add_config_file",
    "add_options",
    "config_of",
    "read_options",
    "values_of",
]

OPTIONS = options_of(CrawlConfig)

# What a file may set, for one command or another.
ALL_OPTIONS = (*OPTIONS, *CHECK_OPTIONS)

# Options that have no effect if a switch is off, and the switch.
SWITCH_BY_DEPENDENT = {
    "cookie_file": "cookies",
    "external_max_age_s": "external",
    "max_archive_file_bytes": "archive",
}


def add_options(
    parser: argparse.ArgumentParser,
    chosen: Callable[[Option], bool] = lambda option: True,
    *,
    is_new: bool = True,
    target: str = "",
    options: Sequence[Option] = OPTIONS,
) -> None:
    """Add configuration options; their default is None.

    Args:
        chosen: Returns whether to add an option.
        is_new: Whether the crawl is new, so that options that are left out have their
            defaults, not the values from before.
        target: The placeholder of what is crawled, if not only URLs are allowed.

    >>> parser = argparse.ArgumentParser()
    >>> add_options(parser)
    >>> arguments = parser.parse_args(["http://a.test/", "--host-gap", "500ms"])
    >>> arguments.seeds, arguments.host_gap_s, arguments.tries
    (['http://a.test/'], 0.5, None)
    """
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for option in filter(chosen, options):
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        if target and not option.flag:
            option = replace(option, named_metavar=target, help="what to check")
        _add_option(groups[option.group], option, is_new)


def add_config_file(parser: argparse.ArgumentParser) -> None:
    """Add ``--config`` and ``--no-config``."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="read options from this TOML file; the command line takes precedence "
        f"(default {FOUND_NAME} in the working directory, if there is one)",
    )
    which.add_argument(
        "--no-config", action="store_true", help=f"do not read {FOUND_NAME}"
    )


def _add_option(
    group: argparse._ActionsContainer, option: Option, is_new: bool
) -> None:
    text = _help(option, is_new)
    if option.is_switch:
        _add_switch(group, option, text, is_new)
    elif option.flag:
        _add_value(group, option, text)
    else:
        group.add_argument(option.name, metavar=option.metavar, nargs="*", help=text)


def _help(option: Option, is_new: bool) -> str:
    default = option.default_words
    if default and not is_new:
        default = "as before"
    return f"{option.help} (default {default})" if default else option.help


def _add_switch(
    group: argparse._ActionsContainer, option: Option, text: str, is_new: bool
) -> None:
    """Add the flag that turns an option off, or a flag for each value."""
    if not option.opposite:
        group.add_argument(
            option.flag, action="store_const", const=False, dest=option.name, help=text
        )
        return
    opposite, its_text = option.opposite
    if option.default is False:
        its_text += " (default)" if is_new else " (default as before)"
    both = group.add_mutually_exclusive_group()
    both.add_argument(
        option.flag, action="store_const", const=True, dest=option.name, help=text
    )
    both.add_argument(
        opposite, action="store_const", const=False, dest=option.name, help=its_text
    )


def _add_value(group: argparse._ActionsContainer, option: Option, text: str) -> None:
    group.add_argument(
        option.flag,
        action="append" if option.is_list else "store",
        dest=option.name,
        type=partial(option.parse, name=option.flag),
        choices=option.choices or None,
        # argparse shows the choices instead.
        metavar=None if option.choices else option.metavar,
        help=text,
    )


def read_options(
    arguments: argparse.Namespace, options: Sequence[Option] = OPTIONS
) -> dict[str, Any]:
    """Return the values given on the command line, by field name.

    Raises:
        ConfigError: a value is not allowed, or an option makes another useless; the
            message begins with the flag.

    >>> read_options(argparse.Namespace(tries=5, include=["/docs/"], max_pages=None))
    {'include': ('/docs/',), 'tries': 5}
    """
    given: dict[str, Any] = {}
    for option in options:
        value = getattr(arguments, option.name, None)
        if value is None or value == []:
            continue
        given[option.name] = tuple(value) if isinstance(value, list) else value
        option.check(given[option.name], option.flag)
    _require_effect(given)
    return given


def _require_effect(given: Mapping[str, Any]) -> None:
    """Check that no option is given that another one makes useless.

    Raises:
        ConfigError: one is.
    """
    option_by_name = {option.name: option for option in OPTIONS}
    for name, switch in SWITCH_BY_DEPENDENT.items():
        if name in given and given.get(switch) is False:
            off, useless = option_by_name[switch].off_flag, option_by_name[name].flag
            raise ConfigError(
                f"{useless} has no effect with {off}; leave out one of them"
            )


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
            f"give a URL to start from, or `seeds = [...]` in {FOUND_NAME} or another "
            "file for --config"
        )
    if not values.get("into"):
        raise ConfigError(
            f"give a directory with --into DIR, or `into = ...` in {FOUND_NAME} or "
            "another file for --config"
        )
    return CrawlConfig(**values)


def values_of(
    arguments: argparse.Namespace,
    *,
    has_targets: bool = False,
    options: Sequence[Option] = OPTIONS,
) -> dict[str, Any]:
    """Return the values given in a file or on the command line, by field name.

    Asks for the password on the terminal if only the user is given.

    Args:
        arguments: From a parser that was passed to `add_options`.
        has_targets: Whether the command has taken its URLs out of the arguments.
        options: Those of the command; a file may set others too, for other commands.

    Raises:
        ConfigError: a value is not allowed.
    """
    given = read_options(arguments, options)
    names = [*given, "seeds"] if has_targets else given
    own = {option.name for option in options}
    in_file = _in_file(arguments, names)
    values = {name: in_file[name] for name in in_file if name in own} | given
    if values.get("cookie_file"):  # ``resume`` may run in another directory
        values["cookie_file"] = str(Path(values["cookie_file"]).absolute())
    if values.get("auth") and ":" not in values["auth"]:
        values["auth"] += f":{_password()}"
    return values


def _in_file(arguments: argparse.Namespace, given: Collection[str]) -> dict[str, Any]:
    """Return the values of the file that is named, or of the one that is found."""
    if arguments.config is not None:
        return read_config_file(arguments.config, ALL_OPTIONS)
    path = None if arguments.no_config else find_config_file()
    if path is None:
        return {}
    print(f"Using {path}; --no-config ignores it.", file=sys.stderr)
    return read_found_file(path, ALL_OPTIONS, given)


def _password() -> str:
    try:
        return getpass.getpass()
    except (EOFError, AttributeError):  # AttributeError if standard input is closed
        raise ConfigError(
            "there is no terminal to ask for the password; give --auth USER:PASSWORD, or "
            "`auth = ...` in a file for --config"
        ) from None
