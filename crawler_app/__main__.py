"""The program: ``gencrawl``, or ``python -m crawler_app``."""

import sys

from crawler_app.commands.exit_status import INTERRUPTED, USAGE

__all__ = ["main"]

OURS = ("crawler_app", "gencoro")


def main() -> int:
    """Run one command; return its exit status."""
    try:
        # Imported here, because it takes 100 ms, and Ctrl-C in them is no error.
        from crawler_app.commands.main import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except ModuleNotFoundError as exc:
        # Those of other extras are looked for, and missed, where an option needs them.
        if (exc.name or "").partition(".")[0] in OURS:
            raise
        print(f"gencrawl: {exc}; pip install 'gencoro[crawler]'", file=sys.stderr)
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
