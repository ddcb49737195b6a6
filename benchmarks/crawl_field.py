"""The competitors of the crawl benchmark: ours, and those from PyPI and Debian.

A script of `crawl_peers` is what a user of its library would write.  It runs on the first
Python that has the library; all competitors except ours are optional.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["CANDIDATES", "Candidate", "Competitor", "find_competitors", "install_peers"]

SCRIPTS = Path(__file__).resolve().parent / "crawl_peers"
PEER_PACKAGES = ("aiohttp", "scrapy", "selectolax")


class Candidate(NamedTuple):
    """A competitor that may be installed or not.

    Attributes:
        name: Its table, and its name in the table.
        command: Its script or program and the arguments, with the values of
            `Competitor.command_for` in braces: ``{start}`` stands for the first URL.
        package: The package whose version is shown; empty for a program.
        needs: The modules that its Python must have.
    """

    name: str
    title: str
    command: tuple[str, ...]
    package: str = ""
    needs: str = ""


def tornado_client(name, module, class_name, package="tornado"):
    command = ("tornado_fetch.py", f"{module}.{class_name}", "{concurrency}")
    needs = f"from {module} import {class_name}"
    return Candidate(f"fetch:{name}", class_name, command, package, needs)


def our_crawl(name, title, *options, package="gencoro", needs="import crawler_app"):
    fixed = ("{start}", "{concurrency}", "--scope={scope}")
    command = ("gencoro_crawl.py", *fixed, *options)
    return Candidate(f"crawl:{name}", title, command, package, needs)


def peer_crawl(package, title, *options):
    command = (f"{package}_crawl.py", "{start}", "{concurrency}", *options)
    needs = f"import {package}, selectolax"
    return Candidate(f"crawl:{package}", title, command, package, needs)


def wget2(name, title, *options):
    # Without the user's settings, and without files in the user's home.
    fixed = ("--quiet", "--no-config", "--no-hsts", "--no-robots", "-r", "-l", "inf")
    threads = "--max-threads={concurrency}"
    hosts = ("{span_hosts}", "{certificates}")
    command = ("wget2", *fixed, threads, *hosts, *options, "{start}")
    return Candidate(name, title, command)


def wget_with_archive():
    fixed = "--quiet --no-config --no-hsts -e robots=off -r -l inf --delete-after"
    options = (
        "{span_hosts}",
        "{certificates}",
        "--compression=auto",
        "--warc-file=all",
    )
    command = ("wget", *fixed.split(), *options, "{start}")
    return Candidate("crawl:wget", "wget, WARC only", command)


CANDIDATES = (
    tornado_client(
        "pooled", "crawler_app.httpclient", "PooledAsyncHTTPClient", package="gencoro"
    ),
    tornado_client(
        "curl", "tornado.curl_httpclient", "CurlAsyncHTTPClient", package="pycurl"
    ),
    tornado_client("simple", "tornado.simple_httpclient", "SimpleAsyncHTTPClient"),
    Candidate(
        "fetch:aiohttp",
        "aiohttp",
        ("aiohttp_fetch.py", "{concurrency}"),
        "aiohttp",
        "import aiohttp",
    ),
    our_crawl("gencoro", "crawler_app"),
    our_crawl("archive", "  with archive", "--archive"),
    our_crawl("index", "  with index", "--index"),
    our_crawl("both", "  with both", "--archive", "--index"),
    our_crawl(
        "curl", "  by curl", "--client=curl", package="pycurl", needs="import pycurl"
    ),
    our_crawl("simple", "  by simple", "--client=simple", package="tornado"),
    peer_crawl("aiohttp", "aiohttp + lexbor", "--scope={scope}"),
    # It writes no files, which is its cheapest mode.
    wget2("crawl:wget2", "wget2, keeps nothing", "--delete-after"),
    wget2("crawl:wget2-files", "wget2, keeps files"),
    wget_with_archive(),
    peer_crawl("scrapy", "Scrapy + lexbor"),
)


class Competitor(NamedTuple):
    """An installed competitor: its name, its title with a version, and its command."""

    name: str
    title: str
    command: tuple[str, ...]

    def command_for(self, start, concurrency, hosts=1):
        authority = os.environ.get("SSL_CERT_FILE")
        values = {
            "start": start,
            "concurrency": concurrency,
            "scope": "host" if hosts == 1 else "any",
            "span_hosts": "--no-span-hosts" if hosts == 1 else "--span-hosts",
            "certificates": f"--ca-certificate={authority}"
            if authority
            else "--check-certificate",
        }
        return [part.format(**values) for part in self.command]


def install_peers(directory):
    """Create a virtual environment for the peers, unless it exists; return its Python."""
    python = Path(directory).resolve() / "bin" / "python"
    if not python.exists():
        subprocess.check_call([sys.executable, "-m", "venv", directory])
        subprocess.check_call([python, "-m", "pip", "install", "-q", *PEER_PACKAGES])
    return str(python)


def find_competitors(candidates, pythons):
    """Return the installed competitors, and a sentence for each missing one.

    Args:
        pythons: Interpreters; the first one that has the modules is used.
    """
    present, absent = [], []
    for candidate in candidates:
        if candidate.package:
            found = find_script(candidate, pythons)
        else:
            found = find_program(candidate)
        if found:
            present.append(found)
        else:
            if candidate.needs:
                reason = f"no Python here can `{candidate.needs}`"
            else:
                reason = f"{candidate.command[0]} is not on PATH"
            absent.append(f"{candidate.name} is missing: {reason}.")
    return present, absent


def find_script(candidate, pythons):
    script, *arguments = candidate.command
    asked = f"importlib.metadata.version({candidate.package!r})"
    probe = f"{candidate.needs}\nimport importlib.metadata\nprint({asked})"
    for python in pythons:
        probed = subprocess.run(
            [python, "-c", probe], capture_output=True, text=True, check=False
        )
        if probed.returncode == 0:
            title = f"{candidate.title} ({candidate.package} {probed.stdout.strip()})"
            command = (python, str(SCRIPTS / script), *arguments)
            return Competitor(candidate.name, title, command)
    return None


def find_program(candidate):
    program = shutil.which(candidate.command[0])
    if program is None:
        return None
    version = subprocess.check_output([program, "--version"], text=True).split()[2]
    title = f"{candidate.title} ({version})"
    return Competitor(candidate.name, title, (program, *candidate.command[1:]))
