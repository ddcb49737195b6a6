"""The file of ``gencrawl watch``: the sites, when they are checked, and who is told.

Rule: a secret is not in the file.  In its place is ``${NAME}``, which stands for a variable of the
environment, or a line of a file that only its owner can read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import REQUIRED, option, options_of
from crawler_app.base.config.toml import parse_toml, read_into, read_table
from crawler_app.base.config.units import SECONDS
from crawler_app.base.config.validators import count, require_path, seconds
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.suggesting import did_you_mean
from crawler_app.show.check.check_config import CHECK_OPTIONS, CheckConfig
from crawler_app.show.check.local_server import is_local
from crawler_app.show.check.preparing import split_values
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.show.watch.deciding import MAX_RECENT, Rule
from crawler_app.show.watch.looking import UNCHECKED
from crawler_app.show.watch.notices.by_apprise import Apprise
from crawler_app.show.watch.notices.channel import NoticeChannel
from crawler_app.show.watch.notices.issue import GitHubIssue, GitLabIssue
from crawler_app.show.watch.notices.mail import Mail
from crawler_app.show.watch.notices.webhook import Webhook
from crawler_app.show.watch.schedule import times

__all__ = ["CHANNEL_BY_KIND", "Watch", "WatchConfig", "read_watch"]

# Of a site: the memory says what is known, so that no second one contradicts it.
NOT_FOR_SITES = ("format", "baseline", "processes", "frontier", "crawl_name")

# If a site cannot be checked for this time, that is told.
UNCHECKED_RULE = Rule(runs=2, over_s=20 * 3600.0)

NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")

CHANNEL_BY_KIND: Mapping[str, type[NoticeChannel]] = {
    "mail": Mail,
    "webhook": Webhook,
    "github": GitHubIssue,
    "gitlab": GitLabIssue,
    "apprise": Apprise,
}


@dataclass(frozen=True, kw_only=True)
class WatchConfig:
    """The keys above the tables."""

    state: str = option(REQUIRED, "directory", is_path=True, rule=require_path)
    every_s: float | None = option(
        None, "time between checks", unit=SECONDS, rule=seconds("a year", least_s=60.0)
    )
    at: str = option("", "time of day", rule=times(1, "a time such as 03:00"))
    quiet: str = option("", "hours", rule=times(2, "two times such as 22:00-07:00"))
    page: str = option("", "HTML page", is_path=True, rule=require_path)
    feed: str = option("", "Atom feed", is_path=True, rule=require_path)
    secrets: str = option("", "NAME=VALUE lines", is_path=True, rule=require_path)
    external_runs: int = option(2, "failed checks", rule=count(1, MAX_RECENT))
    external_of: int = option(0, "of the last ones", rule=count(0, MAX_RECENT))
    external_over_s: float = option(
        20 * 3600.0, "in this time", unit=SECONDS, rule=seconds("a year", least_s=0.0)
    )
    own_runs: int = option(1, "failed checks in a row", rule=count(1, MAX_RECENT))

    def __post_init__(self) -> None:
        if self.at and self.every_s:
            raise ConfigError("every and at exclude each other")
        if 0 < self.external_of < self.external_runs:
            raise ConfigError("external-of must not be less than external-runs")

    def rule_of(self, kind: str) -> Rule:
        """Return when a finding of a kind is broken."""
        if kind == FindingKind.EXTERNAL:
            return Rule(self.external_runs, self.external_over_s, self.external_of)
        return UNCHECKED_RULE if kind == UNCHECKED else Rule(self.own_runs)


@dataclass(frozen=True, slots=True)
class Watch:
    """A whole file.

    Attributes:
        sites: The options of the checks, by the names of the sites.
        channels: By their names.
    """

    config: WatchConfig
    sites: Mapping[str, Mapping[str, Any]]
    channels: Mapping[str, NoticeChannel]


SITE_OPTIONS = tuple(
    each
    for each in (*options_of(CrawlConfig), *CHECK_OPTIONS)
    if each.name not in NOT_FOR_SITES
)


def read_watch(path: Path) -> Watch:
    """Read a file.

    Raises:
        ConfigError: it cannot be read, or something in it is not allowed.
    """
    try:
        return _read(parse_toml(path), path.absolute().parent)
    except ConfigError as exc:
        raise ConfigError(f"{path}: {exc}") from None


def _read(whole: dict[str, Any], directory: Path) -> Watch:
    tables = {kind: whole.pop(kind, {}) for kind in ("sites", "notices")}
    for name, value in whole.items():
        if isinstance(value, dict):
            raise ConfigError(
                f"there is no table {name!r}; there are sites and notices"
            )
    config = read_into(WatchConfig, whole, directory)
    sites = dict(_each("sites", tables["sites"], _site, directory))
    if not sites:
        raise ConfigError(
            'there is no site; write a table such as [sites.docs] with `seeds = "URL"`'
        )
    channels = dict(_each("notices", tables["notices"], _channel, directory))
    for name, channel in channels.items():
        for site in channel.sites:
            if site not in sites:
                meant = did_you_mean(site, sites)
                raise ConfigError(f"notices.{name}: there is no site {site!r}{meant}")
    return Watch(config, sites, channels)


def _each(
    kind: str, tables: object, read: Callable[..., Any], directory: Path
) -> Iterator[tuple[str, Any]]:
    """Yield what each table of a kind has, by its name."""
    for name, table in tables.items() if isinstance(tables, dict) else [("", None)]:
        if not isinstance(table, dict):
            raise ConfigError(f"{kind} holds tables, such as [{kind}.docs]")
        if not set(name) <= NAME_CHARS or not name:
            raise ConfigError(
                f"the name {kind}.{name} has other characters than a-z, 0-9, -, _ and ."
            )
        try:
            yield name, read(table, directory)
        except ConfigError as exc:
            raise ConfigError(f"{kind}.{name}: {exc}") from None


def _site(table: dict[str, Any], directory: Path) -> dict[str, Any]:
    for key in table:
        if key.replace("-", "_") in NOT_FOR_SITES:
            raise ConfigError(f"{key} is not for a site that is watched")
    values = read_table(table, SITE_OPTIONS, directory, "; see gencrawl check --help")
    if not values.get("seeds"):
        raise ConfigError('give a URL: `seeds = "https://docs.example.org/"`')
    if CheckConfig(fail_on=values.get("fail_on", ())).only_new:
        raise ConfigError("fail-on new is what a watch does anyway")
    if not any(map(is_local, values["seeds"])):
        # Raises if options contradict each other.
        CrawlConfig(**split_values(values)[0])
    return values


def _channel(table: dict[str, Any], directory: Path) -> NoticeChannel:
    kind = str(table.pop("kind", ""))
    if kind not in CHANNEL_BY_KIND:
        meant = did_you_mean(kind, CHANNEL_BY_KIND)
        raise ConfigError(f"kind must be {' or '.join(CHANNEL_BY_KIND)}{meant}")
    return read_into(CHANNEL_BY_KIND[kind], table, directory)
