"""Making and finding a crawl in PostgreSQL, and the rights that it needs."""

import contextlib
import os
import pwd
import re
import shutil
import socket
import subprocess
import traceback
from pathlib import Path
from subprocess import DEVNULL
from unittest.mock import Mock

import asyncpg
import pytest
import trustme

from crawler_app.base.errors import ConfigError, ServerError
from crawler_app.base.models import State
from crawler_app.store.frontier.postgres import connecting
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.connecting import (
    WORKER_SETTINGS,
    connect,
    connect_to_server,
)
from crawler_app.store.frontier.postgres.install import install, uninstall
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.postgres import SteppedFrontier, found, make_crawl, url_for_workers
from tests.helpers.postgres_server import (
    SOCKET,
    USER,
    identity,
    newest_binaries,
    running,
    temporary_directory,
)
from tests.helpers.shared_crawl import PAGES


def test_crawl_is_made_once(postgres_url):
    location = make_crawl(postgres_url)
    loop = IOLoop(make_current=False)
    with contextlib.closing(SteppedFrontier(postgres_url)) as worker:
        worker.add([found("x")])

    assert loop.run_sync(lambda: install(location)) is False

    with contextlib.closing(PostgresReader(location)) as reader:
        assert reader.urls() == [found("x").url]
    loop.close()


def test_crawl_made_twice_at_once_is_made_once(postgres_url):
    location = make_crawl(postgres_url)
    loop = IOLoop(make_current=False)
    loop.run_sync(lambda: uninstall(location))

    made = loop.run_sync(lambda: [install(location), install(location)])

    loop.close()
    assert sorted(made) == [False, True]


def test_crawl_of_another_version_is_refused_and_can_be_deleted(
    postgres_url, monkeypatch, gencrawl
):
    location = make_crawl(postgres_url)
    monkeypatch.setattr(connecting, "VERSION", 9)

    for use in (
        PostgresReader,
        lambda location: IOLoop().run_sync(lambda: install(location)),
    ):
        with pytest.raises(
            ConfigError, match="has version 1 of the frontier.*version 9"
        ):
            use(location)
    dropped = gencrawl("postgres", "drop", postgres_url, "--crawl", "test")
    assert dropped.out.startswith("deleted the crawl test")
    with pytest.raises(ConfigError, match="there is no crawl test"):
        PostgresReader(location)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://me:hush@/postgres?host=/nowhere", "cannot connect to "),
        ("postgresql://me:hush@[::1/postgres", "is invalid"),
        ("postgresql://me:hush@127.0.0.1:1/postgres?sslmode=hush", "is invalid"),
        ("postgresql://nobody:hush@/hush?host={}", "cannot connect to "),
        (
            "postgresql:///postgres?password=hush&host=/nowhere",
            "cannot connect to ",
        ),
        ("postgresql://me:hush@127.0.0.1:99999/postgres", "is invalid"),
        ("postgresql://me:hush@127.0.0.1:1/postgres", "1/postgres: connection refused"),
        ("mysql://me:hush@/", "begins with postgresql://"),
        ("postgresql://me:hu/sh@a.test/postgres", "write '@', '/', .* as %40, %2F"),
        ("postgresql://me:hu?sh@a.test/postgres", "write '@', '/', .* as %40, %2F"),
        ("postgresql://me:hu#sh@a.test/postgres", "write '@', '/', .* as %40, %2F"),
        ("postgresql://me:hu@sh@a.test/postgres", "write '@', '/', .* as %40, %2F"),
        ("postgresql:///postgres?host=/a,/b&port=1,2,3", "2 hosts and 3 ports"),
        (
            "postgresql://[::1]:1/postgres?sslmode=require&sslrootcert=/no&sslpassword=hush",
            "cannot connect to ",
        ),
    ],
)
def test_no_error_shows_the_password(postgres, url, says):
    with pytest.raises(ConfigError, match=says) as caught:
        PostgresReader(CrawlLocation(url.format(postgres), "docs"))

    assert "hush" not in str(caught.value).replace("/hush", "")
    assert not {"hu", "sh"} & set(re.split(r"\W+", str(caught.value)))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("text", ["[crawls]\npassword=hu%sh\n", "password=hu%sh\n"])
def test_service_file_that_cannot_be_read_is_not_shown(tmp_path, monkeypatch, text):
    path = tmp_path / "services"
    path.write_text(text)
    monkeypatch.setenv("PGSERVICEFILE", str(path))

    with pytest.raises(ConfigError, match="the service file .* is invalid") as caught:
        PostgresReader(CrawlLocation("postgresql:///?service=crawls"))

    shown = "".join(traceback.format_exception(caught.value))
    assert "hu%sh" not in shown and "%sh" not in shown


def test_state_of_the_driver_is_not_shown(postgres_url, monkeypatch):
    """The driver raises it if a connection is lost between two messages."""
    with contextlib.closing(PostgresReader(make_crawl(postgres_url))) as reader:
        error = asyncpg.InternalClientError("cannot switch to state 12")
        monkeypatch.setattr(reader._thread, "run", Mock(side_effect=error))
        with pytest.raises(ServerError, match="test at .*: the connection was lost"):
            reader.made_at()
        monkeypatch.undo()


@pytest.mark.parametrize("name", ["", "a b", 'x"', "-x", "x" * 41])
def test_name_of_a_crawl_that_cannot_be_a_schema_is_refused(name):
    with pytest.raises(ConfigError, match="is not the name of a crawl"):
        CrawlLocation("postgresql://a.test/", name)


def test_crawl_that_was_not_made_is_refused(postgres_url):
    with pytest.raises(
        ConfigError, match="there is no crawl nothing.*`gencrawl postgres list` lists"
    ):
        PostgresReader(CrawlLocation(postgres_url, "nothing"))


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_database_that_cannot_store_every_text_is_refused(
    postgres, postgres_url, run_sync, encoding
):
    name = f"in_{encoding.lower()}"
    make = f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
    location = CrawlLocation(f"postgresql://{USER}@/{name}?host={postgres}", "test")

    @gen.coroutine
    def make_there():
        connection = yield asyncpg.connect(postgres_url)
        yield connection.execute(make)
        try:
            return (yield install(location))
        finally:
            yield connection.execute(f"DROP DATABASE {name}")
            yield connection.close()

    if encoding == "SQL_ASCII":
        assert run_sync(make_there)
    else:
        with pytest.raises(ConfigError, match="encoding LATIN1; make one with"):
            run_sync(make_there)


# Servers.


def test_server_that_is_too_old_is_refused(postgres_url, run_sync, monkeypatch):
    monkeypatch.setattr("crawler_app.store.frontier.postgres.install.MIN_MAJOR", 1000)

    with pytest.raises(ConfigError, match=r"PostgreSQL \d+; version 1000 or newer"):
        run_sync(lambda: install(CrawlLocation(postgres_url, "old")))


# The settings of a connection that PgBouncer is configured to ignore.
IGNORED = [*WORKER_SETTINGS, "search_path", "jit"]


@pytest.mark.parametrize("mode", ["transaction", "session"])
@pytest.mark.parametrize("ignored", ["extra_float_digits", ",".join(IGNORED)])
def test_pooler_is_refused_before_anything_is_made(
    postgres, postgres_url, run_sync, mode, ignored
):
    if shutil.which("pgbouncer") is None:
        pytest.skip("PgBouncer is not installed")
    make_crawl(postgres_url)
    with pooler(postgres, mode, ignored) as url:
        for use in (install, uninstall, connect, connect_to_server):
            with pytest.raises(
                ConfigError, match="a pooler such as PgBouncer does not"
            ):
                run_sync(lambda use=use: use(CrawlLocation(url, "test")))

    with contextlib.closing(
        PostgresReader(CrawlLocation(postgres_url, "test"))
    ) as reader:
        assert reader._fetch("SELECT FROM pg_tables WHERE schemaname = 'public'") == []


@contextlib.contextmanager
def pooler(directory, mode, ignored):
    """Run PgBouncer before a server; yield its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    settings = Path(directory) / f"{port}.ini"  # which its user may read
    settings.write_text(
        f"[databases]\npostgres = host={directory} user={USER}\n[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = any\npool_mode = {mode}\nignore_startup_parameters = {ignored}\n"
    )
    running = subprocess.Popen(
        ["pgbouncer", "-q", settings.name], cwd=directory, stderr=DEVNULL, **identity()
    )
    try:
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            assert running.poll() is None
        yield f"postgresql://{USER}@127.0.0.1:{port}/postgres?sslmode=disable"
    finally:
        running.terminate()
        running.wait()


def test_silent_server_is_passed_over(postgres, postgres_url, monkeypatch, tmp_path):
    make_crawl(postgres_url)
    monkeypatch.setattr(connecting, "CONNECT_TIMEOUT_S", 1.0)  # of the other server too
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / SOCKET))
        silent.listen()
        url = f"postgresql://{USER}@/postgres?host={tmp_path},{postgres}"

        with contextlib.closing(PostgresReader(CrawlLocation(url, "test"))) as reader:
            assert reader.urls() == []


def test_server_that_does_not_answer_is_said_to_be_silent(monkeypatch, tmp_path):
    monkeypatch.setattr(connecting, "CONNECT_TIMEOUT_S", 0.1)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / SOCKET))
        silent.listen()

        with pytest.raises(ConfigError, match="no answer in time"):
            PostgresReader(
                CrawlLocation(f"postgresql://{USER}@/postgres?host={tmp_path}")
            )


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """Return a URL of a server that has a certificate for localhost, and two authorities."""
    if newest_binaries() is None:
        pytest.skip("PostgreSQL is not installed")
    directory = temporary_directory()
    authority, other = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(directory / "right.pem")
    other.cert_pem.write_to_path(directory / "wrong.pem")
    certificate = authority.issue_cert("localhost")
    certificate.cert_chain_pems[0].write_to_path(directory / "cert.pem")
    certificate.private_key_pem.write_to_path(directory / "key.pem")
    (directory / "key.pem").chmod(0o640)  # the server may read it by its group
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "ssl": "on",
        "ssl_cert_file": directory / "cert.pem",
        "ssl_key_file": directory / "key.pem",
        "listen_addresses": "127.0.0.1",
        "port": port,
    }
    if os.geteuid() == 0:
        shutil.chown(directory / "key.pem", group=pwd.getpwnam(USER).pw_gid)
    try:
        with running(directory, **settings):
            yield f"postgresql://{USER}@{{}}:{port}/postgres?sslrootcert={directory}/"
    finally:
        shutil.rmtree(directory)


def test_connection_is_encrypted_as_the_url_says(tls, run_sync):
    location = make_crawl(tls.format("localhost") + "right.pem&sslmode=verify-full")

    @gen.coroutine
    def look():
        connection = yield connect(location)
        is_encrypted = yield connection.fetchval(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        )
        yield connection.close()
        return is_encrypted

    assert run_sync(look)


@pytest.mark.parametrize(
    ("host", "options", "says"),
    [
        ("localhost", "wrong.pem", "is not valid here: .*issuer.*sslrootcert=FILE"),
        ("127.0.0.1", "right.pem", "is not valid here: .*IP address mismatch"),
        ("localhost", "none.pem", "No such file.*sslrootcert, sslcert and sslkey"),
    ],
)
def test_server_that_cannot_be_trusted_is_refused(tls, host, options, says):
    location = CrawlLocation(f"{tls.format(host)}{options}&sslmode=verify-full", "test")

    with pytest.raises(ConfigError, match=says):
        PostgresReader(location)


# Rights.


def test_documented_rights_suffice_for_a_worker_and_no_more(
    crawl, postgres_url, run_sync
):
    other = make_crawl(postgres_url, "other")
    location = make_crawl(postgres_url)
    url = url_for_workers(postgres_url)

    _, reader = crawl(urls=[url] * 2, continues=True)

    assert reader.count(State.DONE) == PAGES + 1
    counts_are_those_of_the_records(reader)
    assert reader.requeue_urls(reader.urls()) == PAGES + 1
    reader.unlist(StoreLocation())
    for statement in (
        "DELETE FROM url",
        "UPDATE crawl SET pages_left = 0",
        "DROP TABLE queue",
        "SELECT nextval('claim_token')",
        "SELECT * FROM gencrawl_other.crawl",
        "CREATE FUNCTION now() RETURNS float8 LANGUAGE sql AS $$ SELECT 0.0 $$",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            run_sync(lambda sql=statement: execute(CrawlLocation(url, "test"), sql))
    with pytest.raises(
        ConfigError, match="cannot delete the crawl test .*must own the crawl"
    ):
        run_sync(lambda: uninstall(CrawlLocation(url, "test")))
    with pytest.raises(ConfigError, match="cannot make .*GRANT CREATE ON DATABASE"):
        run_sync(lambda: install(CrawlLocation(url, "more")))
    with pytest.raises(ConfigError, match="or this user has no right to it"):
        PostgresReader(CrawlLocation(url, "other"))
    for each in (location, other):
        run_sync(lambda location=each: uninstall(location))


@gen.coroutine
def execute(location, sql):
    connection = yield connect(location)
    try:
        yield connection.execute(sql)
    finally:
        yield connection.close()


def test_user_without_read_rights_gets_an_error(postgres_url, run_sync, gencrawl):
    location = make_crawl(postgres_url)
    url = url_for_workers(postgres_url)
    run_sync(lambda: execute(location, "REVOKE SELECT ON crawl FROM crawler"))

    message = (
        'permission denied for table crawl.*GRANT SELECT .* SCHEMA "gencrawl_test"'
    )
    for use in (PostgresReader, lambda location: run_sync(lambda: install(location))):
        with pytest.raises(ConfigError, match=message):
            use(CrawlLocation(url, "test"))
    # It is not among the crawls of this user.
    assert "test " not in gencrawl("postgres", "list", url).out
    run_sync(lambda: uninstall(location))
