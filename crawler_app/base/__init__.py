"""The base of the crawler: settings, URLs, records, errors, text.

Nothing here fetches, stores or shows anything.  Imports no other part of the crawler.

- `config`: `CrawlConfig`, every setting with its default, help and rule
- `models`, `reasons`, `errors`: records of a crawl, why URLs were skipped or failed, exceptions
- `urls`, `http_headers`, `patterns`, `text`: parsing and canonical forms
- `storage`, `safe_files`, `progress`, `subgenerator`: object storage, files, callbacks
- `plain_values`: dataclasses of plain values, such as those of JSON
- `shared_calls`: one call for all who want the same thing at the same time
- `ownership`: recognizes what this user has made on this machine
- `postgres_driver`: imports what needs the PostgreSQL driver
"""
