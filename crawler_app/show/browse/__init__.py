"""An archive in the browser, offline: ``gencrawl browse DIR``.

ReplayWeb.page shows the archived pages as they were: it runs in the browser, reads the archive
as a WACZ file, a few kilobytes at a time, and answers what a page asks for from there.  Around
it are the search and the report of the crawl.

Rule: nothing leaves this machine.  The pages are untrusted, so the server shows only what is in
the crawl, to those who know its token, and its policies keep the browser from asking others::

    serving      the server
    pages        the page around the replayed one, and the hits of a search     pure
    sparse_file  a WACZ file that is made of the archive's own files
    player       ReplayWeb.page: where it comes from
"""
