"""What Tornado had until version 5, on the Runner of today.

It subclasses the core or registers with it, and is never imported by it: a program that
uses nothing of this loads nothing of it.  The names are handed out by `gencoro.gen`,
`gencoro.concurrent` and `gencoro.stack_context`, with a DeprecationWarning each.
"""

# Whichever of its modules is asked for: these two register what the others count on.
from gencoro.legacy import become, native

__all__ = ["become", "native"]
