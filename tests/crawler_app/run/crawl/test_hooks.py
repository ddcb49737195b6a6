"""The user's callbacks: what they get, when, and what their errors do."""

import asyncio
import contextlib
import functools

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.models import Link, State
from crawler_app.base.reasons import RETRYABLE
from crawler_app.run.crawl.hooks import Hooks
from crawler_app.run.crawler import Crawler
from gencoro import gen


def plain(function):
    return function


def as_gen_coroutine(function):
    @gen.coroutine
    def hook(argument):
        yield gen.moment
        return function(argument)

    return hook


def as_native_coroutine(function):
    async def hook(argument):
        await asyncio.sleep(0)
        return function(argument)

    return hook


KINDS = [plain, as_gen_coroutine, as_native_coroutine]


@pytest.fixture
def run(site, run_sync):
    """Crawl the site with hooks, in memory, to the end; return the crawl."""

    def run(path="/", config=None, **hooks):
        options = {"robots": False, "retry_pause_s": 0.01} | (config or {})
        seed = site.url.rstrip("/") + path
        return run_sync(Crawler(CrawlConfig((seed,), **options), **hooks).run)

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_on_page_gets_the_page_as_read(site, run, kind):
    site.answer("/", b"<title>Home</title><p>Come in.<a href=/a>The <b>a</b></a>")
    site.page("/a", title="A")
    pages = {}

    run(on_page=kind(lambda page: pages.setdefault(page.title, page)))

    home = pages["Home"]
    assert (home.url, home.depth, home.fetched.status) == (site.url, 0, 200)
    assert home.fetched.body.startswith(b"<title>Home")
    assert home.text == "Come in.The a"
    assert home.links == [Link(site.url, f"{site.url}a", "The a")]
    assert pages["A"].depth == 1


@pytest.mark.parametrize("kind", KINDS)
def test_on_link_gets_each_link_of_each_page(site, run, kind):
    site.answer(
        "/",
        b"<base href=/d/><a href=x>one</a><a href='../d/x#top'>two</a>"
        b"<a rel=nofollow href=/d/x><img alt=three></a><a href=mailto:me@a.test>me</a>"
        b"<a href=http://elsewhere.test/>away</a>",
    )
    site.page("/d/x", "/")
    links = []

    run(on_link=kind(links.append))

    x = f"{site.url}d/x"
    assert links == [
        Link(site.url, x, "one"),
        Link(site.url, x, "two"),
        Link(site.url, x, "three", is_nofollow=True),
        Link(site.url, "http://elsewhere.test/", "away"),
        Link(x, site.url, "x"),
    ]


def test_file_and_failure_and_redirect_are_no_pages(site, run):
    site.page("/", "/file", "/gone", "/moved")
    site.answer("/file", b"%PDF", headers={"Content-Type": "application/pdf"})
    site.redirect("/moved", "/")
    pages = []

    result = run(on_page=lambda page: pages.append(page.url))

    assert pages == [site.url]
    assert result.summary.count_by_status == {200: 2, 302: 1, 404: 1}


@pytest.mark.parametrize("kind", KINDS)
def test_url_that_should_not_be_fetched_is_not(site, run, kind):
    site.page("/", "/a", "/b")
    site.page("/a", "/b")

    result = run(should_fetch=kind(lambda url: not url.endswith("/b")))

    assert site.paths == ["/", "/a"]
    assert result.summary.to_json()["reasons"]["skipped"] == {"should_fetch": 1}


def test_should_fetch_is_not_called_for_seeds_and_sitemaps(site, run):
    sitemap = b"<urlset><url><loc>%sb</loc></url></urlset>" % site.url.encode()
    site.answer("/robots.txt", b"Sitemap: %ssitemap.xml" % site.url.encode())
    site.answer("/sitemap.xml", sitemap, headers={"Content-Type": "application/xml"})
    site.page("/", "/a")
    asked = []

    run(config={"robots": True}, should_fetch=asked.append)

    assert sorted(asked) == [f"{site.url}a", f"{site.url}b"]
    assert sorted(site.paths) == ["/", "/robots.txt", "/sitemap.xml"]


@pytest.mark.parametrize("kind", KINDS)
def test_failing_hook_fails_the_page_but_its_links_are_followed(
    site, run, kind, caplog
):
    site.page("/", "/a", title="Home")
    site.page("/a", title="A")

    def fail_at_home(page):
        if page.title == "Home":
            raise ValueError("the database is full")

    result = run(on_page=kind(fail_at_home))

    assert site.paths == ["/", "/a"]
    (failure,) = result.summary.failures
    assert (failure.url, failure.outcome.reason) == (site.url, "hook_error")
    assert "ValueError('the database is full')" in failure.outcome.error
    (record,) = [r for r in caplog.records if r.name == "crawler_app.run.crawl.hooks"]
    assert site.url in record.getMessage()
    assert record.exc_info[0] is ValueError
    assert "hook_error" in RETRYABLE  # for `resume --retry-failed`


@pytest.mark.parametrize("kind", KINDS)
def test_repeated_hook_error_is_logged_once_and_counted(site, run, kind, caplog):
    site.page("/", "/a", "/b", "/c")
    site.pages("/a", "/b", "/c")

    def fail(page):
        if page.url.endswith("a"):
            raise ValueError("in another way")
        raise ValueError(page.url)

    result = run(on_page=kind(fail))

    assert len(result.summary.failures) == 4
    records = [r for r in caplog.records if r.name == "crawler_app.run.crawl.hooks"]
    assert [r.exc_info is not None for r in records] == [True, True, False]
    last = records[-1].getMessage()
    assert last.endswith(" 3 times")
    assert " raised ValueError at " in last


@pytest.mark.parametrize("kind", KINDS)
def test_hook_that_cancels_itself_fails_only_its_url(site, run, kind, caplog):
    def cancelled(page):
        raise asyncio.CancelledError

    site.page("/", "/a")
    site.page("/a")

    result = run(on_page=kind(cancelled), config={"concurrency": 1})

    assert site.paths == ["/", "/a"]
    assert [f.outcome.reason for f in result.summary.failures] == ["hook_error"] * 2
    assert "CancelledError" in result.summary.failures[0].outcome.error


@pytest.mark.parametrize("kind", KINDS)
def test_hook_error_that_is_not_an_exception_ends_the_crawl(site, run, kind):
    class NotForYouError(BaseException):
        pass

    def fail(page):
        raise NotForYouError

    site.page("/", "/a")
    site.page("/a")

    with pytest.raises(NotForYouError):
        run(on_page=kind(fail))


def test_cancelled_crawl_waits_for_its_hooks_and_requeues_their_urls(site, run_sync):
    site.page("/")
    ended, claimed = [], []

    @contextlib.contextmanager
    def watch(crawl):
        try:
            yield
        finally:
            claimed.append(crawl.frontier.count(State.CLAIMED))

    @gen.coroutine
    def main():
        began = gen.Future()

        async def hook(page):
            began.set_result(None)
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append(page.url)

        config = CrawlConfig((site.url,), robots=False)
        running = Crawler(config, on_page=hook, watch=watch).run()
        yield began
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            yield running

    run_sync(main)

    assert claimed == [0]
    assert ended == [site.url]


def test_crawl_cancelled_together_with_its_hook_ends_cancelled(site, run):
    """As `asyncio.run` does when it ends: it cancels all tasks, and ours is one."""
    site.page("/", "/a")
    site.page("/a")
    hooks = []

    async def main():
        began = asyncio.Event()

        async def hook(page):
            hooks.append(asyncio.current_task())
            began.set()
            await asyncio.Event().wait()

        running = Crawler(CrawlConfig((site.url,), robots=False), on_page=hook).run()
        await began.wait()
        hooks[0].cancel()
        await asyncio.sleep(0)  # it has ended, and no callback has run
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(asyncio.wait_for(main(), 10))
    assert len(hooks) == 1


@pytest.mark.parametrize("kind", ["gen", "native"])
def test_hook_that_waits_for_its_own_crawl_can_be_cancelled(site, kind):
    site.page("/")

    async def main():
        began = asyncio.Event()

        @gen.coroutine
        def as_gen(page):
            began.set()
            yield running

        async def as_native(page):
            began.set()
            await running

        hook = as_gen if kind == "gen" else as_native
        running = Crawler(CrawlConfig((site.url,), robots=False), on_page=hook).run()
        await began.wait()
        running.cancel()
        await asyncio.wait([running], timeout=10)
        return running

    assert asyncio.run(main()).cancelled()


def test_future_of_another_loop_is_refused_and_not_waited_for(site, run, caplog):
    site.page("/")
    other = asyncio.new_event_loop()

    result = run(on_page=lambda page: other.create_future())

    other.close()
    (failure,) = result.summary.failures
    assert "belongs to another event loop" in failure.outcome.error


def test_many_skipped_urls_in_a_row_do_not_block_the_loop(site, run):
    site.page("/", *(f"/{i}" for i in range(50)))
    turns = []

    def turn():
        turns.append(None)
        asyncio.get_running_loop().call_soon(turn)

    def leave_out(url):
        if not seen:
            turn()
        seen.append(len(turns))
        return False

    seen = []
    run(should_fetch=leave_out, config={"concurrency": 1})

    assert len(seen) == 50
    assert seen == sorted(set(seen))


def fails(shown):
    return shown.missing


def forgets_its_decorator(page):
    def kept():
        yield page

    return kept()


@pytest.mark.parametrize(
    ("name", "hook", "paths", "error"),
    [
        ("on_link", fails, ["/", "/a"], "no attribute 'missing'"),
        ("should_fetch", fails, ["/"], "no attribute 'missing'"),
        ("on_page", forgets_its_decorator, ["/", "/a"], "kept with @gen.coroutine"),
    ],
)
def test_hook_that_fails_fails_the_url_it_is_shown(
    site, run, caplog, name, hook, paths, error
):
    site.page("/", "/a")
    site.page("/a")

    result = run(**{name: hook})

    assert site.paths == paths
    failure, *_ = result.summary.failures
    assert failure.outcome.reason == "hook_error"
    assert error in failure.outcome.error


def test_waiting_hook_does_not_block_other_urls(site, run):
    site.page("/", "/a", "/b")
    site.page("/a", title="a")
    site.page("/b", title="b")

    shown = []

    @gen.coroutine
    def hook(page):
        shown.append(page.title)
        while page.title == "a" and "b" not in shown:
            yield gen.moment

    result = run(on_page=hook)

    assert result.summary.pages == 3


@pytest.mark.parametrize(
    ("hook", "cure"),
    [
        ("print", "must be a function"),
        (lambda page: (yield), "decorate <lambda> with @gen.coroutine"),
        (functools.partial(lambda page: (yield)), "decorate .* with @gen.coroutine"),
    ],
)
def test_invalid_hook_is_refused(hook, cure):
    with pytest.raises(ConfigError, match=cure):
        Hooks(on_page=hook)


def test_pages_are_not_kept_without_hooks():
    assert not Hooks(should_fetch=print).want_pages
