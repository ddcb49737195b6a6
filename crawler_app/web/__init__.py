"""Fetching, robots.txt, politeness, and reading documents.

Keeps no state of a crawl.  Imports `crawler_app.base` only.

- `httpclient`: the HTTP client, usable without the crawler; `fetcher`: the clients of a crawl
- `robots`, `politeness`: what may be fetched, and how soon
- `walls`: responses that stand in for a page, such as the challenge of a bot wall
- `documents`: links, text and metadata of pages, sitemaps, style sheets and feeds
- `main_content`: the main content of a page, without menus and the like
- `sandbox`: a process with limits for documents that are expensive to read
"""
