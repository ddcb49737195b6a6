"""What ``mkdocs new .`` and then ``mkdocs serve`` do."""

import sys

from mkdocs.__main__ import cli

cli(["new", "."], standalone_mode=False)
cli(["serve", *sys.argv[1:]])
