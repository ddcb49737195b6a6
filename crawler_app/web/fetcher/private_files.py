"""Files with private keys, which only their owner may read."""

import shlex

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import is_private

__all__ = ["require_private"]


def require_private(flag: str, path: str) -> None:
    """Raise ConfigError if other users may read or change a file.

    Args:
        flag: The option that names it.

    Raises:
        ConfigError: they may.
        OSError: the file cannot be looked at.
    """
    if not is_private(path):
        raise ConfigError(
            f"the private key in {flag} {path} may be read by other users of this machine; "
            f"chmod 600 {shlex.quote(path)}"
        )
