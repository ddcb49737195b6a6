"""Signed requests, as another implementation of RFC 9421 verifies them."""

import base64
import json
import os
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from http_message_signatures import (
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
    algorithms,
)

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.models import Request
from crawler_app.commands.main import main
from crawler_app.web.fetcher import check_fetcher, make_fetcher
from crawler_app.web.fetcher.message_signatures import (
    SigningKey,
    Wish,
    new_pem,
    signature_base,
    wish_of,
)
from gencoro import gen
from tests.helpers.fetching import run
from tests.helpers.http.peers import RawServer, answer

AGENT = "https://bot.test"
ASKS = 'sig1=("@authority" "signature-agent";key="sig1");created;tag="web-bot-auth"'
REFUSES = answer(b"who?", "403 Forbidden", Accept_Signature=ASKS)

# RFC 9421, B.1.4 and B.2.6.
TEST_KEY = b"""-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
TEST_SIGNATURE = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "sign.pem"
    path.touch(0o600)
    path.write_bytes(TEST_KEY)
    return path


def unsigned(refusal=REFUSES):
    """Return a script that refuses what is not signed, except /open."""

    def script(request):
        is_open = request.target == "/open" or "Signature-Input" in request.headers
        return answer(b"page") if is_open else refusal

    return script


class KnowsTheKey(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        assert key_id == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"  # RFC 8037, A.3
        return load_pem_private_key(TEST_KEY, None).public_key()


def verified(request, server):
    """Return what another implementation finds signed; it raises if that is wrong."""
    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.ED25519, key_resolver=KnowsTheKey()
    )
    message = SimpleNamespace(
        method=request.method,
        url=server.url + request.target,
        headers=dict(request.headers),
    )
    (result,) = verifier.verify(message, expect_tag="web-bot-auth")
    return result


def fetch_signed(key_file, *steps, scripts=(), client="pooled", **options):
    """Make fetches of servers that play scripts; return the statuses and the servers.

    Args:
        steps: A method, a path, and the number of the server.
    """

    @gen.coroutine
    def fetching():
        servers = [RawServer(script) for script in scripts or [unsigned(), unsigned()]]
        options.setdefault("sign_agent", AGENT)
        fetcher = make_fetcher(
            CrawlConfig(
                (servers[0].url,), client=client, sign_key=str(key_file), **options
            )
        )
        statuses = []
        for method, path, number in steps:
            url = servers[number].url + path
            fetched = yield fetcher.fetch(
                Request(url, {"signature": "x"}, method=method)
            )
            statuses.append(fetched.status)
        fetcher.close()
        for server in servers:
            server.stop()
            server.close_connections()
        return statuses, servers

    return run(fetching)


def test_test_vector_of_the_rfc():
    covered = [
        (("date", {}), "Tue, 20 Apr 2021 02:07:55 GMT"),
        (("@method", {}), "POST"),
        (("@path", {}), "/foo"),
        (("@authority", {}), "example.com"),
        (("content-type", {}), "application/json"),
        (("content-length", {}), "18"),
    ]
    params = {"created": 1618884473, "keyid": "test-key-ed25519"}

    base = signature_base(covered, params)

    key = load_pem_private_key(TEST_KEY, None)
    assert base64.b64encode(key.sign(base.encode())).decode() == TEST_SIGNATURE


@pytest.mark.parametrize("client", ["pooled", "simple", "curl", "requests"])
def test_refused_request_is_repeated_with_a_signature_and_later_ones_have_it(
    client, key_file
):
    steps = [("GET", "/a?x=1", 0), ("HEAD", "/b", 0)]

    statuses, (server, _) = fetch_signed(key_file, *steps, client=client)

    first, again, later = server.requests
    assert statuses == [200, 200]
    assert "Signature-Input" not in first.headers
    assert (again.target, later.method) == ("/a?x=1", "HEAD")
    results = [verified(request, server) for request in (again, later)]
    assert [list(result.covered_components) for result in results] == [
        ['"@authority"', '"signature-agent";key="sig1"', '"@signature-params"']
    ] * 2
    assert results[0].nonce != results[1].nonce
    life_s = [r.parameters["expires"] - r.parameters["created"] for r in results]
    assert life_s == [300, 300]
    assert again.headers["Signature-Agent"] == f'sig1="{AGENT}"'


def test_other_origins_get_no_signature_before_they_ask(key_file):
    steps = [("GET", "/a", 0), ("GET", "/open", 1)]

    _, (_, other) = fetch_signed(key_file, *steps)

    (request,) = other.requests
    assert request.headers.get("Signature") == "x"  # that of the caller
    assert "Signature-Agent" not in request.headers


def test_sign_always_signs_the_first_request(key_file):
    _, (server, _) = fetch_signed(key_file, ("GET", "/open", 0), sign_always=True)

    (request,) = server.requests
    assert verified(request, server)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_a_site_asks_for_is_covered(method, key_file):
    wish = (
        'other=("@status");tag="web-bot-auth", '
        'mine=("@method" "@target-uri" "@path" "@query" "@scheme" "@request-target" '
        '"signature-agent");nonce="abc";tag="web-bot-auth"'
    )
    refusal = answer(b"", "401 Unauthorized", Accept_Signature=wish)

    _, (server,) = fetch_signed(
        key_file, (method, "/a/b?c=d&e", 0), scripts=[unsigned(refusal)]
    )

    result = verified(server.requests[1], server)
    assert (result.label, result.nonce) == ("mine", "abc")
    assert len(result.covered_components) == 10


def test_request_is_repeated_once_only(key_file):
    scripts = [REFUSES]

    statuses, (server,) = fetch_signed(key_file, ("GET", "/a", 0), scripts=scripts)

    assert statuses == [403]
    assert len(server.requests) == 2


def test_answer_that_is_no_refusal_is_taken_and_the_next_request_is_signed(key_file):
    scripts = [answer(b"page", Accept_Signature=f'{ASKS};nonce="n1"')]
    steps = [("GET", "/a", 0), ("GET", "/b", 0)]

    statuses, (server,) = fetch_signed(key_file, *steps, scripts=scripts)

    assert statuses == [200, 200]
    assert verified(server.requests[1], server).nonce == "n1"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "field",
    [
        "sig1=(",
        "sig1",
        "sig1=:YQ==:",
        'sig1=("@authority");tag="payment"',
        'sig1=("@authority");alg="rsa-pss-sha512"',
        'sig1=("@authority");keyid="another"',
        'sig1=("x-token")',
        'sig1=("@authority";req)',
        'sig1=("signature-agent";key="sig2")',
        f'sig1=("@authority");nonce="{"n" * 513}"',
        f'sig1=("@authority");nonce="{"n" * 5000}"',
        'sig1=("@authority");nonce=\xe9',
        "",
    ],
)
def test_what_cannot_be_signed_is_not_asked_for(field):
    assert wish_of(field, "ours") is None


def test_wish_names_what_is_to_be_covered_once():
    field = 'a=("@path" "@path");keyid="ours";alg="ed25519";nonce;created'

    assert wish_of(field, "ours") == Wish("a", (("@path", ""),))


# Keys and the command.


def test_jwk_is_the_same_key(key_file):
    key = SigningKey.read(str(key_file))
    secret = base64.urlsafe_b64encode(key.private.private_bytes_raw()).decode()
    jwk = {**key.public_jwk, "d": secret.rstrip("=")}

    key_file.write_text(json.dumps(jwk))

    assert SigningKey.read(str(key_file)).thumbprint == key.thumbprint


def encrypted():
    key = load_pem_private_key(TEST_KEY, None)
    return key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")
    )


@pytest.mark.parametrize(
    ("data", "mode", "said"),
    [
        (new_pem(), 0o640, "may be read by other users .* chmod 600"),
        (encrypted(), 0o600, "has a passphrase"),
        (b"", 0o600, "no Ed25519 private key .* `gencrawl sign-key FILE`"),
        (b'{"kty": "OKP", "crv": "X25519", "d": ""}', 0o600, "no Ed25519 private key"),
        (b"[" * 9000, 0o600, "no Ed25519 private key"),
        (b"x" * 20_000, 0o600, "more than 16384 bytes"),
    ],
)
def test_key_that_cannot_be_used_is_refused_before_the_crawl(
    data, mode, said, key_file
):
    key_file.write_bytes(data)
    key_file.chmod(mode)

    with pytest.raises(ConfigError, match=said):
        check_fetcher(
            CrawlConfig(("http://a/",), sign_key=str(key_file), sign_agent=AGENT)
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sign_key": "k"}, "--sign needs --sign-agent ORIGIN"),
        ({"sign_agent": AGENT}, "need --sign FILE"),
        ({"sign_always": True}, "need --sign FILE"),
    ],
)
def test_key_and_agent_go_together(options, said):
    with pytest.raises(ConfigError, match=said):
        check_fetcher(CrawlConfig(("http://a/",), **options))


@pytest.mark.parametrize(
    "agent", ["http://a.test", "https://a.test/x", "https://u@a.test", "a"]
)
def test_agent_is_an_https_origin(agent):
    with pytest.raises(ConfigError, match="an https origin without a path"):
        CrawlConfig(("http://a/",), sign_agent=agent)


def test_command_makes_a_key_and_the_directory_of_all(tmp_path, key_file):
    new, output = tmp_path / "new.pem", tmp_path / "directory"

    status = main(["sign-key", str(new), str(key_file), "--output", str(output)])

    made, old = json.loads(output.read_text())["keys"]
    assert status == 0
    assert new.stat().st_mode & 0o777 == 0o600
    assert made["kid"] == SigningKey.read(str(new)).thumbprint
    assert old == {
        "crv": "Ed25519",
        "kid": "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
        "kty": "OKP",
        "use": "sig",
        "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
    }
    assert key_file.read_bytes() == TEST_KEY
    assert sorted(os.listdir(tmp_path)) == ["directory", "new.pem", "sign.pem"]
