"""Metadata of one configuration option.

Pure.  Rule: the names, the allowed values and the help of an option are stated once, at
its field.  The fields are in `crawler_app.base.config`; `crawler_app.commands.config_options`
turns them into command-line options, and `crawler_app.base.config.toml` into keys of a file.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, get_args

from crawler_app.base.config.units import Unit
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.suggesting import did_you_mean

__all__ = [
    "REQUIRED",
    "Option",
    "Rule",
    "as_given",
    "is_of_type",
    "kinds_of",
    "option",
    "options_of",
    "require",
    "shown",
]

# Takes the name of an option and a value; raises ConfigError if the value is not allowed.
Rule = Callable[[str, Any], None]

# The default of an option that must be given.
REQUIRED: Any = dataclasses.MISSING


@dataclass(frozen=True)
class Option:
    """One field of a configuration.

    Attributes:
        name: Name of the field.
        annotation: Its type, or a union of types.
        help: One line for ``--help``, without the default.
        group: Heading of its group in ``--help``.
        unit: `SECONDS` or `BYTES`; None for a count or a value that is not a number.
        shown_default: Describes the default if its value does not explain itself.
        choices: The allowed words, if there is a list of them.
        rule: Checks the value further.
        named_flag: The `flag`, if it does not follow from the name.
        named_off_flag: The `off_flag`, if it does not follow from the name.
        named_metavar: The `metavar`, if it does not follow from the type.
        is_common: Whether ``--help`` shows it; ``--help-all`` shows every flag.
        is_file_only: Whether it is a key of a file without a command-line flag.
        is_path: Whether it is a file or a directory.
        is_secret: Whether errors must not show the value.
        is_saved: Whether it is saved with the crawl.
        is_resumable: Whether ``resume`` may change it.
        is_local: Whether each worker of a crawl that several machines share has its own.
    """

    name: str
    annotation: Any
    default: Any
    help: str
    group: str = ""
    unit: Unit | None = None
    shown_default: str = ""
    choices: tuple[str, ...] = ()
    rule: Rule | None = None
    named_flag: str | None = None
    named_off_flag: str = ""
    named_metavar: str = ""
    is_common: bool = False
    is_file_only: bool = False
    is_path: bool = False
    is_secret: bool = False
    is_saved: bool = True
    is_resumable: bool = False
    is_local: bool = False

    @property
    def key(self) -> str:
        """The key in a file, such as "host-gap" for ``host_gap_s``."""
        return self.name.removesuffix("_s").replace("_", "-")

    @property
    def flag(self) -> str:
        """The command-line flag, such as "--host-gap".

        Empty for a positional argument, and for a switch that has only an `off_flag`.
        """
        return f"--{self.key}" if self.named_flag is None else self.named_flag

    @property
    def off_flag(self) -> str:
        """The flag that turns a switch off, such as "--no-robots"; empty for others."""
        if not self.is_switch:
            return ""
        return self.named_off_flag or f"--no-{self.key}"

    @property
    def is_switch(self) -> bool:
        """Whether it is a boolean."""
        return bool in kinds_of(self.annotation)

    @property
    def is_list(self) -> bool:
        """Whether it is a list of strings."""
        return tuple[str, ...] in kinds_of(self.annotation)

    @property
    def metavar(self) -> str:
        """The placeholder of its value in ``--help``."""
        if self.named_metavar:
            return self.named_metavar
        if self.unit:
            return self.unit.metavar
        if self.choices:
            return "NAME"
        return "N" if {int, float} & set(kinds_of(self.annotation)) else "TEXT"

    @property
    def default_words(self) -> str:
        """The default as shown to people; empty if there is none."""
        if self.shown_default:
            return self.shown_default
        if self.default in (REQUIRED, None, "", ()):
            return ""
        return self.render(self.default)

    def render(self, value: Any) -> str:
        """Format a value as on the command line; for a switch, on or off."""
        if self.is_switch:
            return "on" if value else "off"
        return self.unit.render(value) if self.unit else str(value)

    def parse(self, text: str, name: str, write: Callable[[object], str] = repr) -> Any:
        """Return the value that a text stands for, not yet checked.

        Args:
            write: Formats the text for an error.

        Raises:
            ConfigError: a number, a duration or a size is expected, and this is not one.
        """
        kinds = kinds_of(self.annotation)
        number = next((kind for kind in (int, float) if kind in kinds), None)
        if number is None:
            return text
        try:
            return self.unit.parse(text) if self.unit else number(text)
        except ValueError:
            wanted = self.unit.noun if self.unit else _KINDS[number][1]
            raise ConfigError(
                f"{name} is {shown(text, write)}; it must be {wanted}"
            ) from None

    def check(self, value: object, name: str) -> None:
        """Check a value.

        Args:
            name: The name that the user gave; the error begins with it.

        Raises:
            ConfigError: the value has the wrong type or is not allowed.
        """
        self._check_type(value, name)
        if value is None:
            return
        if self.choices:
            wanted = " or ".join(self.choices) + did_you_mean(str(value), self.choices)
            require(name, value, value in self.choices, wanted)
        if self.rule is not None:
            self.rule(name, value)

    def _check_type(self, value: object, name: str) -> None:
        if is_of_type(value, self.annotation):
            return
        kinds = kinds_of(self.annotation)
        wanted = " or ".join(_KINDS[kind][1] for kind in kinds)
        if self.is_secret:
            kind = type(value).__name__
            raise ConfigError(f"{name} must be {wanted}, not of type {kind}")
        require(name, value, False, wanted)


def option(
    default: Any,
    help: str,
    *,
    flag: str | None = None,
    metavar: str = "",
    **metadata: Any,
) -> Any:
    """Make a dataclass field that is an option.

    Args:
        default: `REQUIRED` if there is none.
        flag: The command-line flag, if it does not follow from the field's name; empty
            for a positional argument.
        metadata: More attributes of `Option`, such as ``group``.

    >>> @dataclass
    ... class Tea:
    ...     brewing_time_s: float = option(180.0, "how long")
    >>> [(each.name, each.flag, each.default) for each in options_of(Tea)]
    [('brewing_time_s', '--brewing-time', 180.0)]
    """
    # The name and the type are known when the class exists.
    metadata |= {"named_flag": flag, "named_metavar": metavar}
    made = Option("", None, default, help, **metadata)
    return dataclasses.field(
        default=default,
        repr=not made.is_secret,
        compare=made.is_saved,
        metadata={"option": made},
    )


def options_of(configuration: type) -> tuple[Option, ...]:
    """Return the options of a dataclass, in the order of its fields."""
    return _options_of(dataclasses.fields(configuration))


@functools.cache
def _options_of(fields: tuple[dataclasses.Field[Any], ...]) -> tuple[Option, ...]:
    """Every configuration that is made needs them, to check its values."""
    return tuple(
        dataclasses.replace(
            field.metadata["option"], name=field.name, annotation=field.type
        )
        for field in fields
    )


def as_given(options: object, word: str) -> str:
    """Return an option of a configuration as on the command line, such as "--max-time 60s".

    Args:
        word: Its key, with underscores.
    """
    key = word.replace("_", "-")
    (found,) = [each for each in options_of(type(options)) if each.key == key]
    return f"{found.flag} {found.render(getattr(options, found.name))}"


def require(
    name: str,
    value: object,
    is_right: bool,
    wanted: str,
    write: Callable[[Any], str] = repr,
) -> None:
    """Raise ConfigError unless the value of an option is right.

    >>> require("tries", 3, True, "a whole number")
    """
    if not is_right:
        raise ConfigError(f"{name} is {shown(value, write)}; it must be {wanted}")


def shown(value: object, write: Callable[[object], str] = repr) -> str:
    """Format a value for an error message.

    >>> shown(3), shown(10**5000)
    ('3', 'a number too long to show')
    """
    try:
        return write(value)
    except (ValueError, OverflowError):  # Python does not print thousands of digits
        kind = "number" if isinstance(value, int) else "list"
        return f"a {kind} too long to show"


def _is_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# The check and the description of each type in an annotation.  bool is a subclass of int
# but is not accepted as a number; an int is accepted where a float is expected.
_KINDS: Mapping[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "a string"),
    tuple[str, ...]: (_is_texts, "a tuple of strings"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    int: (
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        "a whole number",
    ),
    float: (_is_number, "a number"),
    NoneType: (lambda value: value is None, "None"),
}


def is_of_type(value: object, annotation: Any) -> bool:
    """Return whether a value has the type of an option's annotation.

    >>> is_of_type(3, float | None), is_of_type(True, float | None)
    (True, False)
    """
    return any(_KINDS[kind][0](value) for kind in kinds_of(annotation))


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types in a union, or the single type of an annotation.

    >>> kinds_of(int | None), kinds_of(str)
    ((<class 'int'>, <class 'NoneType'>), (<class 'str'>,))
    """
    is_union = isinstance(annotation, UnionType)
    return get_args(annotation) if is_union else (annotation,)
