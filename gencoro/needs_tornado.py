"""Refuses to be imported beside a Tornado that is too old.

A package that pins an old Tornado replaces today's when it is installed.  Without this the
error would be about a name that Tornado did not have.  Imported before Tornado's modules.
"""

import tornado

__all__ = ["NEEDED"]

# As in setup.cfg.
NEEDED = (6, 5, 6)

if tornado.version_info[:3] < NEEDED:
    _needed = ".".join(map(str, NEEDED))
    raise ImportError(
        f"Tornado {tornado.version} is installed, and gencoro needs {_needed} or newer; "
        f"run `pip install 'tornado>={_needed}'`, and install a package that pins an older "
        "one with `pip install --no-deps`",
        name="tornado",
    )
