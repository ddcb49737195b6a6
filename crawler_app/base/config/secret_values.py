"""Secrets that configuration files refer to as ``${NAME}``.

Rule: they are in the environment, or in a file that only its owner can read, and no error shows one.
"""

import re
from collections.abc import Mapping

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import is_private, read_limited

__all__ = ["REFERENCE", "filled", "secrets_in"]

MAX_SECRETS_BYTES = 64 * 1024

# To a secret.
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def filled(text: str, secret_by_name: Mapping[str, str]) -> str:
    """Return a text with the secrets that it refers to.

    Raises:
        ConfigError: one is missing.

    >>> filled("https://a.test/${KEY}", {"KEY": "s3cr3t"})
    'https://a.test/s3cr3t'
    """
    missing = [
        found[0] for found in REFERENCE.finditer(text) if found[1] not in secret_by_name
    ]
    if missing:
        raise ConfigError(
            f"{missing[0]} is neither in the environment nor in the file that `secrets` names"
        )
    return REFERENCE.sub(lambda found: secret_by_name[found[1]], text)


def secrets_in(path: str) -> dict[str, str]:
    """Return the values of a file of NAME=VALUE lines by their names.

    Args:
        path: Empty for no file.

    Raises:
        ConfigError: it cannot be read, or others can read it.
    """
    if not path:
        return {}
    try:
        if not is_private(path):
            raise ConfigError(f"{path} can be read by others; chmod 600 it")
        text = read_limited(path, MAX_SECRETS_BYTES).decode()
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", "") or "it is not text in UTF-8"
        raise ConfigError(f"cannot read the secrets in {path}: {why}") from None
    secret_by_name = {}
    for at, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line or line.startswith("#"):
            continue
        name, sign, value = line.partition("=")
        if not sign:
            raise ConfigError(f"line {at} of {path} is not NAME=VALUE")
        secret_by_name[name.strip()] = value.strip()
    return secret_by_name
