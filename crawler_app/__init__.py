"""crawler_app: a web crawler written in generator coroutines on gencoro.

``python -m crawler_app --help`` shows what it does; `crawler_app.crawl` reads top to
bottom as the path of one URL.
"""

__version__ = "0.1.0"
