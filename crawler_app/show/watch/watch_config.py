"""The file of ``gencrawl watch``: the sites, when they are checked, and who is told.

Rule: a secret is not in the file.  In its place are ``env:NAME``, a variable of the
environment, or ``file:PATH``, a file that only its owner may read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import Option, option, options_of
from crawler_app.base.config.toml import parse_toml, read_table
from crawler_app.base.config.units import SECONDS
from crawler_app.base.config.validators import count, require_path, seconds
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.suggesting import did_you_mean
from crawler_app.show.check.check_config import CHECK_OPTIONS, ONLY_NEW, restrictions_in
from crawler_app.show.watch.deciding import Rule
from crawler_app.show.watch.notices.notice_config import NOTICE_TYPES, NoticeConfig
from crawler_app.show.watch.notices.secret_values import placed
from crawler_app.show.watch.schedule import require_hours, require_time

__all__ = ["Watch", "WatchConfig", "read_watch"]

# Of a site: the memory says what is known, so that no second one contradicts it.
NOT_FOR_SITES = ("format", "baseline", "processes", "frontier", "crawl_name")
NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
FIRST_RUNS = ("summary", "each", "nothing")


@dataclass(frozen=True, kw_only=True)
class WatchConfig:
    """The keys above the tables."""

    state: str = option("", "directory of the memory", is_path=True, rule=require_path)
    every_s: float = option(
        86400.0, "time between checks", unit=SECONDS, rule=seconds("a year")
    )
    at: str = option("", "time of day of the checks", rule=require_time)
    quiet: str = option("", "hours in which no notice is sent", rule=require_hours)
    page: str = option("", "page with the history", is_path=True, rule=require_path)
    feed: str = option("", "Atom feed", is_path=True, rule=require_path)
    first_run: str = option(
        "summary", "what is told of the first check of a site", choices=FIRST_RUNS
    )
    external_runs: int = option(
        2, "checks in which an external link must fail", rule=count(1, 60)
    )
    external_of: int = option(3, "among this number", rule=count(1, 60))
    external_over_s: float = option(
        20 * 3600.0,
        "for at least this time",
        unit=SECONDS,
        rule=seconds("a year", may_be_0=True),
    )
    own_runs: int = option(
        1, "checks in a row in which any other finding must be there", rule=count(1, 60)
    )
    flapping_s: float = option(
        14 * 86400.0,
        "a finding that comes back within this time is flapping",
        unit=SECONDS,
        rule=seconds("a year", may_be_0=True),
    )

    def __post_init__(self) -> None:
        if not self.state:
            raise ConfigError('give a directory for the memory: `state = "watch"`')
        if self.external_runs > self.external_of:
            raise ConfigError("external-runs must be at most external-of")

    @property
    def external_rule(self) -> Rule:
        """When an external link is dead."""
        return Rule(
            self.external_runs, self.external_of, self.external_over_s, self.flapping_s
        )

    @property
    def own_rule(self) -> Rule:
        """When anything else is."""
        return Rule(self.own_runs, self.own_runs, 0.0, self.flapping_s)


@dataclass(frozen=True, slots=True)
class Watch:
    """A whole file.

    Attributes:
        sites: The options of the checks, by the names of the sites.
        notices: The channels by their names.
    """

    config: WatchConfig
    sites: Mapping[str, Mapping[str, Any]]
    notices: Mapping[str, NoticeConfig]


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
    sites, notices = whole.pop("sites", {}), whole.pop("notices", {})
    for name, value in whole.items():
        if isinstance(value, dict):
            raise ConfigError(
                f"there is no table {name!r}; there are sites and notices"
            )
    values = read_table(whole, options_of(WatchConfig), directory)
    if values.get("at") and "every_s" in values:
        raise ConfigError("every and at exclude each other")
    if not sites:
        raise ConfigError(
            'there is no site; write a table such as [sites.docs] with `seeds = "URL"`'
        )
    return Watch(
        WatchConfig(**values),
        {
            name: _site(f"sites.{name}", t, directory)
            for name, t in _tables("sites", sites)
        },
        {
            name: _notice(f"notices.{name}", t, directory)
            for name, t in _tables("notices", notices)
        },
    )


def _tables(kind: str, tables: object) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, table in tables.items() if isinstance(tables, dict) else [("", None)]:
        if not isinstance(table, dict):
            raise ConfigError(f"{kind} holds tables, such as [{kind}.docs]")
        if not set(name) <= NAME_CHARS or not name:
            raise ConfigError(
                f"the name {kind}.{name} has other characters than a-z, 0-9, -, _ and ."
            )
        yield name, table


def _site(where: str, table: dict[str, Any], directory: Path) -> dict[str, Any]:
    for key in table:
        if key.replace("-", "_") in NOT_FOR_SITES:
            raise ConfigError(f"{where}: {key} is not for a site that is watched")
    values = _values(where, table, SITE_OPTIONS, directory)
    if not values.get("seeds"):
        raise ConfigError(f'{where}: give a URL: `seeds = "https://docs.example.org/"`')
    if ONLY_NEW in restrictions_in(values.get("fail_on", ())):
        raise ConfigError(f"{where}: fail-on new is what a watch does anyway")
    return values


def _notice(where: str, table: dict[str, Any], directory: Path) -> NoticeConfig:
    kind = table.pop("kind", "")
    if kind not in NOTICE_TYPES:
        meant = did_you_mean(str(kind), NOTICE_TYPES)
        raise ConfigError(f"{where}: kind must be {' or '.join(NOTICE_TYPES)}{meant}")
    made = NOTICE_TYPES[kind]
    values = _values(where, table, options_of(made), directory)
    for each in options_of(made):
        if each.is_secret and each.name in values:
            values[each.name] = placed(values[each.name], directory)
    try:
        return made(**values)
    except ConfigError as exc:
        raise ConfigError(f"{where}: {exc}") from None


def _values(
    where: str, table: dict[str, Any], options: tuple[Option, ...], directory: Path
) -> dict[str, Any]:
    try:
        return read_table(table, options, directory)
    except ConfigError as exc:
        raise ConfigError(f"{where}: {exc}") from None
