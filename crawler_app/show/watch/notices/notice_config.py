"""The keys of each kind of channel.  Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from crawler_app.base.config.option import option
from crawler_app.base.config.validators import count
from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.secret_values import require_secret

__all__ = [
    "NOTICE_TYPES",
    "AppriseConfig",
    "GitHubConfig",
    "GitLabConfig",
    "IssueConfig",
    "MailConfig",
    "NoticeConfig",
    "WebhookConfig",
]

PORT_BY_ENCRYPTION = {"starttls": 587, "tls": 465, "none": 25}
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _secret(help: str) -> str:
    made: str = option("", help, is_secret=True, rule=require_secret)
    return made


def _require(**values: object) -> None:
    for key, value in values.items():
        if not value:
            raise ConfigError(f"{key.rstrip('_')} is missing")


@dataclass(frozen=True, kw_only=True)
class NoticeConfig:
    """The keys that every channel has.

    Attributes:
        sites: Names of sites; empty for all.
    """

    sites: tuple[str, ...] = option((), "the sites that it is told of")


@dataclass(frozen=True, kw_only=True)
class MailConfig(NoticeConfig):
    """A mail server, and the addresses."""

    host: str = option("localhost", "mail server")
    port: int = option(0, "its port", rule=count(0, 65535))
    encryption: str = option(
        "starttls", "encryption", choices=tuple(PORT_BY_ENCRYPTION)
    )
    user: str = option("", "name for logging in")
    password: str = _secret("password")
    sender: str = option("", "address of the sender")
    to: tuple[str, ...] = option((), "addresses")

    def __post_init__(self) -> None:
        _require(sender=self.sender, to=self.to)
        for address in (self.sender, *self.to):
            if "@" not in address or any(char.isspace() for char in address):
                raise ConfigError(f"{address!r} is not a mail address")
        if self.encryption == "none" and self.password and self.host not in LOOPBACK:
            raise ConfigError("a password is not sent without encryption")

    @property
    def port_used(self) -> int:
        """The port, by default that of the encryption."""
        return self.port or PORT_BY_ENCRYPTION[self.encryption]


@dataclass(frozen=True, kw_only=True)
class WebhookConfig(NoticeConfig):
    """A URL that gets requests, which may be a secret itself."""

    url: str = option("", "URL, or env:NAME or file:PATH", is_secret=True)
    secret: str = _secret("key of the signature")

    def __post_init__(self) -> None:
        _require(url=self.url)
        if not self.url.startswith(("https://", "http://", "env:", "file:")):
            raise ConfigError("url must be a URL, env:NAME or file:PATH")


@dataclass(frozen=True, kw_only=True)
class IssueConfig(NoticeConfig):
    """A project, and the token by which its issues are written."""

    project: str = option("", "project, such as owner/name")
    token: str = _secret("token of the API")
    api: str = option("", "URL of the API")
    title: str = option("Broken links", "title of the issue")

    def __post_init__(self) -> None:
        _require(project=self.project, token=self.token)
        if self.api and not self.api.startswith(("https://", "http://")):
            raise ConfigError("api must be a URL")


@dataclass(frozen=True, kw_only=True)
class GitHubConfig(IssueConfig):
    """An issue of GitHub."""


@dataclass(frozen=True, kw_only=True)
class GitLabConfig(IssueConfig):
    """An issue of GitLab."""


@dataclass(frozen=True, kw_only=True)
class AppriseConfig(NoticeConfig):
    """A URL of apprise."""

    url: str = _secret("URL of apprise")

    def __post_init__(self) -> None:
        _require(url=self.url)


NOTICE_TYPES: Mapping[str, type[NoticeConfig]] = {
    "mail": MailConfig,
    "webhook": WebhookConfig,
    "github": GitHubConfig,
    "gitlab": GitLabConfig,
    "apprise": AppriseConfig,
}
