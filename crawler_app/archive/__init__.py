"""The archive of a crawl: every exchange in WARC files, which every replay tool reads.

What is where in the directory::

    archive-00001.warc.gz   and on: the exchanges as they were on the wire
    archive.sqlite3         where in them which capture is, and what its head says
    archive.cdxj            the same for replay tools, written when the crawl ends

From the event loop to the disk::

    store       the archive as a crawl uses it
    writer      the thread; batches, back-pressure, errors
    recorder    one exchange -> records and a row; revisits
    block       the HTTP message as it was on the wire                  pure
    record      WARC records                                            pure
    members     gzip members, and reading what may be damaged
    files       the numbered files
    captures    the table
    totals      how much there is
    recovery    the table and the files made to agree, when it is opened
    replay      a capture -> Fetched
    surt, cdxj, wacz                                        for other tools

Rule: what `flush` has returned for is in the files and in the table, even if the process
is killed.  The frontier relies on it: it commits a URL as done only after that.

Not warcio, which needs 0.14 ms to make the records of a page of 2.4 KB, deflating not
counted; the tests read every record with it.
"""
