"""A name for the type of plain generators that a coroutine delegates to.

Both a ``@gen.coroutine`` and a plain generator are written as generator functions.  A
coroutine returns a Future and is used with ``yield``; annotate it with `Generator`.  A
plain one runs inside the coroutine that uses it with ``yield from``; annotate it with
`Subgenerator`.
"""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["Subgenerator"]

T = TypeVar("T")

# What it yields goes to the Runner of the coroutine, and what it is sent comes from there.
Subgenerator: TypeAlias = Generator[Any, Any, T]
