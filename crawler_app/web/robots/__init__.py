"""What robots.txt, pages and headers ask of crawlers::

    cache       robots.txt, fetched once per origin and kept for a day
    rules       parses robots.txt
    directives  those of pages and headers

Nothing is imported here, so that the process that parses pages imports `directives` alone.
"""
