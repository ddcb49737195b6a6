"""The dashboard as a whole: its address, its connections, and its end."""

import logging

import pytest
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient

from crawler_app.base.errors import ConfigError
from crawler_app.show import dashboard
from crawler_app.show.dashboard import Dashboard
from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


@gen.coroutine
def test_port_in_use_is_named(watched):
    other = Dashboard(watched.monitor, f"127.0.0.1:{watched.port}")
    with pytest.raises(
        ConfigError,
        match=f"^port {watched.port} of 127.0.0.1 is already in use; choose another with "
        "--dashboard ADDR:PORT$",
    ):
        other.__enter__()


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
@gen.coroutine
def test_address_of_another_machine_is_refused(watched, host):
    other = Dashboard(watched.monitor, f"{host}:0")
    with pytest.raises(ConfigError, match=f"port 0 of {host} cannot be used: "):
        other.__enter__()


@gen.coroutine
def test_warning_about_a_public_address_has_no_token(watch, caplog):
    with watch(address="0.0.0.0:0") as watched:
        assert watched.dashboard.url.startswith("http://127.0.0.1:")
        answer = yield watched.ask("/state")
        assert answer.code == 200

    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "other machines can reach the dashboard" in record.getMessage()
    assert "a-token-of-the-tests" not in record.getMessage()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@gen.coroutine
def test_loopback_needs_no_warning(watch, caplog, host):
    with watch(address=f"{host}:0") as watched:
        assert watched.dashboard.url.startswith(f"http://{host}:")
        answer = yield watched.ask("/state")
        assert answer.code == 200

    assert caplog.records == []


@gen.coroutine
def test_token_from_the_environment_is_not_shown(watched, monkeypatch):
    assert watched.dashboard.shown_url == watched.dashboard.url
    monkeypatch.setenv("GENCRAWL_DASHBOARD_TOKEN", "one&more=of-the-tests")
    with Dashboard(watched.monitor) as other:
        assert other.url.endswith("/?token=one%26more%3Dof-the-tests")
        assert other.shown_url.endswith("/?token=$GENCRAWL_DASHBOARD_TOKEN")
        watched.address = other.url.partition("/?")[0]
        answer = yield watched.ask("/", token="one%26more%3Dof-the-tests")

    assert answer.code == 200
    assert b'src="dashboard.js?token=one%26more%3Dof-the-tests"' in answer.body


@gen.coroutine
def test_nothing_answers_after_the_end(watch):
    with watch() as watched:
        answer = yield watched.ask("/state")
        assert answer.code == 200

    with pytest.raises(ConnectionRefusedError):
        yield watched.ask("/state")


@gen.coroutine
def test_strangers_cannot_use_up_the_connections(watched, monkeypatch):
    monkeypatch.setattr(dashboard, "MAX_CONNECTIONS", 3)
    oldest = yield connect(watched)
    yield [connect(watched) for _ in range(2)]

    followed = yield watched.follow()
    with pytest.raises(StreamClosedError):
        yield oldest.read_bytes(1)
    yield [connect(watched) for _ in range(9)]
    answer = yield watched.ask("/state")

    assert answer.code == 200
    assert (yield followed.next())
    for _ in range(2):
        yield watched.follow()
    refused = yield connect(watched)
    with pytest.raises(StreamClosedError):
        yield refused.read_bytes(1)


@gen.coroutine
def connect(watched):
    stream = yield TCPClient().connect("127.0.0.1", watched.port)
    watched.streams.append(stream)
    return stream
