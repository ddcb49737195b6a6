"""Progress display in a terminal::

    showing   shows a running crawl: as a table, or as plain lines
      table   the table, for any terminal size             pure
      screen  draws, redraws and erases the table
      lines   one plain line for a sample                  pure
    steps     the progress of any other command
      status_line  a line that is rewritten in place
        log_lines  few plain lines, where it cannot be
    tty       whether a stream is a terminal that can be overwritten, or shows color

Rule: no thread and no timer runs here.  The display changes when a sample arrives, or
when the command reports progress.
"""
