"""The parser of the command line: argparse, with errors in our own words.

Rule: a usage error is one sentence that names the mistake and the cure, without the usage
of the command, and is raised as `ConfigError`.
"""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from crawler_app.base.errors import ConfigError
from crawler_app.base.text.formatting import number
from crawler_app.base.text.suggesting import did_you_mean

__all__ = ["CommandParser", "Parser", "complaint_about", "flags_of"]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are `ConfigError`.

    Attributes:
        cures: What to do instead of an option that there is not, by flag.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.cures: dict[str, str] = {}
        self._hidden: list[tuple[argparse.Action, str | None]] = []
        self._commands: argparse._SubParsersAction[CommandParser] | None = None
        # A private name of argparse: by it -1 is a value, not an option.  With the pattern
        # of Python 3.14, -1s is one too, and is refused as a wrong duration.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def error(self, message: str) -> NoReturn:
        """Raise an error of argparse in our own words.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(f"{in_our_words(message)}; see `{self.prog} --help`")

    def add_command(self, name: str, **options: Any) -> "CommandParser":
        """Add a command, and return its parser."""
        if self._commands is None:
            self._commands = self.add_subparsers(
                title="commands", metavar="COMMAND", parser_class=CommandParser
            )
            # argparse would not align a list of the commands.
            self._commands.help = argparse.SUPPRESS
        parser: CommandParser = self._commands.add_parser(name, **options)
        return parser

    def commands(self) -> "Mapping[str, CommandParser]":
        """Return the parsers of the commands by name."""
        return self._commands.choices if self._commands else {}

    def hide(self, action: argparse.Action) -> None:
        """Leave an option out of ``--help``; ``--help-all`` shows it."""
        self._hidden.append((action, action.help))
        action.help = argparse.SUPPRESS

    def show_all(self) -> None:
        """Show the hidden options too, from now on."""
        for action, text in self._hidden:
            action.help = text
        if self._commands:
            self._commands.help = None

    # A private method, which argparse calls for a word of which there is a list.  Its own
    # error shows the list as Python does, differently from version to version, and
    # suggests nothing.
    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = list(action.choices or ())
        if not choices or value in choices:
            return
        if action is self._commands:
            raise ConfigError(self._no_command(value, choices))
        name = "/".join(action.option_strings) or action.metavar
        wanted = " or ".join(choices) + did_you_mean(value, choices)
        raise ConfigError(f"{name} is {value!r}; it must be {wanted}")

    def _no_command(self, word: str, commands: Sequence[str]) -> str:
        """Return the error for an unknown command, with the one that may be meant."""
        if "://" in word or "." in word:
            example = "list" if "list" in commands else "check"
            given = f"`{self.prog} {example} {word}`"
            return f"give a command before {word}, such as {given}"
        meant = did_you_mean(word, commands)
        there_are = f"; there are {', '.join(commands)}"
        return f"there is no command {word!r}{meant or there_are}"


class CommandParser(Parser):
    """Parses the arguments of one command, or of a group of commands.

    Attributes:
        add_arguments: Adds the arguments on first use; None once they are added.  Adding
            those of all commands would take five times as long as ``gencrawl --help``.
    """

    add_arguments: "Callable[[CommandParser], None] | None" = None

    def load(self) -> None:
        """Add the arguments, unless they are there already."""
        if self.add_arguments is None:
            return
        add, self.add_arguments = self.add_arguments, None
        add(self)
        if self._hidden:
            more = number(len(self._hidden), "more option")
            self.add_argument("--help-all", action=_HelpAll, help=f"show {more}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; what argparse leaves is added to a list of words, or refused."""
        self.load()
        found, rest = super().parse_known_args(args, namespace)
        words = self._words_of(found)
        for word in rest:
            # Search words may look like an option, as -without does.
            dash = "--" if "words" in found else "-"
            is_option = word != "-" and word.startswith(dash)
            if words is None or is_option:
                raise ConfigError(complaint_about(word, self))
            words.append(word)
        return found, []

    def _words_of(self, found: argparse.Namespace) -> list[str] | None:
        """Return the list of positional arguments, which may stand between options."""
        for action in self._actions:
            if action.nargs == "*" and not action.option_strings:
                if getattr(found, action.dest) is None:
                    setattr(found, action.dest, [])
                words: list[str] = getattr(found, action.dest)
                return words
        return None


class _HelpAll(argparse.Action):
    """``--help-all``."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(
            option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help
        )

    def __call__(self, parser: argparse.ArgumentParser, *args: object) -> None:
        assert isinstance(parser, CommandParser)
        parser.show_all()
        parser.print_help()
        parser.exit()


def flags_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options of a parser, with their dashes."""
    # argparse has no public list of the arguments.
    return [flag for action in parser._actions for flag in action.option_strings]


def complaint_about(word: str, parser: Parser) -> str:
    """Return why an argument cannot be used, and what may be meant.

    >>> parser = Parser("gencrawl status")
    >>> _ = parser.add_argument("--json")
    >>> complaint_about("--jsn", parser)
    'there is no option --jsn; did you mean --json? See `gencrawl status --help`'
    """
    see = f"`{parser.prog} --help`"
    if not word.startswith("-"):
        return f"unexpected argument {word!r}; see {see}"
    flag = word.partition("=")[0]
    if flag in parser.cures:
        return f"{flag} {parser.cures[flag]}"
    meant = did_you_mean(flag, flags_of(parser))
    return f"there is no option {flag}" + (
        f"{meant} See {see}" if meant else f"; see {see}"
    )


def in_our_words(message: str) -> str:
    """Return an error of argparse in our own words; unknown ones are left unchanged.

    >>> in_our_words("the following arguments are required: DIR")
    'DIR is missing'
    >>> in_our_words("argument -q/--quiet: not allowed with argument -v/--verbose")
    '--verbose and --quiet exclude each other'
    """
    for pattern, words in PHRASES:
        if found := pattern.fullmatch(message):
            return words(*found.groups())
    return message


def _longest(names: str) -> str:
    """Return the option without its other spellings, such as -q."""
    return max(names.split("/"), key=len)


# Errors of argparse, and ours.  Python 3.11 to 3.15 have the same.
PHRASES: Sequence[tuple[re.Pattern[str], Callable[..., str]]] = [
    (
        re.compile(r"the following arguments are required: (.+)"),
        lambda names: f"{names} is missing",
    ),
    (
        re.compile(r"argument (\S+): expected (?:one|at least one) argument"),
        lambda names: f"{_longest(names)} needs a value",
    ),
    (
        re.compile(r"argument (\S+): not allowed with argument (\S+)"),
        lambda one, other: f"{_longest(other)} and {_longest(one)} exclude each other",
    ),
    (
        re.compile(r"ambiguous option: (\S+) could match (.+)"),
        lambda word, flags: f"{word} is ambiguous: it could be {flags}",
    ),
    (
        re.compile(r"argument (\S+): ignored explicit argument (.+)"),
        lambda names, value: f"{_longest(names)} takes no value, but has {value}",
    ),
    (
        re.compile(r"argument (\S+): (.+)"),
        lambda names, complaint: f"{_longest(names)} {complaint}",
    ),
]
