"""Own authorities, client certificates, SOCKS, and what is said if they are missing."""

import contextlib
import datetime
import os
import re
import socket
import ssl
import threading

import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError, FetchError
from crawler_app.base.reasons import Reason
from crawler_app.web.fetcher import check_fetcher
from gencoro import gen
from tests.helpers.fetching import answer, fetch, fetch_from, run, sends
from tests.helpers.http import peers
from tests.helpers.http.faulty import FaultServer
from tests.helpers.http.socks_proxy import SocksProxy

pytestmark = pytest.mark.usefixtures("no_socket_is_left")

TRIES = 10

OWN_CLIENTS = pytest.mark.parametrize("client", ["pooled", "simple"])


def serving(cert, *, is_whole=True):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if is_whole:
        cert.configure_cert(context)
    else:
        with trustme.Blob(
            cert.private_key_pem.bytes() + cert.cert_chain_pems[0].bytes()
        ).tempfile() as path:
            context.load_cert_chain(path)
    return context


# Authorities.


@OWN_CLIENTS
def test_named_authority_is_trusted(client, certificates):
    fetched, _ = fetch_from(
        client,
        answer(b"hello"),
        scheme="https",
        ssl=certificates.server_context(),
        ca_file=certificates.ca,
    )

    assert getattr(fetched, "body", fetched) == b"hello"


def authority(name="Corp Root"):
    return trustme.CA(organization_name=name, organization_unit_name="IT")


def expired():
    long_ago = datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)
    ca = authority()
    return ca, serving(ca.issue_cert("127.0.0.1", not_after=long_ago))


def of_another_host():
    ca = authority()
    return ca, serving(ca.issue_cert("wiki.corp", "www.wiki.corp"))


def without_its_issuer():
    ca = authority()
    child = ca.create_child_ca()
    return ca, serving(child.issue_cert("127.0.0.1"), is_whole=False)


def of_an_unknown_authority():
    return authority("Another"), serving(authority().issue_cert("127.0.0.1"))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (expired, r"^the certificate of .* expired on 2024-05-01$"),
        (
            of_another_host,
            r"^the certificate is for wiki\.corp, www\.wiki\.corp, not for 127\.0\.0\.1$",
        ),
        (without_its_issuer, r"^the issuer .* does not send .*--ca FILE$"),
        (of_an_unknown_authority, r"^the issuer 'Corp Root, IT' of .*--ca FILE$"),
    ],
)
def test_cause_of_a_refused_certificate_is_named(make, said, tmp_path):
    ca, context = make()
    ca_file = tmp_path / "ca.pem"
    ca.cert_pem.write_to_path(str(ca_file))

    error, _ = fetch_from(
        "pooled", answer(), scheme="https", ssl=context, ca_file=str(ca_file)
    )

    assert isinstance(error, FetchError)
    assert error.reason is Reason.TLS
    assert re.search(said, str(error)), str(error)


# Client certificates.


def test_client_certificate_is_shown_to_the_seed_only(certificates):
    cert, key = certificates.client_files("me")
    os.chmod(key, 0o600)
    context = certificates.server_context(needs_client_cert=True)

    @gen.coroutine
    def main():
        servers = [FaultServer(then=answer(b"hello"), ssl=context) for _ in range(2)]
        for server in servers:
            yield server.start()
        seed, other = (f"https://127.0.0.1:{server.port}/" for server in servers)
        try:
            return (
                yield fetch(
                    "pooled",
                    seed,
                    other,
                    ca_file=certificates.ca,
                    client_cert=cert,
                    client_key=key,
                )
            )
        finally:
            for server in servers:
                yield server.stop()

    own, others = run(main)

    assert own.body == b"hello"
    assert isinstance(others, FetchError), others


def test_alert_for_a_client_certificate_is_told_whenever_it_comes(certificates):
    context = certificates.server_context(needs_client_cert=True)

    def refuse(listener):
        for _ in range(TRIES):  # the alert comes before the request, or after it
            tls = context.wrap_socket(listener.accept()[0], True, False)
            with contextlib.suppress(ssl.SSLError):
                tls.do_handshake()
            with socket.socket(fileno=tls.detach()) as connection:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass  # closed with unread data, it would be reset

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=refuse, args=[listener])
        thread.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        urls = (f"{url}{number}" for number in range(TRIES))
        errors = run(lambda: fetch("pooled", *urls, ca_file=certificates.ca, tries=1))
        thread.join()

    assert {error.reason for error in errors} == {Reason.TLS}
    assert all("--client-cert FILE" in str(error) for error in errors)


def test_client_certificate_that_a_server_wants_is_asked_for(certificates):
    said = b"<center>No required SSL certificate was sent</center>"  # as nginx does

    error, _ = fetch_from(
        "pooled",
        answer(said, "400 Bad Request"),
        scheme="https",
        ssl=certificates.server_context(),
        ca_file=certificates.ca,
    )

    assert error.reason is Reason.TLS
    assert "--client-cert FILE" in str(error)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x28", "the server refuses the handshake"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "only old versions of TLS"),
        (b"\x15\x03\x03\x00\x02\x02\x70", "does not know the name of the host"),
        (b"SSH-2.0-OpenSSH_9\r\n", "does not speak TLS at this port"),
    ],
    ids=["handshake_failure", "protocol_version", "unrecognized_name", "ssh"],
)
def test_refused_handshake_is_said_in_words(sent, said):
    async def script(peer):
        await peer.send(sent)
        peer.close()

    error, _ = fetch_from("pooled", script, scheme="https")

    assert error.reason is Reason.TLS
    assert said in str(error)


def in_other_hands(folder, certificates):
    cert, key = certificates.client_files("readable")
    os.chmod(key, 0o640)
    return {"client_cert": cert, "client_key": key}


def of_another_certificate(folder, certificates):
    cert, _ = certificates.client_files("one")
    _, key = certificates.client_files("two")
    os.chmod(key, 0o600)
    return {"client_cert": cert, "client_key": key}


def with_a_passphrase(folder, certificates):
    cert, _ = certificates.client_files("sealed")
    key = folder / "sealed.key"
    sealed = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")
    )
    key.write_bytes(sealed)
    key.chmod(0o600)
    return {"client_cert": cert, "client_key": str(key)}


def that_is_missing(folder, certificates):
    return {"ca_file": str(folder / "none.pem")}


def that_is_none(folder, certificates):
    (folder / "text.pem").write_text("hello")
    return {"ca_file": str(folder / "text.pem")}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            in_other_hands,
            r"--client-key .*readable\.key may be read by other.*chmod 600",
        ),
        (of_another_certificate, "is that of another certificate"),
        (with_a_passphrase, "has a passphrase.*openssl pkey -in"),
        (that_is_missing, r"cannot read .*none\.pem for --ca: No such file"),
        (that_is_none, r"--ca .*text\.pem cannot be used: it is not in PEM"),
    ],
)
def test_file_that_cannot_be_used_is_refused_before_the_crawl(
    make, said, tmp_path, certificates
):
    config = CrawlConfig(("https://a.test/",), **make(tmp_path, certificates))

    with pytest.raises(ConfigError, match=said):
        check_fetcher(config)


# Ports of the other scheme.


@pytest.mark.parametrize(
    "said", [peers.answer(b"", "400 Bad Request"), b"<!DOCTYPE HTML>\n<h1>Error"]
)
def test_plain_http_at_a_port_for_https_is_named(said):
    async def script(peer):
        await peer.send(said)
        peer.close()

    error, server = fetch_from("pooled", script, "/a?b", scheme="https")

    assert error.reason is Reason.TLS
    assert str(error) == (
        "the server speaks plain HTTP at this port; start with "
        f"http://127.0.0.1:{server.port}/"
    )


@pytest.mark.parametrize(
    "said",
    [
        b"\x15\x03\x01\x00\x02\x02\x46",
        peers.answer(
            b"<p>The plain HTTP request was sent to HTTPS port", "400 Bad Request"
        ),
    ],
    ids=["alert", "nginx"],
)
def test_tls_at_a_port_for_http_is_named(said):
    error, server = fetch_from("pooled", sends(said), "/a")

    assert isinstance(error, FetchError), error
    assert str(error) == (
        "the server wants TLS at this port; start with "
        f"https://127.0.0.1:{server.port}/"
    )


# Proxies.


def by_socks(
    client, url_scheme="http", *, host="wiki.corp", proxy="", ca="", **options
):
    """Fetch by a SOCKS proxy; return the outcome, the proxy, and the port of the server."""
    socks = SocksProxy(**options)
    context = None
    if url_scheme == "https":
        authority = trustme.CA()
        context = serving(authority.issue_cert(host))
        authority.cert_pem.write_to_path(ca)
    server = FaultServer(then=answer(b"hello"), ssl=context)

    @gen.coroutine
    def main():
        yield server.start()
        port = yield socks.start()
        url = f"{url_scheme}://{host}:{server.port}/a"
        try:
            return (
                yield fetch(
                    client, url, proxy=f"socks5://{proxy}127.0.0.1:{port}", ca_file=ca
                )
            )
        finally:
            yield server.stop()
            yield socks.stop()

    return run(main), socks, server


@pytest.mark.parametrize(
    ("client", "scheme"), [("pooled", "http"), ("pooled", "https"), ("curl", "http")]
)
def test_socks_proxy_resolves_the_name(client, scheme, tmp_path):
    if client == "curl":
        pytest.importorskip("pycurl")
    ca = str(tmp_path / "ca.pem") if scheme == "https" else ""

    fetched, socks, server = by_socks(client, scheme, ca=ca)

    assert getattr(fetched, "body", fetched) == b"hello"
    assert socks.targets == [("wiki.corp", server.port)]
    assert server.requests[0].startswith("GET /a HTTP/1.1")


def test_socks_proxy_is_given_addresses_as_such():
    fetched, socks, server = by_socks("pooled", host="[::1]")

    assert getattr(fetched, "body", fetched) == b"hello"
    assert socks.targets == [("::1", server.port)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"login": ("me", "pässword"), "proxy": "me:p%C3%A4ssword@"}, ""),
        ({"login": ("me", "other"), "proxy": "me:word@"}, "not accept the user and"),
        ({"login": ("me", "other")}, "asks for another login"),
        ({"status": 2}, "not connect to wiki.corp:.*: not allowed by its rules"),
        ({"status": 99}, "code 99"),
    ],
)
def test_refusal_of_a_socks_proxy_is_named(options, said):
    outcome, _, _ = by_socks("pooled", **options)

    if not said:
        assert outcome.body == b"hello"
    else:
        assert outcome.reason is Reason.PROXY_ERROR
        assert str(outcome).startswith("proxy 127.0.0.1:")
        assert re.search(said, str(outcome)), str(outcome)
        assert "599" not in re.sub(r":\d+", "", str(outcome))


WANTS_LOGIN = answer(b"login", "407 Proxy Authentication Required")
DENIES = answer(b"no", "403 Forbidden", X_Squid_Error="ERR_ACCESS_DENIED 0")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("client", ["pooled", "requests"])
@pytest.mark.parametrize(
    ("refusal", "said"),
    [(WANTS_LOGIN, "--proxy USER:PASSWORD@HOST:PORT"), (DENIES, "403")],
    ids=["login", "denied"],
)
def test_proxy_that_refuses_is_named(client, scheme, refusal, said):
    proxy = FaultServer(then=refusal)

    @gen.coroutine
    def main():
        yield proxy.start()
        try:
            address = f"127.0.0.1:{proxy.port}"
            return (yield fetch(client, f"{scheme}://a.test/", proxy=address))
        finally:
            yield proxy.stop()

    error = run(main)

    assert error.reason is Reason.PROXY_ERROR
    assert said in str(error)


@pytest.mark.parametrize("kind", ["", "socks5://"], ids=["connect", "socks"])
def test_proxy_that_does_not_answer_is_named(kind):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"{kind}127.0.0.1:{silent.getsockname()[1]}"

        error = run(
            lambda: fetch(
                "pooled", "https://a.test/", proxy=proxy, connect_timeout_s=0.2
            )
        )

    assert error.reason is Reason.PROXY_ERROR
    assert re.fullmatch("proxy 127.0.0.1:.*: Timeout .* the proxy .*", str(error))
