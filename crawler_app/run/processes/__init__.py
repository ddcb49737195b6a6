"""A crawl by several processes: ``gencrawl crawl --processes N``.

Each process is a worker of a crawl in PostgreSQL: on the server of ``--frontier``, or on one of
the crawl's own (`crawler_app.store.frontier.postgres.private_server`).  It has an archive and an
index in ``DIR/part-0`` and up.  The server leases the URLs and enforces the limits; the main
process starts, shows, pauses and stops the workers::

    process_messages   messages between the processes                 pure
    channel            messages over a socket
    fork_server        starts processes, as forks of one that has imported what they need
    worker             the process of a worker: orders, status reports, shutdown
    worker_process     starts and restarts such a process
    workers_run        all of them, in the main process
    crawl_workers      the same as a worker of a crawl, with a directory

Rule: if the main process dies, the other ends of its sockets are closed, and the processes end by
themselves.  So any process may be killed at any moment.
"""
