"""What tests of the frontier share: a PostgreSQL server."""

from tests.helpers.postgres import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]
