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
def package(monkeypatch):
    """Make a package the published one; return its bytes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in SCRIPTS.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data = file.getvalue()
    monkeypatch.setattr(player, "SHA512", hashlib.sha512(data).hexdigest())
    return data


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """Return a function that installs an ``npm`` of some shell lines, and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}")

    def install(lines):
        program = folder / "npm"
        program.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{lines}\n")
        program.chmod(0o755)

    return install


def test_first_use_asks_npm_and_the_next_takes_it_from_the_cache(
    package, npm, tmp_path
):
    (tmp_path / "published").write_bytes(package)
    # npm pack replaywebpage@VERSION --pack-destination FOLDER
    npm(f'cp {tmp_path}/published "$4/{PACKAGE}"; echo "$1 $2 $3" >> {tmp_path}/asked')

    for _ in range(2):
        assert player_files(None, tmp_path / "cache") == SCRIPTS

    asked = (tmp_path / "asked").read_text()
    assert asked == f"pack replaywebpage@{player.VERSION} --pack-destination\n"
    assert (tmp_path / "cache" / PACKAGE).read_bytes() == package


def test_another_package_than_the_published_one_is_refused(package, npm, tmp_path):
    other = tmp_path / "other.tgz"
    other.write_bytes(package + b"x")
    npm(f'cp {other} "$4/{PACKAGE}"')

    with pytest.raises(ConfigError, match="other.tgz is not .* as published"):
        player_files(other, tmp_path)
    with pytest.raises(ConfigError, match="what npm downloaded is not .* as published"):
        player_files(None, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    with pytest.raises(ConfigError, match="there is no file"):
        player_files(tmp_path / "none.tgz", tmp_path)


def test_what_keeps_npm_from_it_is_said_with_the_cure(npm, tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="npm is not installed; .* --player"):
        player_files(None, tmp_path)

    npm("echo 'code E404' >&2; exit 1")
    with pytest.raises(ConfigError, match="code E404; .* run `npm pack"):
        player_files(None, tmp_path)

    npm("exec sleep 60")
    monkeypatch.setattr(player, "TIMEOUT_S", 0.05)
    with pytest.raises(ConfigError, match="did not end within"):
        player_files(None, tmp_path)
