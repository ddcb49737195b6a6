"""Lets unmodified code of Tornado 2 to 5 run on today's Tornado.

`install`, before the legacy imports, puts back into ``tornado.*`` what Tornado has removed,
and gives its old meaning to what has another one now.  Modern code beside it goes on as it
was.  `gencoro.compat.names` has the table of all that; ``python -m gencoro doctor`` tells
what of it a code base uses, and ``python -m gencoro run`` installs it for a script.
"""

from gencoro.compat.installer import install, installed, uninstall

__all__ = ["install", "installed", "uninstall"]
