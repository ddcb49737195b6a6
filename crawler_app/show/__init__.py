"""Presents a crawl to people: reports, checks, the dashboard, the terminal.

Imports `crawler_app.run` and what is below it.

- `report`: the report of a finished crawl, as HTML or Markdown
- `findings`: what can be wrong with a site, for both
- `check`: broken references with their places, in the formats of CI systems
- `export`: tables of a crawl, its archive and its pages, for other programs
- `analysis`: answers questions in SQL
- `browse`: the archive in a browser, offline
- `dashboard`: a running crawl in a browser, and metrics for Prometheus
- `terminal`: progress and tables in a terminal
"""
