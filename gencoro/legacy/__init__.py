"""What Tornado had until version 5, built on gencoro's Runner.

It subclasses the core or registers with it, and is never imported by it: a program that
does not use it does not load it.  Its names are available from `gencoro.gen`,
`gencoro.concurrent` and `gencoro.stack_context`, each with a DeprecationWarning.
"""

# Whichever of its modules is asked for: these two register what the others count on.
from gencoro.legacy import become, native

__all__ = ["become", "native"]
