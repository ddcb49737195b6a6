"""ReplayWeb.page: one version, from npm, the cache, or a file."""

import hashlib
import io
import tarfile

import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.show.browse import player
from crawler_app.show.browse.player import PACKAGE, player_files

SCRIPTS = {"ui.js": b"ui", "sw.js": b"sw"}


@pytest.fixture
def package(site, monkeypatch):
    """Publish a package on the site; return its bytes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in SCRIPTS.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data = file.getvalue()
    site.answer("/package.tgz", data)
    monkeypatch.setattr(player, "URL", f"{site.url}package.tgz")
    monkeypatch.setattr(player, "SHA512", hashlib.sha512(data).hexdigest())
    return data


def test_first_use_downloads_it_and_the_next_takes_it_from_the_cache(
    site, package, tmp_path
):
    assert player_files(None, tmp_path / "cache") == SCRIPTS
    assert player_files(None, tmp_path / "cache") == SCRIPTS

    assert site.paths == ["/package.tgz"]
    assert (tmp_path / "cache" / PACKAGE).read_bytes() == package


def test_another_file_than_the_published_one_is_refused(site, package, tmp_path):
    other = tmp_path / "other.tgz"
    other.write_bytes(package + b"x")

    with pytest.raises(ConfigError, match="is not ReplayWeb.page .* as published"):
        player_files(other, tmp_path)
    site.stop()
    with pytest.raises(ConfigError, match="npm pack replaywebpage@"):
        player_files(None, tmp_path)
    with pytest.raises(ConfigError, match="there is no file"):
        player_files(tmp_path / "none.tgz", tmp_path)
