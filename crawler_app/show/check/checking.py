"""Runs a check: a crawl with a tracker, whose findings go to an output."""

import asyncio
import contextlib
import dataclasses
import importlib
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crawler_app.base.config import ALWAYS, NEVER, CrawlConfig
from crawler_app.base.errors import LoginError
from crawler_app.base.models import Severity
from crawler_app.base.patterns import any_of
from crawler_app.base.text.formatting import number
from crawler_app.base.urls import canonicalize, host_of
from crawler_app.run.crawl.monitor import Watched
from crawler_app.run.crawler import Crawler, Result
from crawler_app.run.results.start_urls import login_hints
from crawler_app.show.check.check_config import CheckConfig
from crawler_app.show.check.completeness import STOPPED, why_incomplete
from crawler_app.show.check.local_server import is_local
from crawler_app.show.check.output import Output
from crawler_app.show.check.own_folders import OwnFolders
from crawler_app.show.check.reference_tracker import ReferenceTracker
from crawler_app.show.check.sources import SourceFinder
from crawler_app.show.findings.comparison import Comparison, Coverage
from crawler_app.show.findings.finding import CheckSummary, Finding, soft_404
from crawler_app.show.findings.kinds import OPTIONAL_KINDS, FindingKind
from crawler_app.web.fetcher.addresses import is_private_host
from gencoro import gen

__all__ = ["Check"]

# Of the findings that are listed and kept; about 100 MB, for 200,000 usual ones.
MAX_FINDINGS_CHARS = 64_000_000


@dataclass(slots=True)
class Check:
    """One check.

    Args:
        targets: URLs, and the names of files and folders.
        values: Options of the crawl, by the names of the fields of `CrawlConfig`.
        writes_baseline: Whether to rewrite the file of accepted findings.
        watch: As for a `Crawler`.

    Attributes:
        findings: What was found, except what is accepted.
        summary: The counts; complete when `run` has ended.
        notes: Further messages to show at the end.
        internal_errors: The number of URLs that failed because of a bug in the crawler.
        coverage: What it has seen; None until `run` has ended.
        folders: Those that it serves; set by `run`.
    """

    targets: Sequence[str]
    values: Mapping[str, Any]
    options: CheckConfig
    output: Output
    writes_baseline: bool = False
    watch: Callable[[Watched], AbstractContextManager[object]] | None = None
    findings: list[Finding] = field(default_factory=list)
    summary: CheckSummary = field(default_factory=CheckSummary)
    notes: list[str] = field(default_factory=list)
    internal_errors: int = 0
    coverage: Coverage | None = None
    folders: OwnFolders = field(init=False)
    _accepted: list[Finding] = field(default_factory=list)
    _comparison: Comparison = field(init=False)
    _finder: SourceFinder | None = None
    _crawler: Crawler | None = None
    _failure: OSError | None = None
    _chars_left: int = field(default_factory=lambda: MAX_FINDINGS_CHARS)
    _unlisted: Counter[FindingKind] = field(default_factory=Counter)

    @gen.coroutine
    def run(self) -> Generator[Any, Any, bool]:
        """Check everything; return whether the check has passed.

        Raises:
            ConfigError: an option is not allowed, or there is nothing to check.
            OSError: the output cannot be written.
        """
        if sources := self.options.sources:
            built = [Path(target) for target in self.targets if is_local(target)]
            self._finder = SourceFinder(Path(sources), built)
        folders = self.folders = OwnFolders(self.targets, self.options.base_url)
        name_of = folders.name_of
        with contextlib.ExitStack() as cleanup:
            config = self._config(cleanup)
            tracker = ReferenceTracker(
                self._report,
                config.seeds,
                name_of=name_of,
                served_at=folders.served_at,
                is_ignored=_matcher(self.options.ignore),
                reads_external=self.options.external_fragments,
                note_links=self._note_links,
            )
            self._comparison = Comparison(
                self._baseline,
                str(config.into or ""),
                only_new=self.options.only_new,
                now=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
                key_of=self.folders.key_of,
            )
            self.output.begin()
            try:
                self._crawler = Crawler(
                    config,
                    watch=self.watch,
                    observer=tracker,
                    own_hosts=folders.hosts,
                )
                result: Result = yield self._crawler.run()
            except (asyncio.CancelledError, LoginError) as exc:
                tracker.summary.incomplete.append(str(exc) or STOPPED)
                self._finish(tracker, config)
                raise
            if self._failure is not None:
                raise self._failure
            summary = result.summary
            self.internal_errors = summary.internal_errors
            tracker.summary.is_empty = not (summary.pages or summary.files)
            tracker.summary.incomplete += why_incomplete(result, config, name_of)
            hints = login_hints(config, result.seed_ends, name_of)
            tracker.summary.incomplete += hints
            for url in result.soft_404s:
                self._report(soft_404(url))
            self._report_pages(config, name_of)
            self._finish(tracker, config)
            self._save(config)
        failing = {each.kind for each in self.findings if self._counts(each)}
        return (failing | self._unlisted.keys()).isdisjoint(self.options.kinds)

    @property
    def _baseline(self) -> Path | None:
        return Path(self.options.baseline) if self.options.baseline else None

    def _counts(self, finding: Finding) -> bool:
        return not self.options.only_errors or finding.severity is Severity.ERROR

    def _config(self, cleanup: contextlib.ExitStack) -> CrawlConfig:
        """Serve the folders; return the configuration of the crawl."""
        folders = self.folders
        has_folders = bool(folders.folders)
        values = dict(self.values)
        into = Path(values["into"]) if has_folders and values.get("into") else None
        if has_folders and not folders.urls:
            values.update(robots=False)  # they are your own
        seeds = *folders.urls, *folders.serve(cleanup, into)
        config = CrawlConfig(**values | {"seeds": seeds})
        if has_folders and config.deny_private is None:
            # Others may have written what its pages link to, so only its own port is open.
            others = {host_of(seed) for seed in config.seeds} - folders.hosts
            if base_url := self.options.base_url:
                others.add(host_of(canonicalize(base_url)))
            is_denied = not any(map(is_private_host, others))
            config = dataclasses.replace(config, deny_private=is_denied)
        if into:
            folders.remember(into, config.seeds)
        return config

    def _report(self, finding: Finding) -> None:
        if finding.kind in OPTIONAL_KINDS and finding.kind not in self.options.kinds:
            return
        finding = self._at_source(self._comparison.mark(finding))
        if finding.is_accepted:
            self._accepted.append(finding)
            if not self.output.lists_accepted:
                return
        else:
            self._chars_left -= 200 + len(finding.href) + len(finding.target)
            if self._chars_left < 0:
                self._unlisted[finding.kind] += 1
                return
            self.findings.append(finding)
        try:
            self.output.add(finding)
        except OSError as exc:  # such as a pipe that the reader has closed
            # Raised when the crawl has ended: for it, this is an error of one URL.
            self._failure = exc
            if self._crawler is not None:
                self._crawler.stop()

    def _note_links(self, page: str, references: Collection[str]) -> None:
        if self._finder is not None:
            self._finder.note_links(self.folders.own_name(page), references)

    def _at_source(self, finding: Finding) -> Finding:
        """Return a finding with its place in the sources, if that is known."""
        if self._finder is None or not finding.page:
            return finding
        _, page, href, target, _ = self.folders.key_of(finding)
        place = self._finder.locate(page, href, target, finding.text)
        if place is None:
            return finding
        return dataclasses.replace(
            finding,
            source=place.file,
            source_line=place.line,
            source_column=place.column,
        )

    def _report_pages(self, config: CrawlConfig, name_of: Callable[[str], str]) -> None:
        """Report what is wrong with the pages themselves, if that is wanted."""
        if {FindingKind.PAGE, FindingKind.NOTICE}.isdisjoint(self.options.kinds):
            return
        # Few checks need the report, whose import takes 15 ms.
        module = importlib.import_module("crawler_app.show.check.page_findings")
        for finding in module.problems_of_pages(config, name_of):
            self._report(finding)

    def _finish(self, tracker: ReferenceTracker, config: CrawlConfig) -> None:
        """Write the end of the output."""
        summary = self.summary = tracker.finish()
        summary.accepted = len(self._accepted)
        summary.is_rendered = config.render != NEVER
        summary.is_all_rendered = config.render == ALWAYS
        summary.counts.update(finding.kind.value for finding in self.findings)
        summary.counts.update(self._unlisted)
        summary.unlisted = self._unlisted.total()
        if not config.fetches_assets:
            summary.options_off.append("images, style sheets, scripts and frames")
        found = [*self.findings, *self._accepted]
        summary.compared_with = self._comparison.compared_with
        unseen = {*OPTIONAL_KINDS} - {*self.options.kinds}
        unseen |= set() if config.external else {FindingKind.EXTERNAL}
        self.coverage = Coverage(
            found,
            tracker,
            is_complete=not (
                summary.incomplete or summary.is_empty or summary.unlisted
            ),
            unseen_kinds=unseen,
            key_of=self.folders.key_of,
        )
        summary.fixed = [
            self.folders.named(each) for each in self._comparison.fixed(self.coverage)
        ]
        changes = (each.change for each in (*found, *summary.fixed) if each.change)
        summary.changes.update(changes)
        listed = found if self.output.lists_accepted else self.findings
        self.output.end(listed, summary)

    def _save(self, config: CrawlConfig) -> None:
        """Write down what is known from now on."""
        comparison, path = self._comparison, self._baseline
        is_written = comparison.accepts_all or self.writes_baseline
        found = [*self.findings, *self._accepted]
        comparison.save(found, path if is_written else None)
        if is_written:
            where = path or config.into
            self.notes.append(
                f"Wrote {where}: these findings are accepted from now on."
            )
            self.findings = []
        elif path and (count := len(self.summary.fixed)):
            fixed = number(
                count,
                "accepted finding is fixed; --update-baseline takes it",
                "accepted findings are fixed; --update-baseline takes them",
            )
            self.notes.append(f"{fixed} off the list.")


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    return any_of(patterns) if patterns else lambda url: False
