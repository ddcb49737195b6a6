"""The archive of a crawl: every exchange in WARC files, readable by any replay tool.

The files in the directory::

    archive-00001.warc.gz   and up: the exchanges as they were on the wire
    archive.sqlite3         where each capture lies in them, and what its head says

From the event loop to the disk::

    store           the archive as a crawl uses it: small exchanges are written at once
    recorder        one exchange -> records and a row; revisits
    known_payloads  what another archive has, for revisits
    block           the HTTP message as it was on the wire             pure
    record          WARC records                                       pure
    gzip_members    gzip members, and reading damaged files
    warc_files      the numbered files
    captures        the table of captures
    totals          counts and sizes
    recovery        makes the table agree with the files when the archive is opened
    replay          a capture -> Fetched
    secrets         leaves passwords and cookies out of what is shared
    reading         the archives of other processes
    lookup          URLs by which a POST and its like are looked up    pure
    surt, cdxj, wacz  exports for other tools

Rule: once `flush` has returned, everything written before is in the files and in the
table, even if the process is killed.  The frontier relies on it: it commits a URL as done
only after that.

Why not warcio: it needs 0.14 ms to make the records of a page of 2.4 KB, not counting
compression.  The tests read every record with it.
"""
