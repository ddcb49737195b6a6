"""Downloads the published archives of packages for Tornado 2 to 4.

They come from the index that pip uses, and are not built: today's setuptools cannot read
each of their setup.py, and the tests should not depend on it.
"""

import contextlib
import functools
import hashlib
import importlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from typing import Any, NamedTuple
from urllib.parse import urljoin

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

__all__ = ["PROGRAMS", "Packages"]

ROOT = pathlib.Path(__file__).parents[3]
PROGRAMS = ROOT / "tests/compat/packages"

# What a test waits for at the longest, on a busy machine too.
PATIENCE_S = 300.0


class Archive(NamedTuple):
    """A source distribution on PyPI."""

    version: str
    sha256: str


ARCHIVES = {
    # Written for Tornado 2 to 4.
    "centrifuge": Archive(
        "0.8.4", "6b424716b516734f34cd7cbaed287a862195873ab13bd69a092b21307ca01e87"
    ),
    "greenado": Archive(
        "0.2.5", "60803607275bbd8e77c558f6d82b3c347106ad0c570ec9931b8163ead935c3cb"
    ),
    "momoko": Archive(
        "1.1.6", "fe511ce4fda99493e604c7b959ed35d908e279c9a3911c9974818b62484cb3f4"
    ),
    "opentracing-instrumentation": Archive(
        "2.2.0", "d7d5cfa5862048f824e7cc33289c359c7d972287d45806701aeda455652513ee"
    ),
    "queries": Archive(
        "1.10.4", "a4308c36f57bff9330c484ab1e331052bf07a86fc7a4f7e8d67043f59bed354b"
    ),
    "sockjs-tornado": Archive(
        "1.0.3", "6d726e61bd1d884bd1c1788727fce1b9f24fd69062dda0daf61a476b01718e99"
    ),
    # Whose demos are run; its package is not.
    "tornado": Archive(
        "3.2.2", "11592d3ed0d2c97ce2c735049e70d72243213579f48b8b28fe292594ba35b88e"
    ),
    "tornado-redis": Archive(
        "2.4.18", "8fd3b324158291ad5fb7f5f8dc2e8763b2895556bd2a44f2dd721b703c669046"
    ),
    "toro": Archive(
        "1.0.1", "c5452e477e0d20ec459612a3be9eeed93e8dc5253423b604f73692ce628c6bc4"
    ),
    "tornadoes": Archive(
        "2.5.1", "a78b1bdff9f00d9d03f304f17e57c7e713dbfefc2b7231f504a5b9ca2619f355"
    ),
    "ws4py": Archive(
        "0.3.5", "c4cc4a872027f6a6006a6142a38eb6d65c2ece29a4cefac98dd20a48c34ec7a9"
    ),
    # What those import.
    "contextlib2": Archive(
        "0.5.5", "509f9419ee91cdd00ba34443217d5ca51f5a364a404e1dce9e8979cea969ca48"
    ),
    "jsonschema": Archive(
        "2.6.0", "6ff5f3180870836cae40f06fa10419f557208175f13ad7bc26caa77beb1f6e02"
    ),
    "opentracing": Archive(
        "1.2.2", "b184d7c8956e4b43ae69a3c2e3e32976475ee815ff2d95bca213584252feecd7"
    ),
    "six": Archive(
        "1.17.0", "ff70335d468e7eb6ec65b95b99d3a2836546063f63acc5171de367e834932a81"
    ),
}

# What those import that is compiled, for today's Python; and a server, which is not built.
WHEELS = {"greenlet": "3.5.6", "gunicorn": "23.0.0", "psycopg2-binary": "2.9.13"}


class Packages:
    """A folder of packages, shared by all processes of a run of the tests.

    Two that want the same one at a time both fetch it, and one is used: renaming a folder
    is atomic.

    Attributes:
        log: What the program that was run last wrote to stderr.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.log = ""
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def path(self, name: str) -> pathlib.Path:
        """Return where a package is, fetched if need be."""
        path = self._folder / name
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=self._folder) as new:
                fetch = _unpack_wheel if name in WHEELS else _unpack_archive
                found = fetch(name, pathlib.Path(new))
                with contextlib.suppress(OSError):  # another process was first
                    found.rename(path)
        return path

    def run(self, *command: str, using: str, cwd: pathlib.Path = PROGRAMS) -> str:
        """Run a legacy program as its user would; return its output.

        Args:
            command: What comes after ``python -m gencoro run``.
            using: The names of the packages it uses, divided by spaces.
            cwd: The folder it runs in.
        """
        path = [str(ROOT), *(str(self.path(name)) for name in using.split())]
        done = subprocess.run(
            [sys.executable, "-m", "gencoro", "run", *command],
            check=False,
            capture_output=True,
            cwd=cwd,
            env={
                "PYTHONPATH": os.pathsep.join(path),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONWARNINGS": "ignore::SyntaxWarning",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        self.log = done.stderr
        return done.stdout

    def result(self, *command: str, using: str) -> dict[str, Any]:
        """Run one of the programs; return what its last line says."""
        return json.loads(self.run(*command, using=using).splitlines()[-1])


@functools.cache
def _index() -> str:
    """Return the address of the index that pip is set up to use."""
    # Asked for here, not by ``pip config``: pip takes a quarter of a second to start.
    module = importlib.import_module("pip._internal.configuration")
    configuration = module.Configuration(isolated=False)
    configuration.load()
    for key in (":env:.index-url", "global.index-url"):
        with contextlib.suppress(module.ConfigurationError):  # it is not set
            return str(configuration.get_value(key)).rstrip("/") + "/"
    return importlib.import_module("pip._internal.models.index").PyPI.simple_url + "/"


def _unpack_archive(name: str, folder: pathlib.Path) -> pathlib.Path:
    version, sha256 = ARCHIVES[name]
    links = [link for link, digest in _links(name) if digest == sha256]
    assert links, f"{_index()} has another {name} {version}"
    with tarfile.open(fileobj=io.BytesIO(_checked(links[0], sha256))) as files:
        # Python has filters since 3.11.4; without one, the checksum is enough.
        options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        files.extractall(folder, **options)
    [root] = folder.iterdir()
    return root


def _links(name: str) -> list[tuple[str, str]]:
    """Return the URLs of what the index has of a package, each with its SHA-256."""
    url = urljoin(_index(), f"{name}/")
    found = re.findall('href="([^"]+)#sha256=([0-9a-f]{64})"', _download(url).decode())
    return [(urljoin(url, link), sha256) for link, sha256 in found]


def _checked(url: str, sha256: str) -> bytes:
    content = _download(url)
    assert hashlib.sha256(content).hexdigest() == sha256
    return content


@functools.cache
def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            content: bytes = response.read()
            return content
    except OSError as error:
        pytest.skip(f"cannot have {url}: {error}")


def _unpack_wheel(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Unpack the wheel that fits this Python best, as pip would, which takes a second."""
    rank = {tag: number for number, tag in enumerate(sys_tags())}
    fitting = []
    for link, sha256 in _links(name):
        file = link.rpartition("/")[2]
        if file.endswith(".whl"):
            _, version, _, tags = parse_wheel_filename(file)
            ranks = [rank[tag] for tag in tags if tag in rank]
            if str(version) == WHEELS[name] and ranks:
                fitting.append((min(ranks), link, sha256))
    if not fitting:
        pytest.skip(f"no {name}=={WHEELS[name]} for this Python")
    _, link, sha256 = min(fitting)
    target = folder / name
    with zipfile.ZipFile(io.BytesIO(_checked(link, sha256))) as files:
        files.extractall(target)
    return target
