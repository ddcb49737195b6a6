"""What a knob is: one field of a configuration, with all that is to be known of it.

Pure.  Rule: what a knob is called, what it may be and what is said of it stands once, at
the field.  The fields are in `crawler_app.config`; `crawler_app.commands.config_options` makes arguments
of the command line from them, and `crawler_app.config.toml` keys of a file.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, get_args

from crawler_app.errors import ConfigError

__all__ = [
    "REQUIRED",
    "Knob",
    "Rule",
    "is_of_type",
    "kinds_of",
    "knob",
    "knobs_of",
    "require",
    "shown",
]

# Takes what a knob is called, and a value; raises ConfigError if it cannot have that.
Rule = Callable[[str, Any], None]

# The default of a knob that has none.
REQUIRED: Any = dataclasses.MISSING


@dataclass(frozen=True)
class Knob:
    """One field of a configuration.

    Attributes:
        name: What the field is called.
        annotation: Its type, or a union of types.
        help: One line for ``--help``, without the default.
        group: The heading under which ``--help`` has it.
        unit: Of a number: "seconds", "bytes", or nothing for a count.
        shown_default: In words, where the value says too little.
        choices: All that it may be, if that is a list of words.
        rule: What else it must keep to.
        opposite: The option that says False where `option` says True, and its help.
        is_path: Whether it is a file or a directory.
        is_secret: Whether no error may show it.
        is_saved: Whether it belongs to a crawl that is kept.
        is_resumable: Whether another value may be given for the rest of a crawl.
    """

    name: str
    annotation: Any
    default: Any
    help: str
    group: str = ""
    unit: str = ""
    shown_default: str = ""
    choices: tuple[str, ...] = ()
    rule: Rule | None = None
    named_option: str | None = None
    named_metavar: str = ""
    opposite: tuple[str, str] | None = None
    is_path: bool = False
    is_secret: bool = False
    is_saved: bool = True
    is_resumable: bool = False

    @property
    def key(self) -> str:
        """What it is called in a file, such as "host-gap" for ``host_gap_s``."""
        return self.name.removesuffix("_s").replace("_", "-")

    @property
    def option(self) -> str:
        """What it is called on the command line; empty if it has no name there.

        A switch that is on has the option that turns it off.
        """
        if self.named_option is not None:
            return self.named_option
        return f"--no-{self.key}" if self.default is True else f"--{self.key}"

    @property
    def off_option(self) -> str:
        """The option that says False; empty if there is none."""
        if self.default is True:
            return self.option
        return self.opposite[0] if self.opposite else ""

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return bool in kinds_of(self.annotation)

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        return tuple[str, ...] in kinds_of(self.annotation)

    @property
    def metavar(self) -> str:
        """What stands for its value in ``--help``, if it has one."""
        if self.named_metavar or self.unit:
            return self.named_metavar or self.unit.upper()
        if self.choices:
            return "NAME"
        return "N" if {int, float} & set(kinds_of(self.annotation)) else "TEXT"

    @property
    def default_words(self) -> str:
        """Its default, for people; empty where it has none worth telling."""
        if self.shown_default:
            return self.shown_default
        if self.default in (REQUIRED, None, "", ()) or self.is_switch:
            return ""
        return f"{self.default:g}" if self.unit == "seconds" else str(self.default)

    def check(self, value: object, name: str) -> None:
        """Refuse a value that it cannot have.

        Args:
            name: What the user calls it; the error begins with that.

        Raises:
            ConfigError: it cannot.
        """
        self._check_type(value, name)
        if value is None:
            return
        if self.choices:
            require(name, value, value in self.choices, " or ".join(self.choices))
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


def knob(
    default: Any,
    help: str,
    *,
    option: str | None = None,
    metavar: str = "",
    **facts: Any,
) -> Any:
    """Make a field of a dataclass that is a knob.

    Args:
        default: `REQUIRED` if there is none.
        option: On the command line, if that does not follow from the field's name; empty
            if it has no name there.
        facts: More attributes of `Knob`, such as ``group``.

    >>> @dataclass
    ... class Tea:
    ...     brewing_time_s: float = knob(180.0, "how long", unit="seconds")
    >>> [(knob.name, knob.option, knob.default) for knob in knobs_of(Tea)]
    [('brewing_time_s', '--brewing-time', 180.0)]
    """
    # The name and the type are known once the class is there.
    facts |= {"named_option": option, "named_metavar": metavar}
    made = Knob("", None, default, help, **facts)
    return dataclasses.field(
        default=default,
        repr=not made.is_secret,
        compare=made.is_saved,
        metadata={"knob": made},
    )


def knobs_of(configuration: type) -> tuple[Knob, ...]:
    """Return the knobs of a dataclass, in the order of its fields."""
    return tuple(
        dataclasses.replace(
            field.metadata["knob"], name=field.name, annotation=field.type
        )
        for field in dataclasses.fields(configuration)
    )


def require(name: str, value: object, is_right: bool, wanted: str) -> None:
    """Refuse the value of a knob unless it is right.

    Raises:
        ConfigError: it is not.

    >>> require("tries", 3, True, "a whole number")
    """
    if not is_right:
        raise ConfigError(f"{name} is {shown(value)}; it must be {wanted}")


def shown(value: object, write: Callable[[object], str] = repr) -> str:
    """Return a value as an error shows it.

    >>> shown(3), shown(10**5000)
    ('3', 'a number too long to show')
    """
    try:
        return write(value)
    except ValueError:  # Python writes no whole numbers of thousands of digits
        kind = "number" if isinstance(value, int) else "list"
        return f"a {kind} too long to show"


def _is_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# What an annotation lets be, and how that is called.  To Python True is a whole number,
# but nobody means it; and a whole number is as good as another.
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
    """Return whether a value is what a knob is annotated as.

    >>> is_of_type(3, float | None), is_of_type(True, float | None)
    (True, False)
    """
    return any(_KINDS[kind][0](value) for kind in kinds_of(annotation))


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types that an annotation is a union of, or that one alone.

    >>> kinds_of(int | None), kinds_of(str)
    ((<class 'int'>, <class 'NoneType'>), (<class 'str'>,))
    """
    is_union = isinstance(annotation, UnionType)
    return get_args(annotation) if is_union else (annotation,)
