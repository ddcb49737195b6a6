"""What a crawl stores: its URLs, the responses, and the text of its pages.

Imports `crawler_app.web` and what is below it.

- `frontier`: every URL and its state, in SQLite or PostgreSQL
- `archive`: responses in WARC files, and the table that finds them
- `index`: the full-text index
- `database`, `checkpoints`, `store_thread`: what these share: SQLite, and a thread for steps that
  take long
"""
