"""Legacy `tornado.log.LogFormatter` of Tornado 4.4, whose first parameter was the
color.
"""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["make_formatter"]

# The parameters after the color; today they are in another order.
FOLLOWING = ("fmt", "datefmt", "colors")


def make_formatter(original: Callable[..., None]) -> Callable[..., None]:
    """Accept ``LogFormatter(color, fmt, datefmt, colors)``.

    Today's first parameter is the format, which is never a bool.
    """

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if args and isinstance(args[0], bool):
            kwargs.update(zip(FOLLOWING, args[1:], strict=False), color=args[0])
            args = ()
        original(self, *args, **kwargs)

    return __init__
