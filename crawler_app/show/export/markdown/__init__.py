"""Exports the text of pages: Markdown files, llms.txt, and text as JSON lines.

Pages are read from the archive.  All but `formats` and `pages` are pure::

    formats       the functions that write each format
    pages         the pages of a crawl, with what is known of them
    rendering     a page as Markdown
      preparing   code, formulas and footnotes, in a way that the renderer understands
"""
