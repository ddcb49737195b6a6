"""Notices by mail.

A mail server cannot be asked whether it has a mail.  One that is sent again has the same
``Message-ID``, by which mail programs and many servers drop the second one.
"""

import logging
import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate

from crawler_app.base.config.option import REQUIRED, option
from crawler_app.base.config.validators import count
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.formatting import error_words
from crawler_app.base.urls import is_loopback
from crawler_app.show.watch.notices.channel import (
    TIMEOUT_S,
    NoticeChannel,
    NoticeError,
    redacted,
    secret_option,
)
from crawler_app.show.watch.notices.notice import Notice, Outgoing
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["Mail"]

logger = logging.getLogger(__name__)

PORT_BY_ENCRYPTION = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, kw_only=True)
class Mail(NoticeChannel):
    """Sends mail by SMTP, on a thread."""

    host: str = option("localhost", "mail server")
    port: int = option(0, "its port", rule=count(0, 65535))
    encryption: str = option(
        "starttls", "encryption", choices=tuple(PORT_BY_ENCRYPTION)
    )
    user: str = option("", "name for logging in")
    password: str = secret_option("password")
    sender: str = option(REQUIRED, "address of the sender")
    to: tuple[str, ...] = option(REQUIRED, "addresses")

    def __post_init__(self) -> None:
        for address in (self.sender, *self.to):
            if "@" not in address or not address.isprintable() or " " in address:
                raise ConfigError(f"{address!r} is not a mail address")
        if bool(self.user) is not bool(self.password):
            raise ConfigError("a user needs a password, and a password a user")
        is_open = self.encryption == "none" and not is_loopback(f"[{self.host}]")
        if self.password and is_open:
            raise ConfigError("a password is not sent without encryption")

    def send(self, notice: Notice, out: Outgoing) -> "gen.Future[None]":
        """Send one mail to all addresses."""
        message = EmailMessage()
        message["Subject"] = f"[gencrawl] {notice.subject}"
        message["From"] = self.sender
        message["To"] = ", ".join(self.to)
        message["Date"] = formatdate()
        message["Message-ID"] = f"<{notice.id}@{self.sender.rpartition('@')[2]}>"
        # RFC 3834: no answers of the absent.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(notice.text())
        return IOLoop.current().run_in_executor(None, self._send, message)

    def _send(self, message: EmailMessage) -> None:
        context = ssl.create_default_context()
        port = self.port or PORT_BY_ENCRYPTION[self.encryption]
        try:
            if self.encryption == "tls":
                server: smtplib.SMTP = smtplib.SMTP_SSL(
                    self.host, port, timeout=TIMEOUT_S, context=context
                )
            else:
                server = smtplib.SMTP(self.host, port, timeout=TIMEOUT_S)
            with server:
                if self.encryption == "starttls":
                    server.starttls(context=context)
                if self.user:
                    server.login(self.user, self.password)
                # If it refuses some addresses only, the others must not get a second mail.
                for address, why in server.send_message(message).items():
                    logger.warning(
                        "%s refuses mail for %s: %s", self.host, address, why
                    )
        except (OSError, ValueError, smtplib.SMTPException) as exc:
            words = f"{self.host}:{port}: {error_words(exc) or repr(exc)}"
            raise NoticeError(redacted(words, self.password)) from None
