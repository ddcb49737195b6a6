"""Object storage for the archives and indexes of workers::

    objects    access to the objects below one URL, through fsspec
    checksums  verifies an upload by the checksum of the store            pure
    catalogue  the files and tables of a worker, as JSON                  pure
    uploads    records the files of a directory that have been uploaded
    ranges     an object as a file to read from
    tables     the tables of a worker, downloaded into a cache

Below the URL that `gencrawl postgres work --into` names, each worker has a prefix of its
own, its UUID, so no two of them write the same object::

    UUID/archive-00001.warc.gz       and up
    UUID/archive-00007.sqlite3       the table of captures as of the 7th snapshot
    UUID/crawl-00007.sqlite          the index as of the 7th snapshot
    UUID/catalogue.json              names all of these

Rule: an object that the catalogue names is complete, and was verified; the catalogue is
written last, so that its readers see one snapshot or the next.
"""
