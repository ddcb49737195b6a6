"""Notices as signed POST requests, as https://www.standardwebhooks.com specifies them.

The text is a field that Slack, Mattermost and others show.  A receiver drops what it has by
``webhook-id``, which a notice keeps if it is sent again; ``Idempotency-Key`` has the same id.
"""

import base64
import binascii
import hmac
import html
import json
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from typing import Any

from crawler_app.base.config.option import REQUIRED, option
from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.channel import NoticeChannel, request, secret_option
from crawler_app.show.watch.notices.notice import Notice, Outgoing
from gencoro import gen

__all__ = ["Webhook"]

PREFIX = "whsec_"

# In one request; the text counts the others.
MAX_EVENTS = 1000


@dataclass(frozen=True, kw_only=True)
class Webhook(NoticeChannel):
    """Sends requests to one URL, which may be a secret itself."""

    url: str = option(REQUIRED, "URL", is_secret=True)
    secret: str = secret_option("key of the signature")

    def __post_init__(self) -> None:
        if not self.url.startswith(("https://", "http://", "${")):
            raise ConfigError("url must be a URL")
        self._key()

    @gen.coroutine
    def send(self, notice: Notice, out: Outgoing) -> Generator[Any, Any, None]:
        """Send one request; another one has the same id, and a new signature."""
        body = json.dumps(
            {
                "type": "gencrawl.watch",
                "id": notice.id,
                # Slack takes <!channel> for a mention.
                "text": html.escape(f"{notice.subject}\n{notice.text()}", quote=False),
                "events": [asdict(event) for event in notice.events[:MAX_EVENTS]],
            }
        ).encode()
        at = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": notice.id,
            "webhook-id": notice.id,
            "webhook-timestamp": at,
        }
        if key := self._key():
            signed = b".".join([notice.id.encode(), at.encode(), body])
            digest = base64.b64encode(hmac.digest(key, signed, "sha256"))
            headers["webhook-signature"] = f"v1,{digest.decode()}"
        yield request(self.url, method="POST", headers=headers, body=body)

    def _key(self) -> bytes:
        """Return the key: the bytes after ``whsec_``, or those of any other text."""
        if not self.secret.startswith(PREFIX):
            return self.secret.encode()
        try:
            return base64.b64decode(self.secret.removeprefix(PREFIX), validate=True)
        except binascii.Error:
            raise ConfigError(f"the secret is not base64 after {PREFIX}") from None
