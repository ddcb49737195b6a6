"""The libcurl options for one exchange, and the callbacks that record it.

It does not import pycurl, which may not be installed: a handle has all the constants.
"""

import asyncio
import socket
from typing import Any

from crawler_app.base.errors import FetchError
from crawler_app.base.urls import host_of, name_of, target_of
from crawler_app.web.fetcher.response_collector import ResponseCollector
from crawler_app.web.httpclient.dialing import AddressCheck
from crawler_app.web.httpclient.request import Proxy

__all__ = ["CurlExchange"]


class CurlExchange:
    """Configures libcurl for the fetch of one URL, and records what it reports.

    Args:
        collector: Receives the head immediately; Tornado delivers it after the body.
        url: The canonical URL.
        check_address: Called with the host and each address before libcurl connects to
            it; raises FetchError to refuse.  None if a proxy resolves names.
        proxy: None if the request uses none.

    Attributes:
        request_head: The request head as sent, not including the one that opens a tunnel.
        peer: The address of the server; empty before libcurl 7.80.
        refusal: The error if every address was refused; None otherwise.
    """

    def __init__(
        self,
        collector: ResponseCollector,
        url: str,
        check_address: AddressCheck | None,
        proxy: Proxy | None,
    ) -> None:
        self.request_head = b""
        self.peer = ""
        self.refusal: FetchError | None = None
        self._collector = collector
        self._url = url
        self._host = name_of(host_of(url)).strip("[]")
        self._check_address = check_address
        self._proxy = proxy
        self._is_any_allowed = False

    def prepare(self, curl: Any) -> None:
        """Set the options of a pycurl handle; for ``prepare_curl_callback``."""
        # The archive stores HTTP/1.1 messages.
        curl.setopt(curl.HTTP_VERSION, curl.CURL_HTTP_VERSION_1_1)
        # Undo the normalization of libcurl.
        has_tunnel = self._url.startswith("https:")
        has_tunnel |= self._proxy is None or self._proxy.is_socks
        curl.setopt(
            curl.REQUEST_TARGET, target_of(self._url) if has_tunnel else self._url
        )
        # Ignore the proxy settings of the environment.
        curl.setopt(curl.NOPROXY, "")
        if self._proxy is None:
            curl.setopt(curl.PROXY, "")
        curl.setopt(curl.VERBOSE, 1)
        curl.setopt(curl.DEBUGFUNCTION, self._take_note)
        if hasattr(curl, "PREREQFUNCTION"):
            curl.setopt(curl.PREREQFUNCTION, self._take_peer)
        if self._check_address is not None:
            curl.setopt(curl.OPENSOCKETFUNCTION, self._open_socket)
        self._sent, self._received = curl.INFOTYPE_HEADER_OUT, curl.INFOTYPE_HEADER_IN
        self._ok = getattr(curl, "PREREQFUNC_OK", 0)
        self._refused = curl.SOCKET_BAD

    def _take_note(self, kind: int, data: bytes) -> None:
        if kind == self._sent:
            # Keep the last one; an earlier one is for a proxy.
            self.request_head = data
        elif kind == self._received:
            for line in data.splitlines(keepends=True):
                self._collector.take_line(line.decode("latin-1"))

    def _take_peer(self, peer: str, *_others: Any) -> int:
        self.peer = peer
        return int(self._ok)

    def _open_socket(self, _purpose: int, address: Any) -> Any:
        """Return a socket for an address, before libcurl connects it."""
        family, kind, protocol, sockaddr = address
        assert self._check_address is not None
        try:
            self._check_address(self._host, _without_bytes(sockaddr))
        except FetchError as exc:
            if not self._is_any_allowed:
                self.refusal = exc.with_traceback(None)
            return self._refused
        self._is_any_allowed, self.refusal = True, None
        opened = socket.socket(family, kind, protocol)
        # libcurl duplicates the descriptor.
        asyncio.get_running_loop().call_soon(opened.close)
        return opened


def _without_bytes(sockaddr: Any) -> Any:
    """Return an address with its host as text; some versions of pycurl pass bytes."""
    if isinstance(sockaddr, tuple) and sockaddr and isinstance(sockaddr[0], bytes):
        return (sockaddr[0].decode("ascii"), *sockaddr[1:])
    return sockaddr
