"""The TLS context of a crawl: the user's authorities and client certificate.

Rule: what a file lacks is said before the crawl begins, with the option that names it.
"""

import contextlib
import shlex
import ssl
from collections.abc import Iterator

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.web.fetcher.private_files import require_private
from crawler_app.web.httpclient.tls import context_of, tls_options

__all__ = ["own_context"]


def own_context(config: CrawlConfig, *, is_own: bool) -> ssl.SSLContext:
    """Return a context that trusts the system's authorities and those of ``--ca``.

    Args:
        is_own: Whether it shows the client certificate, if a server asks for one.

    Raises:
        ConfigError: a file cannot be used; the text says why.
    """
    if not (config.ca_file or is_own):
        return context_of(tls_options())
    # A context of the cache is shared, so this one is new.
    context = ssl.create_default_context()
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    if config.ca_file:
        # As curl: an intermediate authority in the file suffices, and an old one that lacks
        # what RFC 5280 asks for, which Python checks since 3.13.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        with _named("--ca", config.ca_file):
            context.load_verify_locations(config.ca_file)
    if is_own:
        key = config.client_key or config.client_cert
        flag = "--client-key" if config.client_key else "--client-cert"
        with _named("--client-cert", config.client_cert):
            require_private(flag, key)
            context.load_cert_chain(
                config.client_cert, key, password=lambda: _refuse_passphrase(flag, key)
            )
    return context


@contextlib.contextmanager
def _named(flag: str, path: str) -> Iterator[None]:
    """Raise ConfigError if a file cannot be used."""
    try:
        yield
    except ssl.SSLError as exc:
        why = "it is not in PEM format (or lacks the certificate or the key)"
        if exc.reason == "KEY_VALUES_MISMATCH":
            why = "the private key is that of another certificate"
        raise ConfigError(f"{flag} {path} cannot be used: {why}") from None
    except OSError as exc:
        name = exc.filename or path
        raise ConfigError(f"cannot read {name} for {flag}: {exc.strerror}") from None


def _refuse_passphrase(flag: str, path: str) -> str:
    raise ConfigError(
        f"the private key in {flag} {path} has a passphrase; write it without one by "
        f"`openssl pkey -in {shlex.quote(path)} -out NEW`, and chmod 600 NEW"
    )
