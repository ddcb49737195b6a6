"""The frontier in PostgreSQL, which the workers of many machines share::

    place       where a crawl is: servers, database and name      pure
    connecting  connections to a crawl, whose version is checked
    install     makes the schema of a crawl
    crawls      begins a crawl, lists them, and says who works on one
    worker      a worker's view, which its crawl uses
    exchange    what it exchanges with the server, and when
    answers     what an answer changes
    leases      the claims that it has                            pure
    books       the numbers that it was told                      pure
    batch       what it has to tell of URLs, after a flush        pure
    outbox      the batches that wait to be sent                  pure
    notes       what it has to tell of hosts, at once             pure
    wire        JSON that PostgreSQL can store                    pure
    recent      what it remembers of links and origins            pure
    pump        sends batches, and gets claims
    reading     what all workers have found, for reports
    files       a crawl's SQLite files as rows of these tables
    copying     copies such a crawl

``tables.sql`` and ``functions.sql`` are what the server stores and does.

Rule 1: a worker may be killed, or cut off, at any moment.  What it had claimed goes to others
when its lease ends, without a try; what it says later of these is not recorded.

Rule 2: all rules that workers share (order, gaps, limits) are kept by the server, by its
clock, in the transaction that leases a URL.

Rule 3: what workers learn of an origin (robots.txt, cookies, an outage) has a version, which
comes with each claim.  A claim is handed out when its worker has that version.
"""
