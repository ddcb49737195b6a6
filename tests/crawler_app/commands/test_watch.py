"""``gencrawl watch``: real sites, what is told, and processes that are killed."""

import json
import signal
import subprocess
from xml.etree import ElementTree

import pytest

from tests.helpers.receiver import Receiver


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.stop()


@pytest.fixture
def file(site, receiver, tmp_path):
    """Return the file of a watch of the site, whose webhook is the receiver."""
    path = tmp_path / "watch.toml"
    path.write_text(
        f"""
state = "memory"
page = "page.html"
feed = "feed.xml"
external-over = 0
[sites.docs]
seeds = "{site.url}"
tries = 1
host-gap = 0
[notices.team]
kind = "webhook"
url = "{receiver.url}/hook"
"""
    )
    return path


def told(receiver):
    """Return what was told, as pairs of a kind and a target."""
    return [
        (event["kind"], event["target"])
        for _, body in receiver.hooks
        for event in body["events"]
    ]


def test_site_is_watched_from_its_first_check_to_the_repair(
    site, receiver, gencrawl, file, tmp_path
):
    dead = "http://127.0.0.2:1/dead"
    site.page("/", "/old", times=1)
    site.page("/", "/old", "/gone", dead, times=2)
    site.page("/", "/old")
    once = ("watch", file, "--once")

    assert gencrawl(*once).status == 0
    second = gencrawl(*once)
    assert (second.status, "1 newly broken" in second.err) == (0, True)
    assert "1 to be confirmed" in second.err
    third = gencrawl(*once)
    status = gencrawl("watch", file, "--status").out
    gencrawl(*once)
    gencrawl(*once)

    gone = f"{site.url}gone"
    assert third.status == 0
    assert f"  {gone}: 404 Not Found (on {site.url}:1:" in status
    assert told(receiver) == [
        ("broken", f"{site.url}old"),
        ("broken", gone),
        ("broken", dead),
        ("mended", gone),
        ("mended", dead),
    ]
    entries = ElementTree.parse(tmp_path / "feed.xml").getroot()
    assert len([each for each in entries if each.tag.endswith("entry")]) == 5
    assert "mended" in (tmp_path / "page.html").read_text()


def test_offline_machine_and_walls_tell_nothing(
    site, receiver, gencrawl, file, monkeypatch
):
    site.page("/", *(f"/{n}" for n in range(5)))
    for n in range(5):
        site.page(f"/{n}")
    gencrawl("watch", file, "--once")
    text = file.read_text()
    file.write_text(text.replace(site.url, "http://nowhere.invalid/"))

    ended = gencrawl("watch", file, "--once")

    assert ended.status == 1
    assert "no site was reached" in ended.err
    file.write_text(text)
    for n in range(5):
        site._answers[f"/{n}"] = []
        site.answer(f"/{n}", status=429)
    gencrawl("watch", file, "--once")
    assert told(receiver) == []


def test_site_behind_a_wall_is_not_checked(site, receiver, gencrawl, file):
    site.answer("/", status=403, headers={"cf-mitigated": "challenge"})

    ended = gencrawl("watch", file, "--once")

    assert ended.status == 1
    assert "docs: not checked: " in ended.err
    assert "a bot wall answered" in ended.err
    assert told(receiver) == []


def test_dry_run_tells_and_remembers_nothing(site, receiver, gencrawl, file):
    site.page("/", times=1)
    site.page("/", "/gone")
    gencrawl("watch", file, "--once")

    for _ in range(2):
        ended = gencrawl("watch", file, "--dry-run")
        assert f"{site.url}gone: 404 Not Found" in ended.out
    assert told(receiver) == []


def test_page_that_cannot_be_written_holds_up_nothing(
    site, receiver, gencrawl, file, caplog
):
    site.page("/", "/gone")
    file.write_text(file.read_text().replace("page.html", "nowhere/page.html"))

    ended = gencrawl("watch", file, "--once")

    assert ended.status == 1
    assert "nowhere/page.html: No such file or directory" in caplog.text
    assert told(receiver) == [("broken", f"{site.url}gone")]
    assert (file.parent / "feed.xml").exists()


def test_site_that_is_no_longer_in_the_file_is_not_told_of(
    site, receiver, gencrawl, file
):
    site.page("/", "/gone")
    receiver.failures = 1
    gencrawl("watch", file, "--once")
    file.write_text(file.read_text().replace("sites.docs", "sites.blog"))

    assert gencrawl("watch", file, "--once").status == 0

    (event,) = receiver.hooks[0][1]["events"]
    assert event["site"] == "blog"
    assert "docs" not in gencrawl("watch", file, "--status").out


def test_channels_are_tested(receiver, gencrawl, file):
    assert gencrawl("watch", file, "--test-notices").out == "team: sent\n"
    receiver.failures = 1

    ended = gencrawl("watch", file, "--test-notices")

    assert ended.status == 1
    assert "team: 503" in ended.out


def test_notice_that_fails_is_told_later(site, receiver, gencrawl, file):
    site.page("/", "/first")
    receiver.failures = 1

    assert gencrawl("watch", file, "--once").status == 1
    assert "Not told yet: team, 1 try: 503" in gencrawl("watch", file, "--status").out
    assert gencrawl("watch", file, "--once").status == 0
    assert told(receiver) == [("broken", f"{site.url}first")]


COMMAND = """
import sys
from crawler_app.commands.main import main
from crawler_app.show.watch.notices.issue import GitHubIssue
from gencoro import gen

send = GitHubIssue.send

@gen.coroutine
def send_and_wait(*arguments, **options):
    yield send(*arguments, **options)
    print("told", flush=True)
    sys.stdin.read()

if sys.argv[1] == "stop":
    GitHubIssue.send = send_and_wait
sys.exit(main(["watch", *sys.argv[2:]]))
"""


def test_killed_process_tells_an_issue_once(
    site, receiver, gencrawl, file, start_script, monkeypatch
):
    monkeypatch.setenv("WATCH_TOKEN", "hush")
    text = file.read_text()
    begin = text.index("[notices.team]")
    file.write_text(
        text[:begin] + '[notices.issue]\nkind = "github"\nproject = "o/n"\n'
        f'token = "${{WATCH_TOKEN}}"\napi = "{receiver.url}"\n'
    )
    site.page("/", times=1)
    site.page("/", "/gone")
    gencrawl("watch", file, "--once")

    process = start_script(COMMAND, "stop", file, "--once", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "told\n"
    second = gencrawl("watch", file, "--once")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert gencrawl("watch", file, "--once").status == 0

    assert second.status == 2
    assert f"is being watched by process {process.pid}" in second.err
    (issue,) = receiver.issues.values()
    assert len(issue["comments"]) == 1
    assert json.dumps(issue["comments"]).count("/gone") == 1
    state = file.parent / "memory"
    assert all(b"hush" not in each.read_bytes() for each in state.iterdir())
    assert state.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_loop_ends_on_a_signal(site, receiver, file, start_script, number):
    site.page("/")
    process = start_script(COMMAND, "run", file, stderr=subprocess.PIPE)
    assert "URL" in process.stderr.readline()
    process.send_signal(number)

    rest = process.stderr.read()
    assert process.wait() == 130
    assert rest == "Stopped.\n"
