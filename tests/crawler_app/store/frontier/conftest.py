"""Fixtures for tests of the frontier: a PostgreSQL server, and crawls of many workers.

Tests of workers and of their commands are here too, so that all use one server.
"""

from tests.helpers.begun_crawl import begin, server, small_tree
from tests.helpers.postgres import postgres, postgres_url, workers
from tests.helpers.shared_crawl import crawl, crawl_shared, tree

__all__ = [
    "begin",
    "crawl",
    "crawl_shared",
    "postgres",
    "postgres_url",
    "server",
    "small_tree",
    "tree",
    "workers",
]
