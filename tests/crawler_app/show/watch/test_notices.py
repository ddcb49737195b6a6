"""The channels, told by real protocols: SMTP, webhooks, the APIs of GitHub and GitLab."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import os
import smtplib
import urllib.parse
from dataclasses import dataclass
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from crawler_app.show.watch.delivering import Delivery
from crawler_app.show.watch.notices.by_apprise import Apprise
from crawler_app.show.watch.notices.channel import NoticeChannel, redacted
from crawler_app.show.watch.notices.issue import GitHubIssue, GitLabIssue
from crawler_app.show.watch.notices.mail import Mail
from crawler_app.show.watch.notices.webhook import Webhook
from gencoro import gen
from tests.crawler_app.show.watch.conftest import look_of, rule_of, sighting

MENTION = "http://a.test/`@all`<!channel>\r\nBcc: x@y.test"


class Mailbox:
    """What a mail server has received; it may refuse, or be killed after it has taken a mail."""

    def __init__(self):
        self.mails, self.ids, self.answers = [], [], []

    async def handle_DATA(self, server, session, envelope):
        answer = self.answers.pop(0) if self.answers else "250 OK"
        mail = message_from_bytes(envelope.content, policy=policy.default)
        self.ids.append(mail["Message-ID"])
        if not answer.startswith("4"):
            self.mails.append(mail)
        return answer


@contextlib.contextmanager
def served(box, **options):
    controller = Controller(box, hostname="127.0.0.1", port=0, **options)

    def connect():  # the controller's own looks for the server at port 0
        box.port = controller.server.sockets[0].getsockname()[1]
        with smtplib.SMTP("127.0.0.1", box.port):
            pass

    controller._trigger_server = connect
    controller.start()
    yield box
    controller.stop()


@pytest.fixture
def mailbox():
    with served(Mailbox()) as box:
        yield box


@pytest.fixture
def told(memory, monkeypatch, run_sync):
    """Tell a channel what a check has found; return whether that worked."""
    monkeypatch.setenv("WATCH_TOKEN", "hush-1234")
    clock = iter(range(0, 10**9, 86400))
    now = 0.0

    def told(config, *sightings, **look):
        nonlocal now
        now = float(next(clock))
        config = config.with_secrets(os.environ)
        delivery = Delivery(memory, {"team": config}, ["docs"], lambda: now)
        if look.pop("checks", True):
            look = look_of(*sightings)
            memory.note("docs", look, now, rule_of)
        return run_sync(lambda: delivery.deliver(at_once=True))

    return told


def mail_to(mailbox, **values):
    return Mail(
        host="127.0.0.1",
        port=mailbox.port,
        sender="watch@a.test",
        to=("team@b.test",),
        **{"encryption": "none"} | values,
    )


def test_mail_is_tried_again_with_the_same_id(mailbox, told, memory):
    config = mail_to(mailbox)
    told(config)
    mailbox.answers = ["451 later", "250 OK"]

    assert not told(config, sighting(MENTION))
    assert "451" in memory.channels["team"].error
    assert told(config, sighting(MENTION), checks=False)
    assert told(config, sighting(MENTION))

    (mail,) = mailbox.mails
    assert len({*mailbox.ids}) == 1
    assert mail["Message-ID"].endswith("@a.test>")
    assert mail["Subject"] == "[gencrawl] docs: 1 broken"
    assert mail["Bcc"] is None
    assert "404 Not Found (on http://a.test/:1:2)" in mail.get_content()


def test_mail_is_encrypted_and_logged_in(told, memory, monkeypatch, certificates):
    def login(server, session, envelope, mechanism, data):
        return AuthResult(success=data.password == b"hush-1234")

    tls = {"tls_context": certificates.server_context(), "require_starttls": True}
    logins = {"authenticator": login, "auth_required": True}
    with served(Mailbox(), **tls, **logins) as box:
        config = mail_to(
            box, encryption="starttls", user="me", password="${WATCH_TOKEN}"
        )
        told(config)
        assert not told(config, sighting("a"))
        assert "CERTIFICATE_VERIFY_FAILED" in memory.channels["team"].error
        monkeypatch.setenv("SSL_CERT_FILE", certificates.ca)
        assert told(config, checks=False)

    assert len(box.mails) == 1


def test_one_mail_tells_everything(mailbox, told):
    config = mail_to(mailbox)
    told(config)

    told(config, *(sighting(f"http://a.test/{n}") for n in range(300)))

    (mail,) = mailbox.mails
    assert "and 280 more" in mail.get_content()


def test_webhook_is_signed_as_standard_webhooks_have_it(receiver, told, monkeypatch):
    key = b"k" * 24
    monkeypatch.setenv("WATCH_KEY", f"whsec_{base64.b64encode(key).decode()}")
    config = Webhook(url=f"{receiver.url}/hook", secret="${WATCH_KEY}")
    told(config)

    assert told(config, sighting(MENTION))

    ((headers, body),) = receiver.hooks
    sent = {name.lower(): value for name, value in headers.items()}
    signed = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.".encode()
    digest = hmac.new(key, signed + receiver.last_body, hashlib.sha256).digest()
    assert sent["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert sent["idempotency-key"] == sent["webhook-id"] == body["id"]
    assert "<!channel>" not in body["text"]
    assert [event["target"] for event in body["events"]] == [MENTION]


def test_notice_is_repeated_without_what_is_found_later(receiver, told):
    config = Webhook(url=f"{receiver.url}/hook")
    one, two = sighting("http://a.test/1"), sighting("http://a.test/2")
    told(config)
    receiver.lost = 1

    assert not told(config, one)
    assert told(config, one, two)

    first, again, second = [body for _, body in receiver.hooks]
    assert first == again
    assert second["id"] != first["id"]
    assert [event["target"] for event in second["events"]] == [two.target]


def test_what_no_channel_is_to_be_told_is_not_kept(receiver, told, memory):
    config = Webhook(url=f"{receiver.url}/hook", sites=("blog",))
    for n in range(3):
        told(config, *(sighting(f"{n}/{m}") for m in range(100)))

    assert len(memory.events) <= 201


def test_error_of_a_secret_url_does_not_show_it(receiver, told, memory, monkeypatch):
    monkeypatch.setenv("WATCH_URL", f"{receiver.url}/hook?hush-1234")
    config = Webhook(url="${WATCH_URL}")
    told(config)
    receiver.failures = 1

    assert not told(config, sighting("a"))

    assert "503" in memory.channels["team"].error
    assert "hush" not in memory.channels["team"].error


def test_error_that_quotes_a_secret_does_not_show_it():
    secret = "hush\n1234"

    assert redacted(f"a control character: {secret!r}", secret) == (
        "a control character: '***'"
    )


@pytest.fixture(
    params=[(GitHubIssue, "owner/name"), (GitLabIssue, "group/sub/name")],
    ids=["github", "gitlab"],
)
def config(request, receiver):
    """Return a channel that keeps an issue current."""
    kind, project = request.param
    return kind(project=project, token="${WATCH_TOKEN}", api=receiver.url)


def test_issue_is_kept_current(receiver, told, memory, config):
    told(config)
    told(config, sighting(MENTION))
    told(config, sighting(MENTION), sighting("http://a.test/2"))
    told(config, sighting("http://a.test/2"))

    (issue,) = receiver.issues.values()
    assert "<!-- gencrawl watch: " in issue[config.TEXT]
    assert "http://a.test/2" in issue[config.TEXT]
    assert "@all" not in issue[config.TEXT]
    assert issue["state"] != "closed"
    bodies = [comment["body"] for comment in issue["comments"]]
    assert ["broken" in body for body in bodies] == [True, True, False]
    assert "`@" not in bodies[0].replace("'@", "")
    told(config)
    assert issue["state"] == "closed"
    told(config, sighting("http://a.test/3"))
    assert issue["state"] in ("open", "reopened")
    assert "flapping" not in issue[config.TEXT]
    told(config, sighting("http://a.test/2"))
    assert "`, flapping since" in issue[config.TEXT]
    assert receiver.tokens == {"Bearer hush-1234"}
    assert "hush" not in json.dumps(receiver.issues)


def test_issue_is_asked_whether_it_has_a_comment(receiver, told, config):
    told(config)
    told(config, sighting("http://a.test/1"))
    receiver.lost = 1

    assert not told(config, sighting("http://a.test/1"), sighting("http://a.test/2"))
    assert told(config, checks=False)

    (issue,) = receiver.issues.values()
    assert len(issue["comments"]) == 2
    assert "http://a.test/2" in json.dumps(issue)


def test_issue_of_a_stranger_is_left_alone(receiver, told, memory, config):
    told(config)
    old_mark = {config.TEXT: "<!-- gencrawl watch: team -->"}
    receiver.issues[1] = {"id": 1, config.NUMBER: 1, "comments": []} | old_mark
    receiver.lost = 1

    assert not told(config, sighting("http://a.test/1"))
    copy = {"id": 3, config.NUMBER: 3, "comments": []}
    receiver.issues[3] = copy | {config.TEXT: receiver.issues[2][config.TEXT]}
    assert told(config, checks=False)

    assert memory.channels["team"].memo == "2"
    assert [len(each["comments"]) for each in receiver.issues.values()] == [0, 1, 0]


def test_second_test_of_a_channel_finds_the_issue_of_the_first(
    receiver, told, memory, run_sync, config
):
    channels = {"team": config.with_secrets(os.environ)}
    delivery = Delivery(memory, channels, ["docs"], lambda: 0.0)
    receiver.lost = 1

    assert "503" in run_sync(delivery.test)["team"]
    assert run_sync(delivery.test) == {"team": ""}

    (issue,) = receiver.issues.values()
    assert len(issue["comments"]) == 1
    assert issue["state"] == "closed"


def test_issue_that_was_deleted_is_made_again(receiver, told):
    config = GitHubIssue(project="o/n", token="${WATCH_TOKEN}", api=receiver.url)
    told(config)
    told(config, sighting("http://a.test/1"))
    receiver.issues.clear()

    assert told(config, sighting("http://a.test/1"), sighting("http://a.test/2"))
    assert len(receiver.issues) == 1


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_apprise_serves_the_rest(receiver, told, monkeypatch):
    pytest.importorskip("apprise")
    address = urllib.parse.urlsplit(receiver.url).netloc
    monkeypatch.setenv("WATCH_APPRISE", f"json://{address}/hook")
    config = Apprise(url="${WATCH_APPRISE}")
    told(config)

    assert told(config, sighting("http://a.test/1"))

    ((_, body),) = receiver.hooks
    assert body["title"] == "docs: 1 broken"


@dataclass(frozen=True, kw_only=True)
class Stuck(NoticeChannel):
    """A channel whose service answers in a form that is not the API's."""

    @gen.coroutine
    def send(self, notice, out):
        yield gen.moment
        raise KeyError("hush-1234")


def test_channel_that_fails_does_not_hold_up_the_others(
    mailbox, memory, run_sync, caplog
):
    config = mail_to(mailbox)
    channels = {"stuck": Stuck(), "mail": config}
    delivery = Delivery(memory, channels, ["docs"], lambda: 0.0)
    memory.note("docs", look_of(sighting("a")), 0.0, rule_of)

    assert not run_sync(delivery.deliver)

    assert len(mailbox.mails) == 1
    assert memory.channels["stuck"].next_try_at == 60.0
    assert "hush" not in caplog.text
    assert "stuck was not told: KeyError" in caplog.text


@dataclass(frozen=True, kw_only=True)
class Silent(NoticeChannel):
    """A channel whose service never answers."""

    def send(self, notice, out):
        return gen.Future()


def test_channel_that_hangs_is_left_after_a_time(memory, virtual_clock):
    delivery = Delivery(memory, {"silent": Silent()}, ["docs"], virtual_clock.time)
    memory.note("docs", look_of(sighting("a")), 0.0, rule_of)

    async def deliver():
        return await delivery.deliver()

    with asyncio.Runner(loop_factory=virtual_clock.new_event_loop) as runner:
        assert not runner.run(deliver())

    assert memory.channels["silent"].error == "it took more than 180 seconds"
    assert memory.channels["silent"].next_try_at == 240.0


def test_mail_server_that_is_away_is_named(told, memory):
    with smtplib.socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    config = Mail(host="127.0.0.1", port=port, sender="a@b.test", to=("c@d.test",))
    told(config)

    assert not told(config, sighting("a"))
    assert f"127.0.0.1:{port}: Connection refused" in memory.channels["team"].error
