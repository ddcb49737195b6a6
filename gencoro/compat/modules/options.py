"""`tornado.options` as in Tornado 2."""

import logging
import sys

import tornado.options
from tornado.log import enable_pretty_logging
from tornado.options import OptionParser

__all__ = ["Options"]


class Options(OptionParser):
    """A parser without options, even ``help``, that configures logging itself."""

    def __init__(self) -> None:
        super().__init__()
        self._options.clear()

    @staticmethod
    def instance() -> OptionParser:
        """Return the options of the program."""
        return tornado.options.options

    def parse_command_line(
        self, args: list[str] | None = None, final: bool = True
    ) -> list[str]:
        """Parse the arguments, and apply the options ``help`` and ``logging`` if defined.

        Raises:
            SystemExit: the help has been printed.
        """
        rest = super().parse_command_line(args, final)
        if "help" in self and self.help:
            self.print_help()
            sys.exit(0)
        if "logging" in self and self.logging != "none":
            enable_pretty_logging()
            # Last: since Tornado 3 the call above sets the level too, from the
            # options of the program.
            logging.getLogger().setLevel(self.logging.upper())
        return rest
