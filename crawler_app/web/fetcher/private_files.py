"""Files with private keys, which only their owner may read."""

import os
import shlex
import stat

from crawler_app.base.errors import ConfigError

__all__ = ["require_private"]

# As libpq has it: group and others may do nothing.
OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def require_private(flag: str, path: str) -> None:
    """Raise ConfigError if other users may read or change a file.

    Args:
        flag: The option that names it.

    Raises:
        ConfigError: they may.
        OSError: the file cannot be looked at.
    """
    if os.stat(path).st_mode & OF_OTHERS:
        raise ConfigError(
            f"the private key in {flag} {path} may be read by other users of this machine; "
            f"chmod 600 {shlex.quote(path)}"
        )
