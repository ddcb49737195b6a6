"""The program: ``gencrawl``, or ``python -m crawler_app``."""

import sys

from crawler_app.commands.exit_status import INTERRUPTED

__all__ = ["main"]


def main() -> int:
    """Run one command; return its exit status."""
    try:
        # Imported here, because it takes 100 ms, and Ctrl-C in them is no error.
        from crawler_app.commands.main import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
