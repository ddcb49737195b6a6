"""ReplayWeb.page: one version of it, known by its digest.

It is not a part of gencrawl: its license is the AGPL, and its two scripts, which need nothing
else, have 1.8 MB.  The first `browse` lets npm download the package, with the mirror and the
proxy that npm is set up for, and keeps it in the cache.

Why not pywb, which rewrites pages on the server: it needs many more packages and a copy of the
archive, and misses URLs that scripts make; this needs two files.
"""

import contextlib
import hashlib
import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from crawler_app.base.errors import ConfigError

__all__ = ["PACKAGE", "PLAYER_FILES", "player_files"]

VERSION = "2.4.6"
PACKAGE = f"replaywebpage-{VERSION}.tgz"
NPM_PACK = f"npm pack replaywebpage@{VERSION}"
SHA512 = (
    "b86e748c449195dd29f9f63bfa753121697b86f7e29ab78d8d299a36473f6bd6"
    "bc8017666fb3c7e09e362226febe093d2ab1ddd072d27154fef8b82a5797f0a5"
)
PLAYER_FILES = ("ui.js", "sw.js")

TIMEOUT_S = 120.0


def player_files(given: Path | None, cache: Path) -> dict[str, bytes]:
    """Return the scripts of ReplayWeb.page by name.

    Args:
        given: The package, as ``npm pack`` saves it; None for that in the cache, or from npm.
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
        package = _downloaded()
        _require_right(package, "what npm downloaded")
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
            f"--player the file that `{NPM_PACK}` saves"
        )


def _downloaded() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        command = [*NPM_PACK.split(), "--pack-destination", folder]
        try:
            subprocess.run(
                command, check=True, capture_output=True, text=True, timeout=TIMEOUT_S
            )
            return (Path(folder) / PACKAGE).read_bytes()
        except FileNotFoundError:
            problem = "npm is not installed"
        except subprocess.TimeoutExpired:
            problem = f"npm did not end within {TIMEOUT_S:.0f} seconds"
        except subprocess.CalledProcessError as exc:
            problem = (exc.stderr.strip() or f"npm ended with {exc.returncode}")[-500:]
    raise ConfigError(
        f"cannot get ReplayWeb.page, which shows the pages: {problem}; where there is npm and a "
        f"network, run `{NPM_PACK}`, and name the file that it saves with --player"
    )


def _keep(package: bytes, path: Path) -> None:
    """Write the package into the cache; if that fails, it is downloaded again next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent)
        with open(fd, "wb") as file:
            file.write(package)
        os.replace(name, path)
