"""ReplayWeb.page: one version of it, known by its digest.

It is not a part of gencrawl: its license is the AGPL, and its two scripts, which need nothing
else, have 1.8 MB.  The first `browse` downloads the package from npm and keeps it in the cache.

Why not pywb, which rewrites pages on the server: it needs some fifty packages, a copy of the
archive, and misses URLs that scripts make; this needs two files.
"""

import contextlib
import hashlib
import io
import os
import tarfile
import tempfile
import urllib.request
from pathlib import Path

from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep, megabytes, no_step

__all__ = ["PACKAGE", "PLAYER_FILES", "player_files"]

VERSION = "2.4.6"
PACKAGE = f"replaywebpage-{VERSION}.tgz"
URL = f"https://registry.npmjs.org/replaywebpage/-/{PACKAGE}"
SHA512 = (
    "b86e748c449195dd29f9f63bfa753121697b86f7e29ab78d8d299a36473f6bd6"
    "bc8017666fb3c7e09e362226febe093d2ab1ddd072d27154fef8b82a5797f0a5"
)
SIZE_BYTES = 2_306_789
PLAYER_FILES = ("ui.js", "sw.js")

TIMEOUT_S = 60.0
PIECE_BYTES = 64 * 1024


def player_files(
    given: Path | None, cache: Path, on_step: OnStep = no_step
) -> dict[str, bytes]:
    """Return the scripts of ReplayWeb.page by name.

    Args:
        given: The package, as ``npm pack`` saves it; None for that in the cache, or on npm.
        cache: The directory in which a download is kept.

    Raises:
        ConfigError: it cannot be read or downloaded, or is another version.
    """
    kept = given or cache / PACKAGE
    try:
        package = kept.read_bytes()
    except FileNotFoundError as exc:
        if given is not None:
            raise ConfigError(f"there is no file {given}") from exc
        package = _downloaded(on_step)
        _require_right(package, URL)
        _keep(package, kept)
    except OSError as exc:
        raise ConfigError(f"cannot read {kept}: {exc.strerror}") from None
    _require_right(package, str(kept))
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        members = {
            name: archive.extractfile(f"package/{name}") for name in PLAYER_FILES
        }
        return {name: member.read() for name, member in members.items() if member}


def _require_right(package: bytes, name: str) -> None:
    if hashlib.sha512(package).hexdigest() != SHA512:
        raise ConfigError(
            f"{name} is not ReplayWeb.page {VERSION} as published; delete it, or name with "
            f"--player the file that `npm pack replaywebpage@{VERSION}` saves"
        )


def _downloaded(on_step: OnStep) -> bytes:
    package = bytearray()
    try:
        with urllib.request.urlopen(URL, timeout=TIMEOUT_S) as response:
            # A longer answer is not the package.
            while len(package) <= SIZE_BYTES and (piece := response.read(PIECE_BYTES)):
                package += piece
                on_step(
                    "downloading megabytes of ReplayWeb.page",
                    megabytes(len(package)),
                    megabytes(SIZE_BYTES),
                )
    except OSError as exc:
        raise ConfigError(
            f"cannot download ReplayWeb.page from {URL}: {exc}; on a machine with Internet "
            f"access run `npm pack replaywebpage@{VERSION}`, and name the file with --player"
        ) from None
    return bytes(package)


def _keep(package: bytes, path: Path) -> None:
    """Write the package into the cache; if that fails, it is downloaded again next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent)
        with open(fd, "wb") as file:
            file.write(package)
        os.replace(name, path)
