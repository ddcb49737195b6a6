"""The process between the crawl and Chromium: takes away its network, and ends all of it.

Run as a file: ``launcher.py MODE HOME PROGRAM ARGUMENT ...``.  Standard input is the socket of
the DevTools protocol; standard output is a pipe that the crawl reads: when its other end is
closed, however the crawl has ended, every process of the browser is killed and ``HOME`` removed.

Rule: only the standard library is imported here, and as little of it as possible.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import sys

__all__ = ["ISOLATED", "NETWORKED", "main"]

# Whether the browser gets a network namespace of its own, which is empty.
ISOLATED = "isolated"
NETWORKED = "networked"

# Linux, sched.h and prctl.h.
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# Not root: Chromium refuses to run its sandbox as root.
INNER_ID = 1000

# Where Chromium expects the protocol, with ``--remote-debugging-pipe``.
DEVTOOLS_FDS = (3, 4)


def main() -> None:
    """Start the browser, and end it with the crawl."""
    mode, home, *command = sys.argv[1:]
    # Its helpers become our children when it ends, so that they can be waited for.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    pid = os.fork()
    if not pid:
        try:
            _become_browser(mode, home, command)
        finally:
            os._exit(127)
    os.close(0)
    try:
        ended = select.poll()
        ended.register(1, 0)  # POLLERR: no one reads this pipe any more
        ended.register(os.pidfd_open(pid), select.POLLIN)
        ended.poll()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        shutil.rmtree(home, ignore_errors=True)


def _become_browser(mode: str, home: str, command: list[str]) -> None:
    os.setsid()
    if mode == ISOLATED:
        _isolate()
    log = os.open(os.path.join(home, "log"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for fd in DEVTOOLS_FDS:
        os.dup2(0, fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # What it does not need may hold secrets, such as the password of a database.
    kept = ("LANG", "LC_ALL", "PATH", "TZ")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    # Should this launcher be killed, the browser goes with it.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # Its temporary files are deleted with its profile; killed, it deletes none.  It makes a socket
    # there, whose path has at most 107 bytes, however long that of the profile is.
    os.chdir(home)
    environment |= {"HOME": home, "TMPDIR": "/proc/self/cwd"}
    os.execve(command[0], command, environment)


def _isolate() -> None:
    """Move this process into new namespaces without any network."""
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise PermissionError("this system does not allow it")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{INNER_ID} {user} 1"),
        ("gid_map", f"{INNER_ID} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
