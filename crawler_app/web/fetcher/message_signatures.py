"""HTTP message signatures (RFC 9421) of a crawler, as Web Bot Auth profiles them.

No socket and no clock: what is signed, and what an ``Accept-Signature`` field asks for, follow
from the arguments.  The profile is draft-ietf-webbotauth-httpsig-protocol-01.  Needs the extra
``sign``.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import http_sf
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from crawler_app.base.errors import ConfigError
from crawler_app.base.models import Request
from crawler_app.base.safe_files import read_limited
from crawler_app.web.fetcher.private_files import require_private

__all__ = [
    "TAG",
    "SigningKey",
    "Wish",
    "new_pem",
    "signature_headers",
    "wish_of",
]

TAG = "web-bot-auth"

# A signature can be replayed until it expires; clocks differ by less.  The draft allows a day.
LIFETIME_S = 300

# Longer fields and nonces are not taken seriously: the nonce is sent back to the site.
MAX_FIELD_CHARS = 4096
MAX_NONCE_CHARS = 512
MAX_KEY_BYTES = 16_384

# A component as in RFC 9421: a tuple of its name and its parameters.
Component = Any


@dataclass(frozen=True)
class SigningKey:
    """An Ed25519 key that signs requests.

    >>> key = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    >>> key.thumbprint, key.public_jwk["crv"]
    ('9ZP03Nu8GrXPAUkbKNxHOKBzxPX83SShgFkRNK-f2lw', 'Ed25519')
    """

    private: Ed25519PrivateKey

    @classmethod
    def read(cls, path: str, flag: str = "--sign") -> "SigningKey":
        """Read a key from a PEM file (PKCS #8) or from a JWK.

        Args:
            flag: The option that names the file, for errors.

        Raises:
            ConfigError: the file cannot be read, has no Ed25519 private key, or can be read by
                other users.
        """
        try:
            require_private(flag, path)
            data = read_limited(Path(path), MAX_KEY_BYTES)
        except OSError as exc:
            why = exc.strerror or str(exc)
            raise ConfigError(f"cannot read {path} for {flag}: {why}") from None
        try:
            is_jwk = data.lstrip().startswith(b"{")
            private = _of_jwk(data) if is_jwk else load_pem_private_key(data, None)
        except TypeError:
            raise ConfigError(
                f"{flag} {path} has a passphrase; write it without one by "
                "`openssl pkey -in FILE -out NEW`"
            ) from None
        except (ValueError, LookupError, RecursionError):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise ConfigError(
                f"{flag} {path} has no Ed25519 private key in PEM or JWK format; "
                "`gencrawl sign-key FILE` makes one"
            )
        return cls(private)

    @property
    def public_jwk(self) -> dict[str, str]:
        """The public key as a JWK, with the members that its thumbprint is made of."""
        raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return {"crv": "Ed25519", "kty": "OKP", "x": _base64url(raw)}

    @property
    def thumbprint(self) -> str:
        """The SHA-256 thumbprint of RFC 7638, by which verifiers find the key."""
        text = json.dumps(self.public_jwk, separators=(",", ":"), sort_keys=True)
        return _base64url(hashlib.sha256(text.encode()).digest())


def new_pem() -> bytes:
    """Return a new private key, as the text of a PEM file.

    >>> new_pem().partition(b"\\n")[0]
    b'-----BEGIN PRIVATE KEY-----'
    """
    private = Ed25519PrivateKey.generate()
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass(frozen=True)
class Wish:
    """The signature that a site asks for.

    Attributes:
        label: The name of the signature in the fields.
        components: What it must cover, besides what ours always do.
        nonce: The nonce that it must have; empty if any will do.
    """

    label: str = "sig1"
    components: tuple[tuple[str, str], ...] = ()
    nonce: str = ""

    def without_nonce(self) -> "Wish":
        """Return the wish for the requests after the one that uses the nonce."""
        return replace(self, nonce="")


def signature_headers(
    request: Request,
    key: SigningKey,
    agent: str,
    wish: Wish,
    created: int,
    nonce: str,
) -> dict[str, str]:
    """Return the three headers of a signed request.

    Args:
        agent: The origin at which the key directory is published.
        created: The time, in seconds since 1970.
        nonce: Used if the wish has none.

    >>> key = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    >>> request = Request("https://a.test/page")
    >>> made = signature_headers(request, key, "https://me.test", Wish(), 1, "n")
    >>> made["Signature-Agent"]
    'sig1="https://me.test"'
    >>> made["Signature-Input"].partition(";created")[0]
    'sig1=("@authority" "signature-agent";key="sig1")'
    """
    field = http_sf.ser({wish.label: (agent, {})})
    covered: list[Component] = [
        (name, {"key": of} if of else {}) for name, of in _covered(wish)
    ]
    params: dict[str, Any] = {
        "created": created,
        "expires": created + LIFETIME_S,
        "keyid": key.thumbprint,
        "alg": "ed25519",
        "nonce": wish.nonce or nonce,
        "tag": TAG,
    }
    values = _values(request) | {"signature-agent": field}
    member = http_sf.ser((agent, {}))
    signed = signature_base(
        [(each, member if each[1] else values[each[0]]) for each in covered], params
    )
    signature = key.private.sign(signed.encode("ascii"))
    return {
        "Signature-Agent": field,
        "Signature-Input": http_sf.ser({wish.label: (covered, params)}),
        "Signature": http_sf.ser({wish.label: (signature, {})}),
    }


def signature_base(
    covered: Sequence[tuple[Component, str]], params: Mapping[str, Any]
) -> str:
    """Return the text that is signed: section 2.5 of RFC 9421.

    >>> print(signature_base([(("@method", {}), "GET")], {"created": 1}))
    "@method": GET
    "@signature-params": ("@method");created=1
    """
    lines = [f"{http_sf.ser(component)}: {value}" for component, value in covered]
    components = [component for component, _ in covered]
    inner_list = http_sf.ser([(components, dict(params))])
    return "\n".join([*lines, f'"@signature-params": {inner_list}'])


def wish_of(field: str, thumbprint: str) -> Wish | None:
    """Return the first signature in an ``Accept-Signature`` field that we can make.

    Args:
        field: From any server; empty if there is none.
        thumbprint: That of our key.

    >>> wish_of('sig=("@authority" "@path");tag="web-bot-auth"', "")
    Wish(label='sig', components=(('@authority', ''), ('@path', '')), nonce='')
    >>> wish_of('a=("@authority");tag="payment", b=("@status")', "")
    """
    if not field or len(field) > MAX_FIELD_CHARS:
        return None
    try:
        # Typed as any structured field.
        members = cast(Any, http_sf.parse(field.encode("ascii"), tltype="dictionary"))
    except (http_sf.StructuredFieldError, ValueError):
        return None
    for label, (components, params) in members.items():
        named = _named(components, label)
        if named is None or not _fits(params, thumbprint):
            continue
        nonce = params.get("nonce")
        return Wish(label, named, nonce if isinstance(nonce, str) else "")
    return None


def _named(components: Any, label: str) -> tuple[tuple[str, str], ...] | None:
    """Return the names of components, with the ``key`` of each; None if we lack one."""
    if not isinstance(components, list):
        return None
    known = {*_values(Request("https://a.test/")), "signature-agent"}
    named = []
    for name, params in components:
        own = {} if name != "signature-agent" or not params else {"key": label}
        if not isinstance(name, str) or name not in known or params != own:
            return None
        named.append((name, label if own else ""))
    return tuple(dict.fromkeys(named))


def _fits(params: Mapping[str, Any], thumbprint: str) -> bool:
    nonce = params.get("nonce", "")
    return (
        params.get("tag", TAG) == TAG
        and params.get("alg", "ed25519") in ("ed25519", True)
        and params.get("keyid", thumbprint) in (thumbprint, True)
        and (nonce is True or isinstance(nonce, str) and len(nonce) <= MAX_NONCE_CHARS)
    )


def _covered(wish: Wish) -> list[tuple[str, str]]:
    """Return what is asked for, and what the profile demands."""
    demanded = [("@authority", ""), ("signature-agent", wish.label)]
    return list(dict.fromkeys([*wish.components, *demanded]))


def _values(request: Request) -> dict[str, str]:
    """Return the derived components of a request: section 2.2 of RFC 9421."""
    parts = urlsplit(request.url)
    port = {"http": ":80", "https": ":443"}[parts.scheme]
    path = parts.path or "/"
    return {
        "@authority": parts.netloc.rpartition("@")[2].lower().removesuffix(port),
        "@method": request.method,
        "@path": path,
        "@query": f"?{parts.query}",
        "@request-target": f"{path}?{parts.query}" if parts.query else path,
        "@scheme": parts.scheme,
        "@target-uri": request.url.partition("#")[0],
    }


def _of_jwk(data: bytes) -> Ed25519PrivateKey:
    jwk = json.loads(data)
    if jwk["kty"] != "OKP" or jwk["crv"] != "Ed25519":
        raise ValueError("another kind of key")
    padded = str(jwk["d"]) + "=" * (-len(str(jwk["d"])) % 4)
    private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(padded))
    if jwk.get("x", "") not in ("", SigningKey(private).public_jwk["x"]):
        raise ValueError("the public key is that of another")
    return private


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
