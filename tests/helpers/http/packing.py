"""Content codings: compresses a body as a server does.

br and zstd need a package; each is available if one is installed.
"""

import gzip
import importlib
import zlib
from collections.abc import Callable
from functools import partial

__all__ = ["PACK_BY_CODING", "raw_deflate"]

PACK_BY_CODING: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}
for coding, package in [
    ("br", "brotli"),
    ("zstd", "compression.zstd"),
    ("zstd", "backports.zstd"),
]:
    try:
        PACK_BY_CODING.setdefault(coding, importlib.import_module(package).compress)
    except ImportError:
        continue
if "br" in PACK_BY_CODING:
    # By itself it tries twenty times as long to be as small.
    PACK_BY_CODING["br"] = partial(PACK_BY_CODING["br"], quality=5)


def raw_deflate(body: bytes) -> bytes:
    """Compress with deflate without zlib's header, as some servers do."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()
