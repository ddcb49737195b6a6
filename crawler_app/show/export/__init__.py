"""What ``gencrawl export`` writes, besides the report.

`formats` is the table of the formats.  A format is one function, which gets the crawl, the
output and a progress callback, and options of its own::

    formats        the names of the formats, and what each needs
    archive_files  the archive as WACZ, and its index as CDXJ
    sitemap        sitemap.xml
    tables         tables, such as that of all URLs
    folder         the pages as files that open from the disk
    markdown       the text of pages, as Markdown, llms.txt and JSON
    file_names     names that are legal on every system
    replacing      folders that are complete, or as they were
"""
