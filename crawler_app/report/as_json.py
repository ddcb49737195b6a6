"""A report for programs, with all of its lists."""

import datetime
from dataclasses import asdict
from typing import Any

from crawler_app.reasons import meaning_of
from crawler_app.report.findings import Broken, Duplicates, Host, Report

__all__ = ["to_json"]


def to_json(report: Report) -> dict[str, Any]:
    """Return a report as plain values; its keys are in the guide."""
    return {
        "site": report.site,
        "seeds": report.seeds,
        "made_at": _time(report.made_at),
        "crawl": {
            "state": report.state,
            "started_at": _time(report.started_at),
            "ended_at": _time(report.ended_at),
            "options": report.options,
        },
        "totals": asdict(report.totals)
        | {
            "broken_links": report.broken_links,
            "pages_with_broken_links": report.pages_with_broken_links,
        },
        "statuses": {str(n): count for n, count in report.count_by_status.items()},
        "unanswered": report.unanswered,
        "broken": [_broken(each) for each in report.broken],
        "pages_not_read": report.unread if report.has_archive else report.totals.pages,
        "redirects": {
            "count": report.totals.redirects,
            "chains": [asdict(chain) for chain in report.chains],
            "loops": report.loops,
        },
        "slowest": [asdict(ranked) for ranked in report.slowest],
        "largest": [asdict(ranked) for ranked in report.largest],
        "duplicates": [_duplicates(group) for group in report.duplicates],
        "depths": {str(n): count for n, count in report.pages_by_depth.items()},
        "hosts": [_host(host) for host in report.hosts],
        "refused": [
            asdict(refusal) | {"meaning": meaning_of(refusal.reason)}
            for refusal in report.refused
        ],
        "failed_otherwise": [
            asdict(failure) | {"meaning": meaning_of(failure.reason)}
            for failure in report.failed_otherwise
        ],
        "compared": report.comparison and report.comparison.to_json(),
        "kept": report.kept.to_json(),
    }


def _time(at: float | None) -> str | None:
    """Return a time as ISO 8601 has it, in UTC.

    >>> _time(0.0)
    '1970-01-01T00:00:00Z'
    """
    if at is None:
        return None
    return f"{datetime.datetime.fromtimestamp(at, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"


def _broken(broken: Broken) -> dict[str, Any]:
    return {
        "url": broken.url,
        "status": broken.status,
        "reason": broken.reason,
        "meaning": meaning_of(broken.reason),
        "error": broken.error,
        "is_seed": broken.is_seed,
        "links": [
            {
                "page": link.page,
                "text": link.text,
                "href": link.href,
                "through": link.through or None,
            }
            for link in broken.links
        ],
    }


def _duplicates(group: Duplicates) -> dict[str, Any]:
    return asdict(group) | {
        "canonical": group.canonical or None,
        "wasted_bytes": group.wasted_bytes,
    }


def _host(host: Host) -> dict[str, Any]:
    return {
        "host": host.name,
        "urls": host.urls,
        "pages": host.pages,
        "failures": host.failures,
        "size_bytes": host.size_bytes,
        "mean_s": host.mean_s,
    }
