"""Progress display in a terminal::

    progress_display  shows a crawl, or the progress of another command
      live_display    a table or a bar that is redrawn in place, with rich
      plain_text      a plain line now and then, where nothing can be redrawn

Rule: no thread and no timer runs here.  The display changes when a sample arrives, or
when the command reports progress.
"""
