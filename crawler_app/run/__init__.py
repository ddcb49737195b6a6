"""Running a crawl: the path of a URL, the directory of a crawl, processes and results.

Imports `crawler_app.store` and what is below it.

- `crawl`: the path of a URL from the claim to its outcome; read it first
- `crawler`: one crawl with its stores opened, the Python API; `crawl_worker`: one of many
- `directory`: the files of a crawl, or of the workers of a crawl
- `processes`: several processes that share a crawl
- `results`: summaries, and comparisons of two crawls
"""
