"""A crawl by several processes: ``gencrawl crawl --processes N``.

Each process is a whole crawl of a part of the hosts, with a frontier, an archive and an index
of its own in ``DIR/part-0`` and up.  A process hands links to hosts of other parts over to
the main process, which passes them on, and which shows, limits, pauses and stops them all::

    sharding           which part a host belongs to                   pure
    coordination       limits, levels, and when the crawl has ended   pure
    process_messages   messages between the processes                 pure
    channel            messages over a socket
    part_crawl         the crawl of one part
    worker_connection  what the worker processes share: orders, status reports, shutdown
    part_worker        the process of one part
    part_process       starts and restarts such a process
    parts_run          the whole crawl, in the main process

With a frontier on a server, which leases the URLs and enforces the limits, each process is a
worker of that crawl.  The main process starts, shows, pauses and stops them as above::

    postgres_worker_process  the process of one worker
    postgres_workers         all of them, in the main process

Rule 1: a host belongs to one part, so politeness, robots.txt, cookies and the limits of one
host are as in a single process.

Rule 2: a link to another part's host is on the disk of its finder until the other part has
committed it (`crawler_app.store.frontier.part`).  So any process may be killed at any moment.

Rule 3: if the main process dies, the other ends of its sockets are closed, and the
processes end by themselves.
"""
