"""Secrets, which are in the environment or in files, and never in a configuration file."""

import os
from pathlib import Path
from typing import Any

from crawler_app.base.config.option import option
from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import read_limited

__all__ = ["placed", "redacted", "secret_of", "secret_option"]

FROM_ENVIRONMENT, FROM_FILE = "env:", "file:"
MAX_BYTES = 65536


def secret_option(help: str) -> Any:
    """Make an option that says where a secret is."""
    return option("", help, is_secret=True, rule=_require_reference)


def _require_reference(name: str, reference: str) -> None:
    if reference and not reference.startswith((FROM_ENVIRONMENT, FROM_FILE)):
        raise ConfigError(
            f"{name} must not be in this file; write env:NAME, for a variable of the "
            "environment, or file:PATH"
        )


def placed(reference: str, directory: Path) -> str:
    """Return a reference whose path does not depend on the working directory."""
    if not reference.startswith(FROM_FILE):
        return reference
    path = Path(reference.removeprefix(FROM_FILE)).expanduser()
    return f"{FROM_FILE}{directory / path}"


def secret_of(reference: str) -> str:
    """Return the secret that a reference stands for; another text stands for itself.

    Raises:
        ConfigError: it is not there, or others may read the file.
    """
    if reference.startswith(FROM_ENVIRONMENT):
        name = reference.removeprefix(FROM_ENVIRONMENT)
        if not os.environ.get(name):
            raise ConfigError(f"the environment has no variable {name}")
        return os.environ[name]
    if not reference.startswith(FROM_FILE):
        return reference
    path = Path(reference.removeprefix(FROM_FILE))
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"others may read {path}; run `chmod 600 {path}`")
        return read_limited(path, MAX_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot read {path}: {exc}") from None


def redacted(text: str, *secrets: str) -> str:
    """Return a text without secrets.

    >>> redacted("no route to https://a.test/hook/s3cr3t", "s3cr3t", "")
    'no route to https://a.test/hook/***'
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text
