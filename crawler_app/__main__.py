"""``python -m crawler_app``: the same as the command ``gencrawl``."""

import sys

from crawler_app.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
