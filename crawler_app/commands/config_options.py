"""Command-line options of a crawl, and how they are merged with a file.

Rule: the command line takes precedence over the file, and the file over the defaults.  A
list is replaced as a whole.
"""

import argparse
import getpass
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from crawler_app.commands.parser import CommandParser
from crawler_app.show.check.check_config import CHECK_OPTIONS

__all__ = [
    "NOT_FOR_CHECK",
    "OPTIONS",
    "OPTIONS_OF_CHECK",
    "add_config_file",
    "add_options",
    "config_of",
    "make_absolute",
    "read_options",
    "values_of",
]

OPTIONS = options_of(CrawlConfig)

# What a file may set, for one command or another.
ALL_OPTIONS = (*OPTIONS, *CHECK_OPTIONS)

# Options for a crawl by several workers; a check has one.
NOT_FOR_CHECK = ("processes", "frontier", "crawl_name", "staging", "max_staging_bytes")

# Options for what a browser does.
NEED_RENDERING = ("browsers", "render_post", "scroll")
NOT_RENDERED = "never"

OPTIONS_OF_CHECK = (
    *CHECK_OPTIONS,
    *(option for option in OPTIONS if option.name not in NOT_FOR_CHECK),
)


class _Switch(argparse.Action):
    """A yes/no in one entry: the last of its flags is off, the other one on.

    Unlike those of `argparse.BooleanOptionalAction`, the flags are chosen freely: there
    are ``--deny-private, --allow-private``, and ``--no-cookies`` alone.
    """

    def __init__(self, option_strings: Sequence[str], **options: Any) -> None:
        super().__init__(option_strings, nargs=0, **options)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, option_string != self.option_strings[-1])


def add_options(
    parser: CommandParser, options: Iterable[Option], *, is_new: bool = True
) -> None:
    """Add configuration options; their default is None.

    Args:
        is_new: Whether the crawl is new, so that options that are left out have their
            defaults, not the values from before.

    >>> parser = CommandParser()
    >>> add_options(parser, OPTIONS)
    >>> arguments = parser.parse_args(["http://a.test/", "--host-gap", "500ms"])
    >>> arguments.seeds, arguments.host_gap_s, arguments.tries
    (['http://a.test/'], 0.5, None)
    """
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for option in options:
        if option.is_file_only:
            parser.cures[option.flag] = (
                f"is set in a file only: `{option.key} = ...` in {FOUND_NAME} or another "
                "file for --config"
            )
            continue
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        action = _add_option(groups[option.group], option, _help(option, is_new))
        if not option.is_common:
            parser.hide(action)


def add_config_file(parser: CommandParser) -> None:
    """Add ``--config`` and ``--no-config``."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="read options from this TOML file; the command line takes precedence "
        f"(default: {FOUND_NAME} in the working directory, if there is one)",
    )
    parser.hide(
        which.add_argument(
            "--no-config", action="store_true", help=f"do not read {FOUND_NAME}"
        )
    )


def _help(option: Option, is_new: bool) -> str:
    default = option.default_words
    # --no-cookies stands alone: "on" would read as the default of the flag.
    if not default or (option.is_switch and not option.flag):
        return option.help
    if not is_new:
        default = "as before"
    elif default == option.default and not option.choices:
        default = f'"{default}"'  # a name may be any word, such as "default"
    return f"{option.help} (default: {default})"


def _add_option(
    group: argparse._ActionsContainer, option: Option, text: str
) -> argparse.Action:
    if option.is_switch:
        return group.add_argument(
            *filter(None, (option.flag, option.off_flag)),
            action=_Switch,
            dest=option.name,
            help=text,
        )
    if not option.flag:
        return group.add_argument(
            option.name, metavar=option.metavar, nargs="*", help=text
        )
    return group.add_argument(
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
        option.check(given[option.name], option.flag or option.off_flag)
    if "cookie_file" in given and given.get("cookies") is False:
        raise ConfigError(
            "--cookies has no effect with --no-cookies; leave out one of them"
        )
    return given


def config_of(
    arguments: argparse.Namespace,
    completed: Callable[[Sequence[str], bool], Sequence[str]] = lambda seeds, _: seeds,
) -> CrawlConfig:
    """Return the configuration of a new crawl, from a file and the command line.

    Asks for the password on the terminal if only the user is given.

    Args:
        arguments: From a parser that was passed to `add_options`.
        completed: Returns the start URLs of the command line with what they lack; called
            with whether there is a proxy.

    Raises:
        ConfigError: a value is not allowed, or the URLs or the directory are missing.
    """
    seeds, arguments.seeds = arguments.seeds, None
    values = values_of(arguments, has_targets=bool(seeds))
    if seeds:
        values["seeds"] = tuple(completed(seeds, bool(values.get("proxy"))))
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
    _refuse_useless(given, values)
    make_absolute(values)
    if values.get("auth") and ":" not in values["auth"]:
        values["auth"] += f":{_password()}"
    return values


def make_absolute(values: dict[str, Any]) -> None:
    """Make the paths that are saved absolute: ``resume`` may run in another directory."""
    for option in OPTIONS:
        if option.is_path and option.is_saved and values.get(option.name):
            values[option.name] = str(Path(values[option.name]).absolute())


def _refuse_useless(given: Collection[str], values: Mapping[str, Any]) -> None:
    """Refuse options on the command line that need another one; in a file they may wait."""
    if values.get("render", NOT_RENDERED) != NOT_RENDERED:
        return
    for option in OPTIONS:
        if option.name in given and option.name in NEED_RENDERING:
            raise ConfigError(
                f"{option.flag} has no effect without --render auto|always"
            )


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
