"""Facts about another process from ``/proc``.

Linux only: elsewhere a `Process` knows nothing but its number.
"""

import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator

from gencoro.introspect.mailbox import NAME

if sys.platform == "linux":
    import pwd

__all__ = ["NOT_FINISHED", "OWN_PYTHON", "Process", "RemoteError"]

OWN_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"

# The executable, the library or an extension module of a Python, as mapped into memory.
PYTHON_FILE = re.compile(r"/(?:lib)?python(3\.\d+)[^/]*$|\.cpython-(3)(\d+)[^/]*\.so$")


# For a process that has many objects.
NOT_FINISHED = (
    "process {} did not finish examining itself in time; try a longer --timeout, or a "
    "smaller --limit"
)


class RemoteError(Exception):
    """The process cannot be examined; the message says why, and what to do."""


class Process:
    """Another process, which exists and may be examined by this user.

    Attributes:
        pid: Its number.
        own_pid: Its number as it knows it, which differs in a container.
        python: The version of its Python, such as ``"3.13"``; None if it is unknown.

    Raises:
        RemoteError: there is no such process, it has ended or is stopped, it belongs to
            another user, or it does not run Python.
    """

    def __init__(self, pid: int) -> None:
        self.pid = self.own_pid = pid
        self.python: str | None = None
        self._pidfd: int | None = None
        if sys.platform == "linux":
            self._refuse_state()
            self.own_pid = int(self._status().get("NSpid", str(pid)).split()[-1])
            self.python = self._find_python()
            with self._permitted():
                self._pidfd = os.pidfd_open(pid)

    def close(self) -> None:
        """Forget the process."""
        if self._pidfd is not None:
            os.close(self._pidfd)

    def wait(self, seconds: float) -> None:
        """Wait for a short time.

        Raises:
            RemoteError: the process ended meanwhile.
        """
        if self._pidfd is None:
            time.sleep(seconds)
        elif select.select([self._pidfd], [], [], seconds)[0]:
            raise RemoteError(f"process {self.pid} ended while it was examined")

    def state(self) -> str:
        """Return what its main thread is doing, as the kernel calls it."""
        with contextlib.suppress(OSError, KeyError):
            return self._status()["State"]
        return "unknown"

    def mailbox(self) -> tuple[str, int] | None:
        """Return the path of its mailbox and the signal to send, if there is one."""
        if sys.platform != "linux":
            return None
        for path, target in self._open_files():
            name = target.removeprefix("/memfd:").removesuffix(" (deleted)")
            signum = name.removeprefix(NAME)
            if name != target and name != signum and signum.isdigit():
                return path, int(signum)
        return None

    def handles(self, signum: int) -> bool:
        """Return True if it has a handler for a signal."""
        return bool(int(self._status()["SigCgt"], 16) >> (signum - 1) & 1)

    def send(self, signum: int) -> None:
        """Send it a signal."""
        try:
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, signum)
        except ProcessLookupError:
            raise RemoteError(f"process {self.pid} has ended") from None

    def owner(self) -> tuple[int, int]:
        """Return the numbers of its user and group."""
        status = self._status()
        return int(status["Uid"].split()[1]), int(status["Gid"].split()[1])

    def sees(self, path: str) -> bool:
        """Return True if a file is at the same path for that process."""
        if sys.platform != "linux":
            return True
        try:
            return os.path.samefile(f"/proc/{self.pid}/root{path}", path)
        except OSError:
            return False

    def not_permitted(self) -> RemoteError:
        """Return the error for the case that this user may not examine the process."""
        uid = None if sys.platform != "linux" else self.owner()[0]
        if uid is None or uid == os.geteuid():
            return RemoteError(
                f"the system does not allow examining process {self.pid}; as for a "
                "debugger, run this as root, or on Linux see kernel.yama.ptrace_scope and "
                "the capability SYS_PTRACE"
            )
        return RemoteError(
            f"process {self.pid} belongs to the user {_name_of(uid)}; run this as that "
            "user or as root"
        )

    def _status(self) -> dict[str, str]:
        try:
            with open(f"/proc/{self.pid}/status", errors="replace") as file:
                lines = file.read().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            raise RemoteError(f"there is no process {self.pid}") from None
        status = dict(line.split(":", 1) for line in lines)
        if int(status["Tgid"]) != self.pid:
            raise RemoteError(
                f"{self.pid} is a thread of process {status['Tgid'].strip()}; "
                "examine the process"
            )
        return {key: value.strip() for key, value in status.items()}

    def _refuse_state(self) -> None:
        state = self._status()["State"]
        if state[0] in "ZX":
            raise RemoteError(f"process {self.pid} has ended")
        if state[0] in "Tt":
            raise RemoteError(
                f"process {self.pid} is stopped; continue it with `kill -CONT {self.pid}`, "
                "or detach the debugger that stopped it"
            )

    def _find_python(self) -> str:
        for path in self._mapped_files():
            found = PYTHON_FILE.search(path.removesuffix(" (deleted)"))
            if found:
                return found[1] or f"{found[2]}.{found[3]}"
        raise RemoteError(f"process {self.pid} does not run CPython 3")

    def _mapped_files(self) -> Iterator[str]:
        with self._permitted():
            with contextlib.suppress(FileNotFoundError):  # a thread of the kernel
                yield os.readlink(f"/proc/{self.pid}/exe")
            with open(f"/proc/{self.pid}/maps", errors="replace") as file:
                for line in file:
                    yield line.rstrip("\n").partition("/")[2].join(["/", ""])

    def _open_files(self) -> Iterator[tuple[str, str]]:
        with self._permitted():
            folder = f"/proc/{self.pid}/fd"
            for name in sorted(os.listdir(folder), key=int):
                path = os.path.join(folder, name)
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    yield path, os.readlink(path)

    @contextlib.contextmanager
    def _permitted(self) -> Iterator[None]:
        """Turn errors of reading ``/proc`` into those of this class."""
        try:
            yield
        except PermissionError:
            raise self.not_permitted() from None
        except (FileNotFoundError, ProcessLookupError):
            raise RemoteError(f"process {self.pid} has ended") from None


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
