"""Questions about crawls in SQL, with DuckDB as the engine.

- `cached`: the tables of a crawl in a database file, which is kept until the crawl changes
- `session`: a connection that can read these tables, and nothing else
- `results`: writes the result of a query
"""

__all__ = ["CSV", "JSONL", "PARQUET", "RESULT_FORMATS", "TABLE"]

# Formats of a result.
TABLE, CSV, JSONL, PARQUET = RESULT_FORMATS = ("table", "csv", "jsonl", "parquet")
