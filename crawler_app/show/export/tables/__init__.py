"""Tables of a crawl: all URLs, pages, links, captures, findings.

- `columns`: their columns
- `urls`, `captures`: the rows of these tables
- `rows`: the rows of pages, links and findings, from one reading of all pages
- `reading`: reads the tables that are wanted
- `exporting`: writes a table as JSON lines, CSV, HTML or Parquet
- `as_html`: the page with filters
- `database`: loads tables into DuckDB
"""
