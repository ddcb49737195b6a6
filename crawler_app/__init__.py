"""crawler_app: a web crawler written in generator coroutines on gencoro.

The names exported here are public, and so is `crawler_app.httpclient`; every other module is
internal and may change.  ``python -m crawler_app --help`` shows what the crawler does;
`crawler_app.run.crawl` reads top to bottom as the path of one URL.

>>> from crawler_app import CrawlConfig, Crawler
>>> config = CrawlConfig(seeds=("http://a.test/",), max_pages=10)
>>> Crawler(config, on_page=print).config.max_pages
10
"""

__version__ = "0.1.0"

# The names are declared in __init__.pyi and loaded on demand, so that the HTTP client and
# the command line import only what they use.
try:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
except ModuleNotFoundError:
    # Without its extra this package has no names, but `crawler_app.__main__`, which says so.
    def __getattr__(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ModuleNotFoundError(
            "install the crawler with: pip install 'gencoro[crawler]'"
        )
