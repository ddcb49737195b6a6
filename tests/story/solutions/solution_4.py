"""Exercise 4: a fetch whose connection was reset is tried again: an `except`."""

from check import fresh

stage = fresh("4_generators")
fetch_once = stage.fetch


def fetch(loop, url):
    try:
        return (yield from fetch_once(loop, url))
    except ConnectionResetError:
        return (yield from fetch_once(loop, url))


stage.fetch = fetch
crawl = stage.crawl
