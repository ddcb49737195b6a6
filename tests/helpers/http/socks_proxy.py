"""A small SOCKS5 proxy on loopback."""

import asyncio
import contextlib
import ipaddress

__all__ = ["SocksProxy"]

CONNECTED = b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00"


class SocksProxy:
    """Connects to 127.0.0.1 for every host.

    Args:
        login: The user and password that it requires, or None.
        status: Its answer to a request; 0 connects.

    Attributes:
        targets: The hosts and ports that it was asked for, as they came.
    """

    def __init__(self, login=None, status=0):
        self.targets = []
        self._login = login
        self._status = status

    async def start(self):
        """Listen, and return the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def stop(self):
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader, writer):
        with contextlib.closing(writer), contextlib.suppress(OSError, EOFError):
            await self._speak(reader, writer)

    async def _speak(self, reader, writer):
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        if not self._login:
            writer.write(b"\x05\x00")
        elif 2 not in methods:
            writer.write(b"\x05\xff")
            return
        else:
            writer.write(b"\x05\x02")
            await reader.readexactly(1)
            given = (await self._text(reader), await self._text(reader))
            writer.write(b"\x01" + bytes([given != self._login]))
        _, _, _, kind = await reader.readexactly(4)
        host = await self._text(reader) if kind == 3 else None
        if host is None:
            packed = await reader.readexactly(4 if kind == 1 else 16)
            host = str(ipaddress.ip_address(packed))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.targets.append((host, port))
        if self._status:
            writer.write(bytes([5, self._status]) + CONNECTED[2:])
            return
        upstream = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CONNECTED)
        with contextlib.closing(upstream[1]):
            await asyncio.gather(
                self._pump(reader, upstream[1]), self._pump(upstream[0], writer)
            )

    async def _text(self, reader):
        (size,) = await reader.readexactly(1)
        return (await reader.readexactly(size)).decode()

    async def _pump(self, reader, writer):
        while part := await reader.read(65536):
            writer.write(part)
        writer.close()
