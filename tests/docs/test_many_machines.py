"""docs/many_machines.rst and its example: what is written there can be run."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from crawler_app.base.config import CrawlConfig
from crawler_app.commands.command_table import make_parser
from crawler_app.commands.exit_status import OK
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.show.dashboard.metrics import Metrics
from crawler_app.store.frontier.sqlite import SqliteFrontier
from tests.helpers.command_line import CommandLine
from tests.helpers.metrics import values_in
from tests.helpers.postgres import postgres, postgres_url
from tests.helpers.postgres_server import USER, newest_binaries
from tests.helpers.site import Site

__all__ = ["postgres", "postgres_url"]

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples/many_machines"
PAGE = (DOCS / "many_machines.rst").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())
BOARD = json.loads((EXAMPLE / "grafana/boards/crawl.json").read_text())


def shell_lines(text):
    """Return the commands in a text, without comments."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines]


def commands():
    """Yield the arguments of each ``gencrawl`` of the page, and of the services."""
    page = [
        line for line in PAGE.replace("\\\n", " ").splitlines() if line[:4] == "    "
    ]
    for line in page:
        if line.strip().startswith("gencrawl "):
            yield shlex.split(line, comments=True)[1:]
    for service in COMPOSE["services"].values():
        if service.get("image") == "gencrawl":
            (line,) = service["command"]
            line = line.replace("$$FRONTIER", "postgresql://a.test/crawls")
            yield shlex.split(line.replace("$$SEED", "http://a.test/"))[2:]


def test_every_command_is_one():
    found = list(commands())
    assert {words[0] for words in found} >= {"crawl", "postgres", "status"}
    parser = make_parser()
    for words in found:
        parser.parse_args(words)


def test_services_get_what_they_refer_to():
    text = (EXAMPLE / "compose.yaml").read_text()
    settings = (EXAMPLE / "settings.env").read_text()
    names = set(re.findall(r"^(\w+)=", settings, re.MULTILINE))
    assert set(re.findall(r"(?<!\$)\$\{(\w+)", text)) == names
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            is_file = source.startswith(".")
            assert (
                (EXAMPLE / source).exists() if is_file else source in COMPOSE["volumes"]
            )
        assert set(service.get("depends_on", ())) <= set(COMPOSE["services"])
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
    assert COMPOSE["services"]["worker"]["deploy"]["replicas"] == 3
    prometheus = yaml.safe_load((EXAMPLE / "prometheus.yml").read_text())
    (job,) = prometheus["scrape_configs"]
    (services,) = job["dns_sd_configs"]
    assert set(services["names"]) <= set(COMPOSE["services"])
    for name in services["names"]:
        (command,) = COMPOSE["services"][name]["command"]
        assert f"--dashboard 0.0.0.0:{services['port']}" in command
    (secret,) = COMPOSE["services"]["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"


def test_board_asks_for_metrics_that_there_are():
    crawl = Crawl(wire(CrawlConfig(("http://a.test/",)), SqliteFrontier(), None))
    crawl.stats["failed/http_404"] += 1
    served = {name for name, *_ in values_in(Metrics(crawl).render()[0].decode())}
    asked = {
        name
        for panel in BOARD["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\b(?:gencrawl|process)_\w+", target["expr"])
    }
    assert len(asked) > 5 and asked <= served
    # What is of the whole crawl is not added up, and what is a worker's is not one of many.
    for panel in BOARD["panels"]:
        for target in panel["targets"]:
            is_whole = "gencrawl_urls" in target["expr"]
            assert is_whole == target["expr"].startswith("max")
    datasources = yaml.safe_load(
        (EXAMPLE / "grafana/provisioning/datasources/prometheus.yaml").read_text()
    )
    (source,) = datasources["datasources"]
    assert {panel["datasource"]["uid"] for panel in BOARD["panels"]} == {source["uid"]}


@pytest.fixture
def site():
    site = Site()
    yield site
    site.stop()


def test_backup_is_restored_and_the_crawl_goes_on(
    site, postgres, postgres_url, tmp_path, capsys
):
    gencrawl = CommandLine(capsys)
    for number in range(20):
        site.page(f"/{number}", str(number + 1), str(number + 2))
    name = ("--crawl", "docs")
    common = ("--into", tmp_path / "a", "--quiet")
    gencrawl("postgres", "drop", postgres_url, *name)
    seed = f"{site.url}0"
    options = ("--no-robots", "--max-depth", 5)
    gencrawl("crawl", seed, "--frontier", postgres_url, *name, *common, *options)
    before = gencrawl.json("status", postgres_url, *name, "--json")
    fetched = len(site.paths)

    # As in the section on backups, but for the address of the server.
    section = PAGE.partition("Backups\n---")[2]
    block = section.partition("::\n\n")[2].partition("\n\n")[0]
    server = {
        "--host=db.example.org": f"--host={postgres}",
        "--username=crawler": f"--username={USER}",
    }
    for words in shell_lines(block):
        words = [server.get(word, word) for word in words]
        if words[0] == "gencrawl":
            assert gencrawl("postgres", "drop", postgres_url, *name).status == OK
            continue
        words = [w.replace("docs.dump", str(tmp_path / "d.dump")) for w in words]
        words = ["--dbname=postgres" if w == "--dbname=crawls" else w for w in words]
        words = ["postgres" if w == "crawls" else w for w in words]
        subprocess.run([newest_binaries() / words[0], *words[1:]], check=True)

    assert gencrawl.json("status", postgres_url, *name, "--json") == before
    again = gencrawl("postgres", "work", postgres_url, *name, *common)
    assert again.status == OK and "made 0 fetches" in again.out
    assert len(site.paths) == fetched
    gencrawl("postgres", "drop", postgres_url, *name)
