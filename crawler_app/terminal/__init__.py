"""Progress in a terminal::

    showing   a running crawl: as a table, or as plain lines
      table   the table, for any size of the terminal      pure
      screen  drawn, redrawn and wiped
      lines   one plain line for each sample               pure
    steps     the progress of any other command
    tty       whether a stream is a terminal that can be written over

Rule: nothing here starts by itself: no thread, no timer.  What is shown changes when a
sample comes, or when the command reports progress.
"""
