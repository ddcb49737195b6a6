"""The options of a check that are not those of its crawl.

Pure.  As with `crawler_app.base.config`, each field states its name, its allowed values and its
help once, for the command line and for a file.
"""

from dataclasses import dataclass

from crawler_app.base.config.option import option, options_of, require
from crawler_app.base.config.validators import require_path, require_patterns
from crawler_app.base.errors import UrlError
from crawler_app.base.urls import canonicalize
from crawler_app.show.findings.kinds import DEFAULT_KINDS, OPTIONAL_KINDS, FindingKind

__all__ = [
    "CHECK_OPTIONS",
    "FORMAT_NAMES",
    "CheckConfig",
]

# Those of `crawler_app.show.check.output`, which this does not import: --help needs the names only.
FORMAT_NAMES = (
    *("text", "json", "jsonl", "csv"),
    *("junit", "sarif", "codeclimate", "github", "markdown"),
)

# Of --fail-on, beside the kinds: what a finding must be, too, to make a check fail.
ONLY_NEW = "new"
ONLY_ERRORS = "errors"

_GROUP = "findings"


def _require_kinds(name: str, words: tuple[str, ...]) -> None:
    allowed = (*FindingKind, ONLY_NEW, ONLY_ERRORS)
    for word in _split(words):
        require(name, word, word in allowed, f"one of {', '.join(allowed)}")


def _require_url(name: str, url: str) -> None:
    try:
        is_right = not url or "?" not in canonicalize(url)
    except UrlError:
        is_right = False
    require(name, url, is_right, "a URL such as https://docs.example.org/latest/")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckConfig:
    """What a check reports, and how.

    >>> CheckConfig(fail_on=("broken, new",)).only_new
    True

    Attributes:
        fail_on: Kinds of findings and restrictions, each alone or several with commas.
        baseline: A path; empty for none.
        sources: A path; empty for none.
        base_url: Empty if that does not matter.
    """

    format: str = option(
        "text",
        "format of the findings",
        choices=FORMAT_NAMES,
        group=_GROUP,
        is_common=True,
    )
    fail_on: tuple[str, ...] = option(
        (),
        f"fail on these kinds of findings: {', '.join(FindingKind)}; and only if they are "
        f"{ONLY_NEW} (since the last check into DIR, or the baseline), or {ONLY_ERRORS}, not "
        "warnings",
        metavar="KIND[,KIND]",
        shown_default=f"all but {', '.join(OPTIONAL_KINDS)}, which are shown only if named "
        "here",
        rule=_require_kinds,
        group=_GROUP,
        is_common=True,
    )
    external_fragments: bool = option(
        False,
        "also check #fragments of links to other sites",
        group=_GROUP,
    )
    ignore: tuple[str, ...] = option(
        (),
        "skip targets that match this regular expression; repeatable",
        metavar="RE",
        rule=require_patterns,
        group=_GROUP,
        is_common=True,
    )
    baseline: str = option(
        "",
        "accept the findings in this file; write it if it does not exist",
        metavar="FILE",
        is_path=True,
        rule=require_path,
        group=_GROUP,
        is_common=True,
    )
    sources: str = option(
        "",
        "directory with the sources of the site; findings name the place there",
        metavar="DIR",
        is_path=True,
        rule=require_path,
        group=_GROUP,
    )
    base_url: str = option(
        "",
        "URL at which the folder will be published; links to it lead into the folder",
        metavar="URL",
        rule=_require_url,
        group=_GROUP,
        is_common=True,
    )

    @property
    def kinds(self) -> tuple[FindingKind, ...]:
        """The kinds of findings that make a check fail."""
        kinds = [word for word in self._words if word not in (ONLY_NEW, ONLY_ERRORS)]
        return tuple(map(FindingKind, kinds)) or DEFAULT_KINDS

    @property
    def only_new(self) -> bool:
        """Whether it fails only for findings that were not known; implied by a baseline."""
        return ONLY_NEW in self._words

    @property
    def only_errors(self) -> bool:
        """Whether it fails only for errors."""
        return ONLY_ERRORS in self._words

    @property
    def _words(self) -> list[str]:
        return _split(self.fail_on)


CHECK_OPTIONS = options_of(CheckConfig)


def _split(words: tuple[str, ...]) -> list[str]:
    return [word.strip() for each in words for word in each.split(",")]
