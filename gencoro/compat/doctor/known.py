"""The names that the doctor knows: Tornado's, Python's removed ones, and re-exports.

Rule: a name of another package stands for Tornado's if that package had it from there.

Pure.  Used by the other modules of the doctor.
"""

import re

from gencoro.compat.doctor.python_2 import PYTHON_2, PYTHON_2_INSTEAD
from gencoro.compat.doctor.removed import ASYNC, REMOVED, REMOVED_INSTEAD
from gencoro.compat.doctor.today import Today
from gencoro.compat.names import INSTEAD, PYTHON, TABLE, Row

__all__ = ["ADVICE", "ALL", "has_rows", "is_class", "meant_by", "mentions"]

# Every row, and the advice for those that are not served.
ALL: dict[str, Row] = TABLE | REMOVED | PYTHON_2
ADVICE: dict[str, str] = INSTEAD | REMOVED_INSTEAD | PYTHON_2_INSTEAD

# Modules of other packages whose names are those of a module of Tornado.
_REEXPORTS = {
    "zmq.eventloop.ioloop": "tornado.ioloop",
    "zmq.eventloop.minitornado": "tornado",
}

# Names in them that are the packages' own, and what they stand for.
_OWN_NAMES = {
    "zmq.eventloop.ioloop.ZMQIOLoop": "tornado.ioloop.IOLoop",
    "zmq.eventloop.ioloop.ZMQPoller": "",
    "zmq.eventloop.ioloop.DelayedCallback": "tornado.ioloop.PeriodicCallback",
    "zmq.eventloop.ioloop.install": "",
}

_OF_PYTHON = [*PYTHON, *(name for name in REMOVED if name != ASYNC), *PYTHON_2]

# The top packages of the names that are followed.
_TOPS = frozenset(
    ["tornado", *(name.partition(".")[0] for name in [*_OF_PYTHON, *_REEXPORTS])]
)

# The classes of the standard library that have rows.
_CLASSES = frozenset(
    owner
    for owner in (name.rpartition(".")[0] for name in _OF_PYTHON)
    if owner.rpartition(".")[2][:1].isupper()
)

# The words that a source contains if it uses a removed name of Python.  Methods may be
# called in a module that does not name their class.
_WORDS = [
    {name.rpartition(".")[2]}
    if owner in _CLASSES or owner.startswith("builtins")
    else set(name.split("."))
    for name in _OF_PYTHON
    for owner in [name.rpartition(".")[0]]
]
_WORD = re.compile(rb"[A-Za-z_]\w+")


def mentions(source: bytes) -> bool:
    """Return True if a source may use a name that the doctor knows.

    >>> mentions(b"import numpy"), mentions(b"from collections import Mapping")
    (False, True)
    """
    if b"tornado" in source or b"zmq.eventloop" in source:
        return True
    words = {word.decode(errors="replace") for word in set(_WORD.findall(source))}
    return any(row <= words for row in _WORDS)


def has_rows(module: str) -> bool:
    """Return True if names of a module, or of modules in it, may have rows.

    >>> has_rows("tornado.web"), has_rows("zmq.eventloop"), has_rows("numpy")
    (True, True, False)
    """
    return module.partition(".")[0] in _TOPS


def is_class(name: str) -> bool:
    """Return True if a name of the standard library is a class that has rows.

    >>> is_class("unittest.TestCase"), is_class("unittest.mock.Mock")
    (True, False)
    """
    return name in _CLASSES


def meant_by(name: str, today: Today) -> list[str]:
    """Return the name of Tornado or the standard library that a dotted name stands for.

    The result is empty if another package has a name of its own there.

    >>> meant_by("zmq.eventloop.ioloop.IOLoop", Today())
    ['tornado.ioloop.IOLoop']
    >>> meant_by("zmq.eventloop.ioloop.install", Today())
    []
    """
    if name in _OWN_NAMES:
        return [_OWN_NAMES[name]] if _OWN_NAMES[name] else []
    for module, original in _REEXPORTS.items():
        if name.startswith(f"{module}."):
            meant = original + name.removeprefix(module)
            return [meant] if today.has(meant) or meant in TABLE else []
    return [name]
