"""The frontier in PostgreSQL, which the workers of many machines share::

    location    where a crawl is: servers, database and name      pure
    connecting  connections to a crawl, whose version is checked
    install     makes the schema of a crawl
    crawls      begins a crawl, lists them, and says who works on one
    postgres_frontier      a worker's view, which its crawl uses
    step_exchange    when it sends batches, and asks for claims
    step_results applies the answer to a step
    leases      the claims that it holds                          pure
    url_counts       the counts of URLs in the last answer             pure
    step_changes       the changes of one step, after a flush            pure
    change_queue     the queue of batches to be sent                   pure
    host_changes     updates about hosts, sent at once                 pure
    encoding        JSON that PostgreSQL can store                    pure
    caches      caches of recent links and origins                pure
    step_sender        sends steps over the connection, with retries
    blocking_reader     reads the results of all workers, for reports
    sqlite_rows       a crawl's SQLite files as rows of these tables
    copying     copies such a crawl

``tables.sql`` and ``functions.sql`` are what the server stores and does.

Rule 1: a worker may be killed, or cut off, at any moment.  What it had claimed goes to others
when its lease ends, without a try; what it says later of these is not recorded.

Rule 2: all rules that workers share (order, gaps, limits) are kept by the server, by its
clock, in the transaction that leases a URL.

Rule 3: what workers learn of an origin (robots.txt, cookies, an outage) has a version, which
comes with each claim.  A claim is handed out when its worker has that version.
"""
