"""The knobs as options of the command line, and together with a file.

Rule: what is given on the command line wins over the file, and the file over the default.
A list is replaced as a whole.
"""

import argparse
import getpass
from pathlib import Path
from typing import Any

from crawler_app.config import CrawlConfig
from crawler_app.config.option import Knob, kinds_of, knobs_of
from crawler_app.config.toml import read_config_file
from crawler_app.errors import ConfigError

__all__ = ["add_options", "config_of", "read_options"]

KNOBS = knobs_of(CrawlConfig)


def add_options(parser: argparse.ArgumentParser, *, is_new: bool = True) -> None:
    """Add an option for each knob, and one for a file; what is not given is None.

    Args:
        is_new: Whether a crawl begins.  Where one goes on, there are only the options
            that may be changed in the middle of it.

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
            help="options in a TOML file; those that are given here win over it",
        )
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for knob in KNOBS:
        if is_new or knob.is_resumable:
            if knob.group not in groups:
                groups[knob.group] = parser.add_argument_group(knob.group)
            _add_option(groups[knob.group], knob, is_new)


def _add_option(group: argparse._ActionsContainer, knob: Knob, is_new: bool) -> None:
    text = _help(knob, is_new)
    if knob.is_switch:
        _add_switch(group, knob, text)
    elif knob.option:
        _add_value(group, knob, text)
    else:
        group.add_argument(knob.name, metavar=knob.metavar, nargs="*", help=text)


def _help(knob: Knob, is_new: bool) -> str:
    default = knob.default_words
    if default and not is_new:
        default = "as before"
    return f"{knob.help} (default {default})" if default else knob.help


def _add_switch(group: argparse._ActionsContainer, knob: Knob, text: str) -> None:
    """Add the option that turns off what is on, or two that say which."""
    if not knob.opposite:
        group.add_argument(
            knob.option, action="store_const", const=False, dest=knob.name, help=text
        )
        return
    opposite, its_text = knob.opposite
    both = group.add_mutually_exclusive_group()
    both.add_argument(
        knob.option, action="store_const", const=True, dest=knob.name, help=text
    )
    both.add_argument(
        opposite, action="store_const", const=False, dest=knob.name, help=its_text
    )


def _add_value(group: argparse._ActionsContainer, knob: Knob, text: str) -> None:
    kinds = kinds_of(knob.annotation)
    group.add_argument(
        knob.option,
        action="append" if knob.is_list else "store",
        dest=knob.name,
        type=next((kind for kind in (int, float) if kind in kinds), str),
        choices=knob.choices or None,
        # The choices stand for themselves.
        metavar=None if knob.choices else knob.metavar,
        help=text,
    )


def read_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values that were given on the command line, by the names of fields.

    Raises:
        ConfigError: one cannot be; the text begins with the option.

    >>> read_options(argparse.Namespace(tries=5, include=["/docs/"], max_pages=None))
    {'include': ('/docs/',), 'tries': 5}
    """
    given: dict[str, Any] = {}
    for knob in KNOBS:
        value = getattr(arguments, knob.name, None)
        if value is None or value == []:
            continue
        given[knob.name] = tuple(value) if isinstance(value, list) else value
        knob.check(given[knob.name], knob.option)
    return given


def config_of(arguments: argparse.Namespace) -> CrawlConfig:
    """Make the configuration of a new crawl from a file and the command line.

    Asks for a password on the terminal if there is a user without one.

    Args:
        arguments: Of a parser that has had `add_options`.

    Raises:
        ConfigError: a value cannot be, or the URLs or the directory are missing.
    """
    values = read_options(arguments)
    if arguments.config is not None:
        values = read_config_file(arguments.config, KNOBS) | values
    if not values.get("seeds"):
        raise ConfigError(
            "give a URL to start from, or `seeds = [...]` in a file for --config"
        )
    if not values.get("into"):
        raise ConfigError(
            "give a directory with --into DIR, or `into = ...` in a file for --config"
        )
    if values.get("cookie_file"):  # to be found from wherever the crawl is resumed
        values["cookie_file"] = str(Path(values["cookie_file"]).absolute())
    if values.get("auth") and ":" not in values["auth"]:
        values["auth"] += f":{_password()}"
    return CrawlConfig(**values)


def _password() -> str:
    try:
        return getpass.getpass()
    except (EOFError, AttributeError):  # the latter where standard input is closed
        raise ConfigError(
            "there is no terminal to ask for the password; give --auth USER:PASSWORD, or "
            "`auth = ...` in a file for --config"
        ) from None
