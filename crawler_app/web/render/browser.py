"""One browser: finds Chromium, which runs until it is closed, or this process ends.

It has no network: what there is of one is a socket to this process.  Where the system does not
allow that, it can resolve no name and has no proxy, and says so once.
"""

import asyncio
import contextlib
import datetime
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from crawler_app.base.errors import ConfigError
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.web.render import launcher
from crawler_app.web.render.devtools import DevTools, RenderError
from gencoro import gen

__all__ = ["Browser", "chromium_path", "start_browser"]

logger = logging.getLogger(__name__)

# As the distributions and its maker name it.
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# Turned off; the last two are popups of an address bar that is not there, and would be two
# processes for each context.  A spare renderer is started for a page that may come, in each.
FEATURES = (
    *("BackForwardCache", "MediaRouter", "OptimizationHints", "Prerender2"),
    *("SpareRendererForSitePerProcess", "Translate"),
    *("WebUIOmniboxAimPopup", "WebUIOmniboxPopup"),
)

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-startup-window",  # its process would show nothing
    "--disable-gpu",
    "--disable-dev-shm-usage",  # 64 MB in a container
    "--mute-audio",
    "--hide-scrollbars",
    # A page is read whether it is seen or not.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # What a browser does by itself.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-extensions",
    # If it were a process of its own and ended, pages would miss what they have asked for, untold.
    "--enable-features=NetworkServiceInProcess2",
    "--disable-features=" + ",".join(FEATURES),
    # Without a network of its own it needs no more; with one, nothing is reached.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

# The ways to start it, the safest first: in an empty network its sandbox works even for root, who
# is someone else there.
Way: TypeAlias = tuple[str, tuple[str, ...]]
WAYS: tuple[Way, ...] = (
    (launcher.ISOLATED, ()),
    (launcher.NETWORKED, ()),
    (launcher.NETWORKED, ("--no-sandbox",)),
)

START_TIMEOUT = datetime.timedelta(seconds=30)

# The time that the launcher has to end the processes.
END_TIMEOUT_S = 10.0


@dataclass(slots=True, eq=False)
class Browser:
    """A browser that has started.

    Attributes:
        process: Its launcher.
        devtools: The connection to it.
        way: How it was started.
        home: The directory of its files.
    """

    process: "subprocess.Popen[bytes]"
    devtools: DevTools
    way: Way
    home: str
    _cpu_s_by_pid: dict[int, float] = field(default_factory=dict)

    def end(self) -> None:
        """Begin to end its processes."""
        self.devtools.close()
        assert self.process.stdout is not None
        self.process.stdout.close()  # which the launcher waits for

    def wait(self) -> None:
        """Wait until its processes have ended, which takes a tenth of a second."""
        try:
            self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        # The launcher has removed it, unless it was killed.
        shutil.rmtree(self.home, ignore_errors=True)

    def memory_bytes(self) -> int:
        """Return how much memory its processes had for themselves, of those known to `spent_s`."""
        return sum(map(_private_bytes, self._cpu_s_by_pid))

    def spent_s(self) -> Subgenerator[float]:
        """Return the CPU time of its processes since the last call.

        Raises:
            BrowserGoneError: it has ended.
        """
        answer = yield self.devtools.ask("SystemInfo.getProcessInfo")
        known = self._cpu_s_by_pid
        found: dict[int, float] = {
            each["id"]: each["cpuTime"] for each in answer["processInfo"]
        }
        self._cpu_s_by_pid = found
        return sum(max(0.0, found[pid] - known.get(pid, 0.0)) for pid in found)


def chromium_path() -> str:
    """Return the path of Chromium.

    Raises:
        ConfigError: it is not installed.
    """
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise ConfigError(
        "--render needs Chromium, which is not installed: `apt install chromium` on Debian, "
        "`dnf install chromium` on Fedora, `snap install chromium` on Ubuntu"
    )


def start_browser(program: str, known: Way | None = None) -> Subgenerator[Browser]:
    """Start a browser, with as little as it needs.

    Args:
        known: A way that has worked here.  If it fails now, that has another reason, such as too
            little memory, so that no less safe one is tried.

    Raises:
        RenderError: it cannot be started.
    """
    error = ""
    for way in (known,) * len(WAYS) if known else WAYS:
        browser = yield from _launched(program, way)
        try:
            version = browser.devtools.send("Browser.getVersion")
            yield gen.with_timeout(START_TIMEOUT, version, quiet_exceptions=RenderError)
        except BaseException as exc:  # also if the crawl ends meanwhile
            browser.end()
            browser.wait()
            if not isinstance(exc, (RenderError, gen.TimeoutError)):
                raise
            error = str(exc)
            continue
        if not known and "--no-sandbox" in way[1]:
            logger.warning(
                "Chromium runs without its sandbox, which this system does not allow; "
                "render only sites that you trust"
            )
        return browser
    raise RenderError(f"{program} cannot be started: {error}")


def _launched(program: str, way: Way) -> Subgenerator[Browser]:
    """Start the launcher, and connect."""
    mode, flags = way
    home = tempfile.mkdtemp(prefix="gencrawl-chromium-")
    ours, theirs = socket.socketpair()
    profile = f"--user-data-dir={home}"
    command = [program, *FLAGS, *flags, profile]
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__, mode, home, *command],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C does not reach it
        )
    ours.setblocking(False)
    _, devtools = yield asyncio.get_running_loop().create_unix_connection(
        DevTools, sock=ours
    )
    return Browser(process, devtools, way, home)


def _private_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):  # it has ended
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return 0
