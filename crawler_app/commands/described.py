"""The commands and their options as plain values, for completions and the manual page.

Rule: everything is read from the parsers, so that nothing is described twice.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from crawler_app.commands.parser import CommandParser

__all__ = ["DescribedCommand", "DescribedOption", "described"]


@dataclass(frozen=True)
class DescribedOption:
    """An option, or a positional argument.

    Attributes:
        flags: Its spellings, such as ``-q`` and ``--quiet``; empty if it is positional.
        metavar: The placeholder of its value; empty if it takes none.
        choices: The words it may be; empty if there is no list.
        group: Its heading in ``--help``.
        is_value_optional: Whether the value may be left out.
    """

    flags: tuple[str, ...]
    metavar: str
    choices: tuple[str, ...]
    help: str
    group: str
    is_value_optional: bool = False

    @property
    def needs_value(self) -> bool:
        """Whether a value must follow it."""
        return bool(self.metavar) and not self.is_value_optional

    @property
    def is_directory(self) -> bool:
        """Whether its value is a directory."""
        return self.metavar == "DIR"

    @property
    def is_path(self) -> bool:
        """Whether its value is a file or a directory."""
        return self.is_directory or "FILE" in self.metavar.split("|")


@dataclass(frozen=True)
class DescribedCommand:
    """A command.

    Attributes:
        usage: Its arguments in one line.
        options: The options, in the order of ``--help``.
        arguments: The positional arguments.
    """

    name: str
    usage: str
    help: str
    description: str
    options: tuple[DescribedOption, ...]
    arguments: tuple[DescribedOption, ...]

    @property
    def flags(self) -> list[str]:
        """The spellings of all options."""
        return [flag for option in self.options for flag in option.flags]


def described(
    parser_by_name: Mapping[str, CommandParser], help_by_name: Mapping[str, str]
) -> list[DescribedCommand]:
    """Describe the commands, after adding their arguments."""
    commands = []
    for name, parser in parser_by_name.items():
        parser.load()
        found = list(_options_of(parser))
        commands.append(
            DescribedCommand(
                name,
                parser.usage or "",
                help_by_name[name],
                parser.description or "",
                tuple(option for option in found if option.flags),
                tuple(option for option in found if not option.flags),
            )
        )
    return commands


def _options_of(parser: argparse.ArgumentParser) -> Iterator[DescribedOption]:
    for group in parser._action_groups:
        for action in group._group_actions:
            yield DescribedOption(
                tuple(action.option_strings),
                _metavar_of(action),
                tuple(map(str, action.choices or ())),
                (action.help or "").replace("%%", "%"),
                "" if group.title == "positional arguments" else group.title or "",
                action.nargs == "?",
            )


def _metavar_of(action: argparse.Action) -> str:
    if action.nargs == 0:  # a switch
        return ""
    if action.metavar is None:
        return "NAME" if action.choices else action.dest.upper()
    return str(action.metavar)
