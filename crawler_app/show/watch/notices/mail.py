"""Notices by mail.

A mail server cannot be asked whether it has a mail.  One that is sent again has the same
``Message-ID``, by which mail programs and many servers drop the second one.
"""

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate

from crawler_app.show.watch.notices.channel import TIMEOUT_S, Channel, NoticeError
from crawler_app.show.watch.notices.notice import Notice
from crawler_app.show.watch.notices.notice_config import MailConfig
from crawler_app.show.watch.notices.secret_values import redacted, secret_of
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["Mail"]


class Mail(Channel):
    """Sends mail by SMTP, on a thread."""

    def __init__(self, config: MailConfig) -> None:
        self._config = config
        self._password = secret_of(config.password)

    def send(self, notice: Notice, *, again: bool) -> "gen.Future[None]":
        """Send one mail to all addresses."""
        message = self.message_of(notice)
        return IOLoop.current().run_in_executor(None, self._send, message)

    def message_of(self, notice: Notice) -> EmailMessage:
        """Return the mail."""
        config = self._config
        message = EmailMessage()
        message["Subject"] = f"[gencrawl] {notice.subject}"
        message["From"] = config.sender
        message["To"] = ", ".join(config.to)
        message["Date"] = formatdate(notice.made_at)
        message["Message-ID"] = f"<{notice.id}@{config.sender.rpartition('@')[2]}>"
        # RFC 3834: no answers of the absent.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(notice.text)
        return message

    def _send(self, message: EmailMessage) -> None:
        config = self._config
        context = ssl.create_default_context()
        try:
            if config.encryption == "tls":
                server: smtplib.SMTP = smtplib.SMTP_SSL(
                    config.host, config.port_used, timeout=TIMEOUT_S, context=context
                )
            else:
                server = smtplib.SMTP(config.host, config.port_used, timeout=TIMEOUT_S)
            with server:
                if config.encryption == "starttls":
                    server.starttls(context=context)
                if config.user:
                    server.login(config.user, self._password)
                # Addresses that are refused while others are accepted are not told again:
                # the others would get the mail twice.
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as exc:
            words = redacted(f"{config.host}: {exc}", self._password)
            raise NoticeError(words) from None
