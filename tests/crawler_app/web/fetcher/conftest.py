"""Fixtures of the tests of the fetchers: the clients, except pycurl if it is not installed."""

import importlib.util

import pytest

from tests.helpers.http.certificates import certificates

__all__ = ["certificates"]

needs_curl = pytest.mark.skipif(
    importlib.util.find_spec("pycurl") is None, reason="pycurl is not installed"
)
CURL = pytest.param("curl", marks=needs_curl)


@pytest.fixture(params=["pooled", "simple", CURL, "requests"])
def client(request):
    return request.param


@pytest.fixture(params=["pooled", CURL, "requests"])
def able_client(request):
    """Return a client that supports proxies and trailers."""
    return request.param
