"""Facade: the names of ``tornado.stack_context``, all of which are legacy."""

from typing import Any

from gencoro.legacy_names import STACK_CONTEXT, hand_out

__all__ = [name for name in STACK_CONTEXT if not name.startswith("_")]


def __getattr__(name: str) -> Any:
    return hand_out(__name__, name)
