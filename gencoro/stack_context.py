"""Facade: the names of ``tornado.stack_context``, all of which are legacy."""

from typing import TYPE_CHECKING, Any

from gencoro.legacy_names import hand_out

if TYPE_CHECKING:
    from gencoro.legacy.stack_context import (
        ExceptionStackContext,
        NullContext,
        StackContext,
        StackContextInconsistentError,
        run_with_stack_context,
        wrap,
    )

__all__ = [
    "ExceptionStackContext",
    "NullContext",
    "StackContext",
    "StackContextInconsistentError",
    "run_with_stack_context",
    "wrap",
]


def __getattr__(name: str) -> Any:
    return hand_out(__name__, name)
