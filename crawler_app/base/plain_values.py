"""Makes dataclasses of plain values, such as those of JSON, and refuses values of other types.  Pure."""

import functools
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

__all__ = ["from_plain"]

MAPPINGS = (dict, Mapping)


def from_plain(kind: Any, value: Any) -> Any:
    """Return a value of a type: what `dataclasses.asdict` has returned is a dataclass again.

    Args:
        kind: A dataclass, an Enum, a type such as str, a union of such types, or a list or
            mapping of any of these.

    Raises:
        TypeError: the value, or a part of it, is of another type, or has other fields.
        ValueError: it is not in the Enum, or a key is not a number as it should be.

    >>> from_plain(dict[int, list[float | None]], {"3": [0.5, None]})
    {3: [0.5, None]}
    """
    if type(value) is kind:  # most are simple
        return value
    container, args = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(value, dict):
        made: Any = kind
        kinds = _kind_by_field(made)
        if kinds.keys() != value.keys():
            raise TypeError(f"{made.__name__} has {[*kinds]}, not {[*value]}")
        return made(**{name: from_plain(kinds[name], value[name]) for name in kinds})
    if container is list and isinstance(value, list):
        return [from_plain(args[0], each) for each in value]
    if container in MAPPINGS and isinstance(value, dict):
        return {args[0](key): from_plain(args[1], value[key]) for key in value}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    allowed = args if container is UnionType else (kind,)
    # In JSON a float may be written as a whole number.
    if type(value) not in allowed and not (float in allowed and type(value) is int):
        raise TypeError(
            f"{value!r:.80} is not of type {getattr(kind, '__name__', kind)}"
        )
    return value


_kind_by_field = functools.cache(get_type_hints)
