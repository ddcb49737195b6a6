"""Exit statuses of the commands.

2 is that of argparse for usage errors; 130 is 128 plus the number of SIGINT.
"""

__all__ = ["BROKEN", "FAILED", "INTERRUPTED", "OK", "USAGE"]

OK = 0

# The start URL could not be fetched, nothing was found, the disk failed, or there is a bug; `watch`
# could not check a site or send a notice.
FAILED = 1

USAGE = 2

# `check` found something broken, or the report has broken links and --fail-on asks for a status.
BROKEN = 3

# Stopped by Ctrl-C, SIGTERM or the dashboard.
INTERRUPTED = 130
