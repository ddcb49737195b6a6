"""Where PyInstaller finds the hooks of gencoro, by an entry point of the package."""

import os

__all__ = ["get_hook_dirs"]


def get_hook_dirs() -> list[str]:
    """Return the folder of the hooks."""
    return [os.path.dirname(__file__)]
