"""What follows a call in the function that makes it, by the function's bytecode.

Rule: what is not known to be silent counts as something that runs.

Pure.  An instruction knows the part of the source that it stands for, so that an instruction
of the list display around a call can be told from one of the next element.
"""

import bisect
import dis
import functools
import inspect
from collections.abc import Iterator
from enum import Enum, auto
from types import CodeType
from typing import NamedTuple

__all__ = [
    "After",
    "Next",
    "after_call",
    "is_delegating",
    "position_at",
    "position_of_yield",
]


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


# Start line, start column, end line, end column.
_Span = tuple[int, int, int, int]

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

# Instructions at which other code runs before the list is complete.
_SUSPENDING = {"SEND", "YIELD_VALUE"}


@functools.cache
def after_call(code: CodeType, offset: int) -> After:
    """Return what becomes of the result of the call at an offset.

    >>> def double(f):
    ...     return [f(1), f(2)]
    >>> calls = [i for i in dis.get_instructions(double) if i.opname.startswith("CALL")]
    >>> for call in calls:
    ...     print(after_call(double.__code__, call.offset))
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
    call = _span(_instruction_at(code, offset))
    as_element = False
    between = []
    for instruction in _walk(code, offset):
        span = _span(instruction)
        if call is None or span is None or not _contains(span, call):
            between.append(instruction)
        elif instruction.opname == opname:
            is_at_once = all(_is_part_of(span, other) for other in between)
            return After(use, as_element) if is_at_once else After(Next.KEPT)
        elif not _is_building(instruction):
            is_taken = instruction.opname.startswith(_TAKING)
            return After(Next.PASSED if is_taken else Next.KEPT)
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
        return "", Next.KEPT  # its value goes to whoever awaits it, later
    return "RETURN_VALUE", Next.RETURNED


def _is_genexpr(code: CodeType) -> bool:
    """Return whether the function is a generator expression.

    It passes on elements to its caller, which makes a list or dict of them.
    """
    return code.co_name == "<genexpr>"


def _is_awaiting(instruction: dis.Instruction) -> bool:
    # Python 3.15 has an argument of GET_ITER for `yield from`.
    is_yield_from = instruction.opname == "GET_ITER" and instruction.arg
    return bool(is_yield_from) or instruction.opname in _AWAITING


def _is_building(instruction: dis.Instruction) -> bool:
    if instruction.opname == "LOAD_CONST":  # the keys of a dict display
        return isinstance(instruction.argval, tuple)
    return instruction.opname in _BUILDING


def _walk(code: CodeType, offset: int) -> Iterator[dis.Instruction]:
    """Yield the instructions after an offset, each loop once."""
    instructions, _ = _instructions(code)
    index = _index_at(code, offset) + 1
    while index < len(instructions):
        yield instructions[index]
        is_jump = instructions[index].opname == "JUMP_FORWARD"
        index = _index_at(code, instructions[index].argval) if is_jump else index + 1


def is_delegating(code: CodeType, offset: int) -> bool:
    """Return whether a generator that runs another one does so by ``yield from``."""
    return _instruction_at(code, offset).opname == "SEND"


def position_at(code: CodeType, offset: int) -> tuple[int | None, int | None]:
    """Return the line and column where the expression at an offset begins."""
    return _position(_instruction_at(code, offset))


def position_of_yield(code: CodeType, offset: int) -> tuple[int | None, int | None]:
    """Return the line and column of the ``yield`` at which a generator is suspended.

    The line is None if it is suspended elsewhere, or has not started.
    """
    instruction = _instruction_at(code, offset)
    # From Python 3.13 on, it is suspended before the instruction that resumes it.
    if instruction.opname == "RESUME":
        instruction = _instruction_at(code, instruction.offset - 1)
    is_yield = instruction.opname == "YIELD_VALUE"
    return _position(instruction) if is_yield else (None, None)


def _position(instruction: dis.Instruction) -> tuple[int | None, int | None]:
    at = instruction.positions
    return (None, None) if at is None else (at.lineno, at.col_offset)


def _instruction_at(code: CodeType, offset: int) -> dis.Instruction:
    return _instructions(code)[0][_index_at(code, offset)]


@functools.cache
def _instructions(code: CodeType) -> tuple[list[dis.Instruction], list[int]]:
    """Return the instructions of a function, and their offsets."""
    instructions = list(dis.get_instructions(code))
    return instructions, [instruction.offset for instruction in instructions]


def _index_at(code: CodeType, offset: int) -> int:
    """Return the index of the instruction at an offset, or that has its cache there."""
    _, offsets = _instructions(code)
    return max(bisect.bisect_right(offsets, offset) - 1, 0)


def _span(instruction: dis.Instruction) -> _Span | None:
    at = instruction.positions
    if at is None or at.lineno is None or at.end_lineno is None:
        return None
    if at.col_offset is None or at.end_col_offset is None:
        return None
    return at.lineno, at.col_offset, at.end_lineno, at.end_col_offset


def _contains(outer: _Span, inner: _Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _is_part_of(outer: _Span, instruction: dis.Instruction) -> bool:
    """Return whether an instruction evaluates a part of an expression, in one go.

    What leaves a `with` block, for example, belongs to another part of the source.
    """
    span = _span(instruction)
    is_inside = span is None or _contains(outer, span)
    return is_inside and instruction.opname not in _SUSPENDING
