"""What follows a call in the function that makes it, by the function's bytecode.

Rule: what is not known to be silent counts as something that runs.

Pure.  An instruction knows the part of the source that it stands for, so that an instruction
of the list display around a call can be told from one of the next element.  Decoded by hand
from the call on: `dis` would take milliseconds for a long function, and a program that is
recorded may have to be in time.
"""

import dis
import functools
import inspect
from collections.abc import Callable, Iterator
from enum import Enum, auto
from types import CodeType
from typing import NamedTuple, TypeVar

__all__ = [
    "After",
    "Next",
    "after_call",
    "is_delegating",
    "position_at",
    "position_of_yield",
]

T = TypeVar("T")

# Line and column; None where Python keeps none.
_LineColumn = tuple[int | None, int | None]


class Next(Enum):
    """What happens next to the result of a call."""

    YIELDED = auto()
    AWAITED = auto()
    RETURNED = auto()
    DROPPED = auto()
    PASSED = auto()
    KEPT = auto()


class After(NamedTuple):
    """What happens to the result, by itself or as an element of a list or dict."""

    next: Next
    as_element: bool = False


# Line, column, last line, last column.
_Span = tuple[int, int, int, int]


class _Instruction(NamedTuple):
    """An instruction; the span is None for one that stands for no part of the source."""

    opname: str
    arg: int
    span: _Span | None


def _cached(function: Callable[[CodeType, int], T]) -> Callable[[CodeType, int], T]:
    """Cache the results of a function of a code object and an offset in it.

    Not `functools.cache`: the hash of a code object takes as long as it is large.
    """
    known: dict[tuple[int, int], tuple[CodeType, T]] = {}

    @functools.wraps(function)
    def cached(code: CodeType, offset: int) -> T:
        found = known.get((id(code), offset))
        if found is None:
            # With the code object, so that no other one gets its id.
            found = known[id(code), offset] = code, function(code, offset)
        return found[1]

    return cached


# Instructions that run nothing, between a call and the use of its result.
_SILENT = {"CACHE", "EXTENDED_ARG", "JUMP_FORWARD", "NOP", "NOT_TAKEN"}

# Those that put an element into a list or dict.
_ADDING = {
    "BUILD_CONST_KEY_MAP",
    "BUILD_LIST",
    "BUILD_MAP",
    "BUILD_TUPLE",
    "LIST_APPEND",
    "LIST_EXTEND",
    "MAP_ADD",
}

# Those that go on with the next element, or leave a loop.
_BUILDING = (
    _SILENT
    | _ADDING
    | {
        "COPY",
        "END_FOR",
        "FOR_ITER",
        "JUMP_BACKWARD",
        "LOAD_FAST",
        "LOAD_FAST_AND_CLEAR",
        "POP_ITER",
        "POP_TOP",
        "STORE_FAST",
        "SWAP",
    }
)

_AWAITING = {"GET_AWAITABLE", "GET_YIELD_FROM_ITER"}

# Instructions at which other code runs before the list is complete.  What leaves a `with`
# block by a `return` stands for the whole block, and the `return` after a `finally` for
# nothing: neither is taken for the end of the list.
_SUSPENDING = {"SEND", "YIELD_VALUE"}


@_cached
def after_call(code: CodeType, offset: int) -> After:
    """Return what becomes of the result of the call at an offset.

    >>> def double(f):
    ...     return [f(1), f(2)]
    >>> for instruction in dis.get_instructions(double):
    ...     if instruction.opname == "CALL":
    ...         print(after_call(double.__code__, instruction.offset))
    After(next=<Next.RETURNED: 3>, as_element=True)
    After(next=<Next.RETURNED: 3>, as_element=True)
    """
    opname, use = _last_use(code)
    following = next(i for i in _walk(code, offset) if i.opname not in _SILENT)
    if following.opname == opname:
        return After(use, _is_genexpr(code))
    if following.opname == "POP_TOP":
        return After(Next.DROPPED)
    if _is_awaiting(following):
        return After(Next.AWAITED)
    return _after_element(code, offset)


def _after_element(code: CodeType, offset: int) -> After:
    """Return what becomes of a list or dict around a call."""
    opname, use = _last_use(code)
    call = _span_at(code, offset)
    as_element = False
    is_suspended = False
    for instruction in _walk(code, offset):
        span = instruction.span
        if call is None or span is None or not _contains(span, call):
            is_suspended = is_suspended or instruction.opname in _SUSPENDING
        elif instruction.opname == opname:
            return After(Next.KEPT) if is_suspended else After(use, as_element)
        elif not _is_building(code, instruction):
            is_taken = instruction.opname.startswith(_TAKING)
            return After(Next.PASSED if is_taken else Next.KEPT)
        else:
            as_element = as_element or instruction.opname in _ADDING
    return After(Next.KEPT)


# A call that takes the result as an argument, or the look-up of a method of it.
_TAKING = ("PRECALL", "CALL", "LOAD_ATTR", "LOAD_METHOD")


def _last_use(code: CodeType) -> tuple[str, Next]:
    """Return the instruction that hands a value out of a function, and what it means."""
    if code.co_flags & inspect.CO_GENERATOR:
        is_yielded = not _is_genexpr(code)
        return "YIELD_VALUE", Next.YIELDED if is_yielded else Next.RETURNED
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return "", Next.KEPT  # its value goes to a later await
    return "RETURN_VALUE", Next.RETURNED


def _is_genexpr(code: CodeType) -> bool:
    """Return whether the function is a generator expression.

    It passes on elements to its caller, which makes a list or dict of them.
    """
    return code.co_name == "<genexpr>"


def _is_awaiting(instruction: _Instruction) -> bool:
    # Python 3.15 has an argument of GET_ITER for `yield from`.
    is_yield_from = instruction.opname == "GET_ITER" and instruction.arg
    return bool(is_yield_from) or instruction.opname in _AWAITING


def _is_building(code: CodeType, instruction: _Instruction) -> bool:
    if instruction.opname == "LOAD_CONST":  # the keys of a dict display
        return isinstance(code.co_consts[instruction.arg], tuple)
    return instruction.opname in _BUILDING


def _contains(outer: _Span, inner: _Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _walk(code: CodeType, offset: int) -> Iterator[_Instruction]:
    """Yield the instructions after an offset, each loop once."""
    bytecode = code.co_code
    spans = _spans(code)
    extension = 0
    offset += 2
    while offset < len(bytecode):
        opname, arg = dis.opname[bytecode[offset]], bytecode[offset + 1] | extension
        yield _Instruction(opname, arg, spans[offset // 2])
        extension = arg << 8 if opname == "EXTENDED_ARG" else 0
        offset += 2 + (2 * arg if opname == "JUMP_FORWARD" else 0)


def _opname_at(code: CodeType, offset: int) -> str:
    """Return the instruction at an offset, or that has its cache there."""
    while (opname := dis.opname[code.co_code[offset]]) == "CACHE":
        offset -= 2
    return opname


def is_delegating(code: CodeType, offset: int) -> bool:
    """Return whether a generator that runs another one does so by ``yield from``."""
    return _opname_at(code, offset) == "SEND"


@_cached
def position_at(code: CodeType, offset: int) -> _LineColumn:
    """Return the line and column where the expression at an offset begins."""
    span = _span_at(code, offset)
    return (_line_at(code, offset), None) if span is None else span[:2]


@_cached
def position_of_yield(code: CodeType, offset: int) -> _LineColumn:
    """Return the line and column of the ``yield`` at which a generator is suspended.

    The line is None if it is suspended elsewhere, or has not started.
    """
    # From Python 3.13 on, it is suspended before the instruction that resumes it.
    if offset > 0 and _opname_at(code, offset) == "RESUME":
        offset -= 2
    is_yield = offset > 0 and _opname_at(code, offset) == "YIELD_VALUE"
    return position_at(code, offset) if is_yield else (None, None)


def _span_at(code: CodeType, offset: int) -> _Span | None:
    return _spans(code)[offset // 2]


def _line_at(code: CodeType, offset: int) -> int | None:
    return list(code.co_positions())[offset // 2][0]


def _spans(code: CodeType) -> list[_Span | None]:
    """Return the span of each instruction, and of each part of its cache."""
    return [
        (line, column, last_line, last_column)
        if line is not None
        and last_line is not None
        and column is not None
        and last_column is not None
        else None
        for line, last_line, column, last_column in code.co_positions()
    ]
