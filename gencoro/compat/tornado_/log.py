"""Legacy `tornado.log.LogFormatter` of Tornado 4.4, whose first parameter was the
color.
"""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["make_formatter"]

# What followed the color; today they are in another order.
FOLLOWING = ("fmt", "datefmt", "colors")


def make_formatter(original: Callable[..., None]) -> Callable[..., None]:
    """Have ``LogFormatter(color, fmt, datefmt, colors)`` understood.

    Today the first is the format, which is no truth value.
    """

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if args and isinstance(args[0], bool):
            kwargs.update(zip(FOLLOWING, args[1:], strict=False), color=args[0])
            args = ()
        original(self, *args, **kwargs)

    return __init__
