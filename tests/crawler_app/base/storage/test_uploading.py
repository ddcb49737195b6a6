"""The uploader of a worker, and unreachable storage."""

import contextlib

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.storage.tables import Cache, StoredTables
from crawler_app.base.storage.uploads import load_uploads
from crawler_app.run.crawl_worker import CrawlWorker, begin_shared
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.uploading import Uploader
from crawler_app.store.archive.store import Archive
from gencoro import gen
from tests.crawler_app.store.archive.conftest import make_exchange
from tests.helpers.begun_crawl import PAGES
from tests.helpers.postgres import make_crawl

URL = "faulty://bucket/key"


@pytest.fixture(autouse=True)
def looks_often(monkeypatch):
    for name in ("LOOK_EVERY_S", "FIRST_PAUSE_S", "MAX_PAUSE_S"):
        monkeypatch.setattr(f"crawler_app.run.directory.uploading.{name}", 0.001)


@pytest.fixture
def upload(tmp_path, run_sync):
    """Write pages to a staging directory, one file each, and upload them."""

    @gen.coroutine
    def work(pages, is_patient, meanwhile):
        with Uploader(tmp_path, URL, 10**4) as uploader:
            with contextlib.closing(Archive(tmp_path, max_file_bytes=1)) as archive:
                uploader.start()
                for page in pages:
                    yield archive.write(make_exchange(f"http://a.test/{page}"), 1e9)
            yield [uploader.end(is_patient=is_patient), meanwhile(uploader)]

    def upload(pages, *, is_patient=True, meanwhile=lambda uploader: gen.moment):
        run_sync(lambda: work(pages, is_patient, meanwhile))
        return sorted(path.name for path in tmp_path.glob("*.warc.gz"))

    return upload


def catalogue(tmp_path):
    return StoredTables(URL, Cache(tmp_path / "cache")).catalogue


def test_unreachable_storage_is_waited_for_and_reported_once(
    upload, faulty, tmp_path, caplog
):
    @gen.coroutine
    def come_back(uploader):
        while faulty.tried < 5:
            yield gen.sleep(0.001)
        assert uploader.is_full() is False
        faulty.is_away = False

    assert upload(range(1)) == []
    faulty.is_away = True

    assert upload(range(1, 4), meanwhile=come_back) == []

    assert list(catalogue(tmp_path).bytes_by_file) == [1, 2, 3, 4]
    texts = [record.getMessage() for record in caplog.records]
    away, back = texts
    assert " wait in " in away and "the storage is away" in away
    assert back == f"{URL} answers again"


def test_stopped_worker_uploads_the_rest_in_its_next_run(upload, faulty, tmp_path):
    upload(range(1))
    faulty.is_away = True
    waiting = upload(range(1, 3), is_patient=False)
    assert waiting == ["archive-00002.warc.gz", "archive-00003.warc.gz"]
    faulty.is_away = False

    assert upload(range(3, 4)) == []

    assert list(catalogue(tmp_path).bytes_by_file) == [1, 2, 3, 4]
    assert catalogue(tmp_path).captures == 4


def test_list_of_uploaded_files_is_restored(upload, faulty, tmp_path):
    upload(range(3))
    before = catalogue(tmp_path)
    (tmp_path / "uploads.json").unlink()

    assert upload(range(3, 5)) == []

    assert before.bytes_by_file.items() < catalogue(tmp_path).bytes_by_file.items()
    assert catalogue(tmp_path).captures == 5


def test_internal_error_ends_the_crawl(upload, faulty, tmp_path, monkeypatch):
    stopped = []

    def fail(*_):
        raise ZeroDivisionError

    @gen.coroutine
    def hold(uploader):
        yield uploader.hold_while_full(lambda is_full: None, lambda: stopped.append(1))

    monkeypatch.setattr("crawler_app.run.directory.uploading.make_snapshot", fail)

    with pytest.raises(ZeroDivisionError):
        upload(range(1), meanwhile=hold)

    assert stopped


def test_damaged_upload_is_repeated(upload, faulty, tmp_path):
    faulty.damaged = 2

    assert upload(range(1)) == []

    (size_bytes,) = catalogue(tmp_path).bytes_by_file.values()
    assert len(faulty().cat_file("/bucket/key/archive-00001.warc.gz")) == size_bytes


def test_tables_take_fewer_bytes_than_the_archive(upload, faulty, tmp_path):
    for page in range(8):
        upload([page])  # each run ends with a snapshot
    before = load_uploads(tmp_path)
    assert before.snapshot == 8 and before.snapshot_bytes > 10**4

    upload(range(8, 16))

    assert load_uploads(tmp_path).snapshot == 9
    names = sorted(faulty().find("/bucket/key"))
    assert [name for name in names if "sqlite" in name] == [
        "/bucket/key/archive-00009.sqlite3"
    ]


def test_full_staging_directory_pauses_the_crawl(
    faulty, small_tree, postgres_url, tmp_path, run_sync
):
    place = make_crawl(postgres_url, "held")
    config = CrawlConfig(
        (f"{small_tree.url}0",),
        into="faulty://bucket",
        staging=str(tmp_path / "staging"),
        frontier=place.url,
        crawl_name=place.crawl,
        max_archive_file_bytes=500,
        max_staging_bytes=4000,
        concurrency=1,
    )
    fetched = []

    @gen.coroutine
    def come_back(worker):
        while worker._crawl is None or not worker._crawl._is_held:
            faulty.is_away = bool(small_tree.paths)
            yield gen.sleep(0.001)
        held_at = len(small_tree.paths)
        tried = faulty.tried
        while faulty.tried < tried + 3:
            yield gen.sleep(0.001)
        fetched.append((held_at, len(small_tree.paths)))
        faulty.is_away = False

    @gen.coroutine
    def crawl():
        yield begin_shared(config)
        worker = CrawlWorker(config)
        done, _ = yield [worker.run(), come_back(worker)]
        return done

    done = run_sync(crawl)

    assert done.left == 0 and len(small_tree.paths) == PAGES + 1
    ((at_first, at_last),) = fetched
    assert at_last <= at_first + 1 < PAGES  # the one that was under way


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"into": "s3://me:hush@bucket/x", "frontier": "f"}, "credentials are read"),
        ({"into": "file://a::s3://b", "frontier": "f"}, "credentials are read"),
        ({"into": "s3://bucket/x"}, "needs a frontier in PostgreSQL"),
        ({"into": "kept", "staging": "x", "frontier": "f"}, "--staging has no effect"),
        ({"into": "no://bucket/x", "frontier": "f"}, "Protocol not known"),
        ({"into": "gs://bucket/x", "frontier": "f"}, "install gcsfs"),
        (
            {"into": "faulty://b", "frontier": "f", "archive": False},
            "needs an archive",
        ),
        (
            {"into": "faulty://b", "frontier": "f", "max_staging_bytes": 10**9},
            "at least twice max-archive-file-bytes",
        ),
    ],
)
def test_unusable_storage_is_refused(
    faulty, run_sync, tmp_path, monkeypatch, options, message
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    if "frontier" in options:
        options["frontier"] = "postgresql://a.test/x"

    with pytest.raises(ConfigError, match=message) as caught:
        worker = CrawlWorker(CrawlConfig(("http://a.test/",), **options))
        run_sync(worker.run)

    assert "hush" not in str(caught.value)


def test_staging_directory_belongs_to_one_storage(faulty, tmp_path):
    def worker(into, **options):
        frontier = "postgresql://a.test/x"
        staging = str(tmp_path / "staging")
        return CrawlWorker(
            CrawlConfig(
                ("http://a.test/",),
                into=into,
                frontier=frontier,
                **{"staging": staging} | options,
            )
        )

    first = worker("faulty://bucket")
    assert worker("faulty://bucket/").config.into == first.config.into
    with pytest.raises(ConfigError, match="holds a crawl into faulty://bucket"):
        worker("faulty://other")
    CrawlDirectory.create(tmp_path / "own", first.config)
    with pytest.raises(ConfigError, match="holds a crawl into a directory"):
        worker("faulty://bucket", staging=str(tmp_path / "own"))
