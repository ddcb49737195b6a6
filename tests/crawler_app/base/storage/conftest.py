"""Fixtures of the tests of object storage: stores, PostgreSQL, and a crawl."""

from tests.helpers.begun_crawl import begin, server, small_tree
from tests.helpers.postgres import postgres, postgres_url
from tests.helpers.storage import faulty, s3, s3_server

__all__ = [
    "begin",
    "faulty",
    "postgres",
    "postgres_url",
    "s3",
    "s3_server",
    "server",
    "small_tree",
]
