"""Matching certificates against host names."""

import ssl

import pytest

from gencoro.compat.modules.hostnames import match_hostname


def cert(*names, subject=()):
    """What getpeercert() returns."""
    return {
        "subject": tuple((("commonName", name),) for name in subject),
        "subjectAltName": names,
        "serialNumber": "1",
    }


FITTING = [
    (cert(("DNS", "a.test")), "a.test"),
    (cert(("DNS", "A.test")), "a.TEST"),
    (cert(("DNS", "b.test"), ("DNS", "a.test")), "a.test"),
    (cert(("DNS", "*.a.test")), "www.a.test"),
    (cert(("IP Address", "127.0.0.1")), "127.0.0.1"),
    (cert(("IP Address", "0:0:0:0:0:0:0:1\n")), "::1"),
    (cert(subject=["a.test"]), "a.test"),
    (cert(subject=["*.a.test"]), "www.a.test"),
]

OTHERS = [
    (cert(), "a.test"),
    (cert(("DNS", "a.test")), "b.test"),
    (cert(("DNS", "*.a.test")), "a.test"),
    (cert(("DNS", "*.a.test")), ".a.test"),
    (cert(("DNS", "*.a.test")), "x.www.a.test"),
    (cert(("DNS", "w*.a.test")), "www.a.test"),
    (cert(("DNS", "*")), "localhost"),
    (cert(("DNS", "*.*.test")), "*.*.test"),
    (cert(("DNS", "*.*.test")), "www.a.test"),
    (cert(("DNS", "*.0.0.1")), "127.0.0.1"),
    (cert(("DNS", "127.0.0.1")), "127.0.0.1"),
    (cert(("IP Address", "127.0.0.2")), "127.0.0.1"),
    (cert(("IP Address", "127.0.0.1")), "a.test"),
    # The subject of a certificate with other names is not looked at.
    (cert(("DNS", "b.test"), subject=["a.test"]), "a.test"),
    (cert(("IP Address", "127.0.0.1"), subject=["a.test"]), "a.test"),
]


@pytest.mark.parametrize(("certificate", "hostname"), FITTING)
def test_certificate_for_the_host(certificate, hostname):
    match_hostname(certificate, hostname)


@pytest.mark.parametrize(("certificate", "hostname"), OTHERS)
def test_certificate_for_others(certificate, hostname):
    with pytest.raises(ssl.CertificateError, match="not for"):
        match_hostname(certificate, hostname)


def test_no_certificate():
    with pytest.raises(ValueError, match="CERT_REQUIRED"):
        match_hostname({}, "a.test")
