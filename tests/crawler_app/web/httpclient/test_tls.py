"""TLS: trusted servers, client certificates, buffers, and cached contexts."""

import datetime
import shutil
import ssl
import tracemalloc

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from tornado.simple_httpclient import HTTPStreamClosedError

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")


@pytest.fixture
def needs_client_cert(serve, certificates):
    """Serve clients that have a certificate, and respond with their name."""

    def page(request):
        subject = request.stream.socket.getpeercert()["subject"]
        (name,) = [value for ((key, value),) in subject if key == "commonName"]
        return answer(name.encode())

    context = certificates.server_context(needs_client_cert=True)
    return serve(page, ssl_options=context)


# Trusted servers.


@pytest.fixture
def trusts(certificates, other_certificates):
    """Return options of requests by the trust that they express."""
    ca = certificates.ca
    return {
        "nothing": {},
        "ca_certs": {"ca_certs": ca},
        "other ca_certs": {"ca_certs": other_certificates.ca},
        # The options of a dict or a context take precedence over a file, which need not exist.
        "dict": {
            "ssl_options": {"ca_certs": ca, "cert_reqs": ssl.CERT_REQUIRED},
            "ca_certs": "/no/file",
        },
        "context": {
            "ssl_options": ssl.create_default_context(cafile=ca),
            "ca_certs": "/no/file",
        },
        "anyone": {"validate_cert": False},
    }


@pytest.mark.parametrize(
    ("trust", "trusted", "others"),
    [
        ("nothing", [], ["127.0.0.1"]),
        ("other ca_certs", [], ["127.0.0.1"]),
        ("ca_certs", ["127.0.0.1", "a.test"], ["elsewhere.test"]),
        ("dict", ["127.0.0.1"], ["elsewhere.test"]),
        ("context", ["127.0.0.1"], ["elsewhere.test"]),
        ("anyone", ["127.0.0.1", "elsewhere.test"], []),
    ],
)
@gen.coroutine
def test_server_is_trusted_or_not(named, secure_web, trusts, trust, trusted, others):
    url = f"https://{{}}:{secure_web.port}/"

    for host in others:
        with pytest.raises(ssl.SSLCertVerificationError, match=f"{host}|not trusted"):
            yield named.fetch(url.format(host), **trusts[trust])
    assert secure_web.requests == []
    for host in trusted:
        response = yield named.fetch(url.format(host), **trusts[trust])
        assert response.body == b"hello"


@pytest.fixture
def only_subject(tmp_path):
    """Write a certificate with a name in its subject only, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a.test")])
    now = datetime.datetime.now(datetime.UTC)
    cert = x509.CertificateBuilder(name, name, key.public_key(), 1)
    cert = cert.not_valid_before(now - datetime.timedelta(1))
    cert = cert.not_valid_after(now + datetime.timedelta(1))
    cert = cert.add_extension(x509.BasicConstraints(True, None), critical=True)
    path = tmp_path / "only-subject.pem"
    path.write_bytes(
        cert.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
        + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return str(path)


@gen.coroutine
def test_name_in_the_subject_of_a_certificate_is_ignored(named, serve, only_subject):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(only_subject)
    web = serve(lambda request: HELLO, ssl_options=context)
    url = f"https://a.test:{web.port}/"
    required = {"ca_certs": only_subject, "cert_reqs": ssl.CERT_REQUIRED}

    for options in ({"ca_certs": only_subject}, {"ssl_options": required}):
        with pytest.raises(ssl.SSLCertVerificationError, match=r"a\.test"):
            yield named.fetch(url, **options)

    assert web.requests == []


@gen.coroutine
def test_missing_file_is_an_error(client, secure_web):
    with pytest.raises(FileNotFoundError):
        yield client.fetch(secure_web.url, ca_certs="/no/such/file.pem")
    with pytest.raises(FileNotFoundError):
        yield client.fetch(
            secure_web.url, validate_cert=False, client_cert="/no/such/file.pem"
        )


# Client certificates.


@pytest.mark.parametrize("is_dict", [False, True])
@gen.coroutine
def test_client_certificate_is_sent_on_request(
    client, needs_client_cert, certificates, is_dict
):
    cert, key = certificates.client_files("someone")
    options = {"ca_certs": certificates.ca, "client_cert": cert, "client_key": key}
    if is_dict:
        files = {"ca_certs": certificates.ca, "certfile": cert, "keyfile": key}
        options = {"ssl_options": files}

    response = yield client.fetch(needs_client_cert.url, **options)

    assert response.body == b"someone"


@gen.coroutine
def test_missing_client_certificate_is_an_error(
    client, needs_client_cert, certificates
):
    # With TLS 1.3 the server's refusal comes after the client's handshake.
    with pytest.raises((OSError, HTTPStreamClosedError)):
        yield client.fetch(needs_client_cert.url, ca_certs=certificates.ca)

    assert needs_client_cert.requests == []


@gen.coroutine
def test_renewed_client_certificate_is_used_on_a_new_connection(
    client, needs_client_cert, certificates
):
    cert, key = certificates.client_files("renewed", common_name="before")
    options = {
        "ca_certs": certificates.ca,
        "client_cert": cert,
        "client_key": key,
        "headers": {"Connection": "close"},
    }
    before = yield client.fetch(needs_client_cert.url, **options)

    certificates.client_files("renewed", common_name="after")
    after = yield client.fetch(needs_client_cert.url, **options)

    assert (before.body, after.body) == (b"before", b"after")


@gen.coroutine
def test_renewed_authority_is_trusted_on_a_new_connection(
    client, secure_web, certificates, other_certificates, tmp_path
):
    ca = tmp_path / "ca.pem"
    shutil.copy(other_certificates.ca, ca)
    with pytest.raises(ssl.SSLCertVerificationError):
        yield client.fetch(secure_web.url, ca_certs=str(ca))

    shutil.copy(certificates.ca, ca)
    response = yield client.fetch(secure_web.url, ca_certs=str(ca))

    assert response.body == b"hello"


# Server names.


@pytest.mark.parametrize(
    ("host", "seen"), [("a.test", "a.test"), ("A.TEST", "a.test"), ("127.0.0.1", None)]
)
@gen.coroutine
def test_sni_is_the_name_in_the_url(named, serve, certificates, host, seen):
    names = []
    context = certificates.server_context()
    context.sni_callback = lambda sock, name, context: names.append(name)
    server = serve(HELLO, ssl_options=context)

    yield named.fetch(f"https://{host}:{server.port}/", ca_certs=certificates.ca)

    assert [name and name.lower() for name in names] == [seen]


@gen.coroutine
def test_host_header_does_not_change_the_certified_name(
    named, secure_web, certificates
):
    response = yield named.fetch(
        f"https://a.test:{secure_web.port}/",
        ca_certs=certificates.ca,
        headers={"Host": "elsewhere.test"},
    )

    assert response.code == 200
    assert secure_web.requests[0].headers["Host"] == "elsewhere.test"


@gen.coroutine
def test_large_bodies_are_sent_and_received(client, secure_web, certificates):
    body = bytes(range(256)) * 10_000
    secure_web.script = lambda request: answer(request.body)
    received = []

    @gen.coroutine
    def take(chunk):
        received.append(chunk)
        yield gen.moment

    options = {"method": "PUT", "body": body, "ca_certs": certificates.ca}
    response = yield client.fetch(secure_web.url, **options)
    yield client.fetch(secure_web.url, streaming_callback=take, **options)

    assert response.body == body
    assert len(received) > 1
    assert b"".join(received) == body
    assert secure_web.used == [0, 0]


@gen.coroutine
def test_idle_connection_keeps_no_buffer(make_client, secure_web, certificates):
    connections = 20
    client = make_client(max_clients=connections)
    urls = [secure_web.url] * connections
    # The first makes what all connections share.
    yield client.fetch(secure_web.url, ca_certs=certificates.ca)

    tracemalloc.start()
    yield [client.fetch(url, ca_certs=certificates.ca) for url in urls]
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(client._pool._idle) == connections
    assert kept_bytes / connections < 64 * 1024


# Cached contexts.


@gen.coroutine
def test_context_is_made_once_for_each_set_of_options(
    client, secure_web, certificates, monkeypatch, tmp_path
):
    # Contexts may live longer than clients, so these files are new.
    ca = tmp_path / "ca.pem"
    shutil.copy(certificates.ca, ca)
    made = []
    load = ssl.SSLContext.load_verify_locations

    def counting(context, *args, **kwargs):
        made.append(context)
        return load(context, *args, **kwargs)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counting)
    cert, key = certificates.client_files("counted")
    plain = {"ca_certs": str(ca)}
    sets = [plain, plain | {"client_cert": cert, "client_key": key}]

    for options in sets * 3:
        yield client.fetch(secure_web.url, headers={"Connection": "close"}, **options)

    assert secure_web.used == [0, 1, 2, 3, 4, 5]
    assert len(made) == 2
