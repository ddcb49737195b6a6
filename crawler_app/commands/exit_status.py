"""What a command returns to the shell.

Two is also what argparse says of a wrong option; 130 is 128 and the number of SIGINT.
"""

__all__ = ["BROKEN", "FAILED", "INTERRUPTED", "OK", "USAGE"]

OK = 0

# The start URL could not be fetched, nothing was found, or the disk failed.
FAILED = 1

USAGE = 2

# A report has broken links, and the user wants to know by the status.
BROKEN = 3

# Stopped by somebody: Ctrl-C, SIGTERM, the dashboard.
INTERRUPTED = 130
