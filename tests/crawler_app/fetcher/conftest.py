"""Where tests of the fetchers find the servers that they share."""

import pathlib
import sys

# The helper beside the tests (raw_servers) is a plain module.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
