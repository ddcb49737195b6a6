"""The type of plain generators that a coroutine delegates to.

Both a ``@gen.coroutine`` and a plain generator are written as generator functions.  A
coroutine returns a Future and is used with ``yield``; annotate it with `Generator`.  A
plain generator runs inside the coroutine that uses it with ``yield from``; annotate it with
`Subgenerator`.
"""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["Subgenerator"]

T = TypeVar("T")

# The values that it yields go to the Runner of the coroutine, which sends the results back.
Subgenerator: TypeAlias = Generator[Any, Any, T]
