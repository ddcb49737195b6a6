"""Certificates for the servers and clients of the tests, and their fixtures."""

import ssl

import pytest
import trustme

__all__ = ["Certificates", "certificates", "other_certificates"]


class Certificates:
    """A certificate authority, and the files that it has signed.

    Attributes:
        ca: Path of the authority's certificate.
    """

    def __init__(self, folder):
        self._folder = folder
        self._authority = trustme.CA()
        self.ca = str(folder / "ca.pem")
        self._authority.cert_pem.write_to_path(self.ca)
        self._server_cert = self._issue("a.test", "127.0.0.1", "localhost", "::1")

    def server_context(self, *, needs_client_cert=False):
        """Return a context for a server."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._server_cert.configure_cert(context)
        if needs_client_cert:
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def client_files(self, name, common_name=None):
        """Write a client's certificate and key, replacing files of this name; return their paths."""
        cert, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        issued = self._issue(f"{name}.test", common_name=common_name or name)
        issued.cert_chain_pems[0].write_to_path(str(cert))
        issued.private_key_pem.write_to_path(str(key))
        return str(cert), str(key)

    def _issue(self, *names, **options):
        return self._authority.issue_cert(*names, **options)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def other_certificates(tmp_path_factory):
    """Return those of another authority, which no test trusts."""
    return Certificates(tmp_path_factory.mktemp("other_certificates"))
