"""Imports what needs the PostgreSQL driver, which is optional."""

from importlib import import_module
from typing import Any

from crawler_app.base.errors import ConfigError

__all__ = ["postgres_module"]


def postgres_module(name: str) -> Any:
    """Import a module that needs the PostgreSQL driver.

    Raises:
        ConfigError: the driver is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as exc:
        if exc.name != "asyncpg":
            raise
        raise ConfigError(
            f"a frontier in PostgreSQL, and several processes, need asyncpg ({exc}); "
            "pip install 'gencoro[processes]'"
        ) from None
