"""The frontier in PostgreSQL, which workers share, on one machine or many::

    location           where a crawl is: servers, database and name            pure
    connecting         connections to a crawl, whose version is checked
    install            makes the schema of a crawl
    crawls             begins a crawl, lists them, and says who works on one

    postgres_frontier  a worker's frontier, which its crawl uses; composed of:
    worker_state       what a worker knows and has yet to send                 pure
    leases             the claims that it holds                                pure
    step_changes       what it sends with its steps                            pure
    caches             what it remembers of answers                            pure
    step_exchange      when it sends a step
    step_sender        sends steps over the connection, with retries
    encoding           JSON that PostgreSQL can store                          pure

    private_server     a server of one crawl on this machine
    server_program     the program that runs it as long as it is used

    previous_schema    the crawl before, and what differs from it
    blocking_reader    reads the results of all workers, for reports and at the start
    sqlite_rows        a crawl's SQLite files as rows of these tables
    copying            copies such a crawl

``tables.sql`` and ``functions.sql`` are what the server stores and does.

Rule 1: a worker may be killed, or cut off, at any moment.  What it had claimed goes to others
when its lease ends, without a try; what it says later of these is not recorded.

Rule 2: all rules that workers share (order, gaps, limits) are kept by the server, by its
clock, in the transaction that leases a URL.

Rule 3: what workers learn of an origin (robots.txt, cookies, an outage) has a version, which
comes with each claim.  A claim is handed out when its worker has that version.
"""
