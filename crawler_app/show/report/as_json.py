"""The report as JSON, with complete lists."""

import datetime
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from crawler_app.base.models import State
from crawler_app.base.reasons import meaning_of
from crawler_app.show.report.priorities import priorities_of
from crawler_app.show.report.report_data import (
    Broken,
    Duplicates,
    FaultyTarget,
    Problem,
    Report,
    ReportedLink,
)
from crawler_app.show.report.verdict import checks, severities
from crawler_app.store.frontier.count_types import HostCounts

__all__ = ["to_json"]


def to_json(report: Report) -> dict[str, Any]:
    """Return a report as plain values; ``docs/report.rst`` describes the keys."""
    summary = report.summary
    return {
        "site": report.site,
        "seeds": report.seeds,
        "made_at": _time(report.made_at),
        "crawl": {
            "state": report.state,
            "started_at": _time(summary.first_at),
            "ended_at": _time(summary.last_at),
            "options": report.options,
        },
        "totals": summary.totals()
        | {
            "broken_links": report.broken_links,
            "pages_with_broken_links": report.pages_with_broken_links,
        },
        "statuses": {
            str(n): count for n, count in sorted(summary.count_by_status.items())
        },
        "unanswered": summary.unanswered,
        "checked": checks(report),
        "broken": [_broken(each) for each in report.broken],
        "first": [each._asdict() for each in priorities_of(report)],
        "pages_not_read": report.unread if report.has_archive else summary.pages,
        "mixed_content": [_faulty(each) for each in report.mixed_content],
        "malformed": [_faulty(each) for each in report.malformed],
        "fragments": [_faulty(each) for each in report.fragments],
        "redirects": {
            "count": len(summary.redirects),
            "linked": [_faulty(each) for each in report.moved],
            "chains": [asdict(chain) for chain in report.chains],
            "loops": summary.loops,
        },
        "slowest": [asdict(ranked) for ranked in summary.slowest],
        "largest": [asdict(ranked) for ranked in report.largest],
        "heavy": [asdict(each) for each in report.heavy],
        "most_linked": [asdict(each) for each in report.most_linked],
        "problems": [_problem(each) for each in report.problems],
        "severities": severities(report),
        "problem_counts": report.problem_counts,
        "duplicates": [_duplicates(group) for group in report.duplicates],
        "depths": {
            str(n): count for n, count in sorted(summary.pages_by_depth.items())
        },
        "hosts": [_host(host) for host in summary.hosts],
        "skipped": list(_skipped(report)),
        "unasked": report.unasked,
        "unread_places": report.unread_places,
        "not_checked": [
            asdict(failure) | {"meaning": meaning_of(failure.reason)}
            for failure in report.not_checked
        ],
        "compared": report.comparison and report.comparison.to_json(),
        "rendering": report.rendering._asdict(),
        "kept": report.kept.to_json(),
    }


def _time(at: float | None) -> str | None:
    """Return a time in ISO 8601 format, in UTC.

    >>> _time(0.0)
    '1970-01-01T00:00:00Z'
    """
    if at is None:
        return None
    return f"{datetime.datetime.fromtimestamp(at, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"


def _skipped(report: Report) -> Iterator[dict[str, Any]]:
    for reason, count in report.summary.count_by_reason[State.EXCLUDED].most_common():
        yield {
            "reason": reason,
            "count": count,
            "examples": report.examples_by_reason[reason],
            "meaning": meaning_of(reason),
        }


def _broken(broken: Broken) -> dict[str, Any]:
    return {
        "url": broken.url,
        "status": broken.status,
        "reason": broken.reason,
        "meaning": meaning_of(broken.reason),
        "error": broken.error,
        "is_seed": broken.is_seed,
        "was_broken": broken.was_broken,
        "pages": broken.pages,
        "links": [_link(link) for link in broken.links],
    }


def _faulty(each: FaultyTarget) -> dict[str, Any]:
    what: dict[str, Any] = {"reference": each.url, "problem": each.problem}
    if not each.problem:
        what = {"url": each.url, "end": each.end or None, "status": each.status}
    return what | {"pages": each.pages, "links": list(map(_link, each.links))}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "kind": problem.kind,
        "severity": problem.kind.severity,
        "finding": problem.kind.words,
        "subject": problem.subject,
        "count": problem.count,
        "examples": problem.examples,
        "templates": dict(problem.templates),
    }


def _link(link: ReportedLink) -> dict[str, Any]:
    return {
        "page": link.page,
        "line": link.line or None,
        "text": link.text,
        "href": link.href,
        "through": link.through or None,
    }


def _duplicates(group: Duplicates) -> dict[str, Any]:
    return asdict(group) | {
        "canonical": group.canonical or None,
        "wasted_bytes": group.wasted_bytes,
    }


def _host(host: HostCounts) -> dict[str, Any]:
    return {
        "host": host.name,
        "urls": host.urls,
        "pages": host.pages,
        "broken": host.broken,
        "size_bytes": host.size_bytes,
        "mean_s": host.mean_s,
    }
