"""Finds Chromium on this machine."""

import shutil

from crawler_app.base.errors import ConfigError

__all__ = ["chromium_path"]

# As the distributions and its maker name it.
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)


def chromium_path() -> str:
    """Return the path of Chromium.

    Raises:
        ConfigError: it is not installed.
    """
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise ConfigError(
        "--render needs Chromium, which is not installed: `apt install chromium` on Debian, "
        "`dnf install chromium` on Fedora, `snap install chromium` on Ubuntu"
    )
