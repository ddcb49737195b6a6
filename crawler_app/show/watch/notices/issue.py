"""One issue of GitHub or GitLab: its text is the list of what is dead, its comments what changes.

The issue is found again by a hidden mark in its text, and a comment by one of its own; so a
notice that may have been sent before is looked for first.
"""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number, time_of_day
from crawler_app.show.watch.notices.channel import Channel, NoticeError, request
from crawler_app.show.watch.notices.notice import Notice, event_line
from crawler_app.show.watch.notices.notice_config import GitLabConfig, IssueConfig
from crawler_app.show.watch.notices.secret_values import secret_of
from gencoro import gen

__all__ = ["Issue"]

# GitHub takes 65,536 characters.
MAX_CHARS = 60_000
PER_PAGE = 100
# Of the issues of a project, the newest first, and of the comments.
MAX_PAGES = 20


@dataclass(frozen=True, slots=True)
class _Forge:
    """How two APIs differ.

    Attributes:
        comments: The last part of the path of the comments.
        edit: The method that changes an issue.
        states: The fields that close an issue, and those that open it again.
    """

    api: str
    issues: str
    number: str
    text: str
    comments: str
    edit: str
    states: tuple[Mapping[str, str], Mapping[str, str]]


GITHUB = _Forge(
    "https://api.github.com",
    "repos/{}/issues",
    "number",
    "body",
    "comments",
    "PATCH",
    ({"state": "closed"}, {"state": "open"}),
)
GITLAB = _Forge(
    "https://gitlab.com/api/v4",
    "projects/{}/issues",
    "iid",
    "description",
    "notes",
    "PUT",
    ({"state_event": "close"}, {"state_event": "reopen"}),
)


class Issue(Channel):
    """Keeps an issue current.

    Args:
        name: The name of the channel, by which the issue is found.
    """

    def __init__(self, config: IssueConfig, name: str) -> None:
        self._title = config.title
        self._token = secret_of(config.token)
        is_gitlab = isinstance(config, GitLabConfig)
        self._forge = forge = GITLAB if is_gitlab else GITHUB
        project = quote(config.project, safe="" if is_gitlab else "/")
        self._issues = (
            f"{(config.api or forge.api).rstrip('/')}/{forge.issues.format(project)}"
        )
        self._mark = f"<!-- gencrawl watch: {name} -->"
        self._headers = (
            {"PRIVATE-TOKEN": self._token}
            if is_gitlab
            else {
                "Authorization": f"Bearer {self._token}",
                "Accept": "application/vnd.github+json",
            }
        )
        self._headers |= {"User-Agent": "gencrawl", "Content-Type": "application/json"}

    @gen.coroutine
    def send(self, notice: Notice, *, again: bool) -> Generator[Any, Any, None]:
        """Write the list into the issue, and the changes into a comment."""
        text = self._list_of(notice)
        is_needed = bool(notice.dead) or any(e.kind == "test" for e in notice.events)
        url: str = yield self._issue(text, is_needed)
        if not url:
            return
        mark = f"<!-- gencrawl notice: {notice.id} -->"
        comments = f"{url}/{self._forge.comments}"
        has_it = again and (yield self._find(comments, "body", mark))
        if not has_it:
            yield self._call(
                "POST", comments, {"body": f"{_comment(notice)}\n\n{mark}"}
            )
        state = self._forge.states[bool(notice.dead)]
        yield self._call(self._forge.edit, url, {self._forge.text: text, **state})

    @gen.coroutine
    def _issue(self, text: str, is_needed: bool) -> Generator[Any, Any, str]:
        """Return the URL of the issue, which is made if it is needed; empty if not."""
        if self.memo:
            try:
                yield self._call("GET", f"{self._issues}/{self.memo}")
                return f"{self._issues}/{self.memo}"
            except NoticeError as exc:
                if exc.status not in (404, 410):  # it was deleted
                    raise
        found = yield self._find(
            self._issues, self._forge.text, self._mark, "&state=all"
        )
        if not found and not is_needed:
            return ""
        if not found:
            values = {"title": self._title, self._forge.text: text}
            found = yield self._call("POST", self._issues, values)
        self.memo = str(found[self._forge.number])
        return f"{self._issues}/{self.memo}"

    @gen.coroutine
    def _find(
        self, url: str, field: str, mark: str, query: str = ""
    ) -> Generator[Any, Any, Any]:
        """Return the first item of a list that has a mark in a field; None if none has."""
        for page in range(1, MAX_PAGES + 1):
            items = yield self._call(
                "GET", f"{url}?per_page={PER_PAGE}&page={page}{query}"
            )
            for item in items:
                if mark in (item.get(field) or "") and "pull_request" not in item:
                    return item
            if len(items) < PER_PAGE:
                break
        return None

    @gen.coroutine
    def _call(
        self, method: str, url: str, values: Mapping[str, str] | None = None
    ) -> Generator[Any, Any, Any]:
        body = None if values is None else json.dumps(values).encode()
        response = yield request(
            url, self._token, method=method, headers=self._headers, body=body
        )
        try:
            return json.loads(response.body)
        except ValueError:
            raise NoticeError(f"{method} was not answered with JSON") from None

    def _list_of(self, notice: Notice) -> str:
        """Return the text of the issue."""
        count = number(len(notice.dead), "finding")
        lines = [self._mark, f"{count}, as of {time_of_day(notice.made_at)}.", ""]
        left = MAX_CHARS
        for at, event in enumerate(notice.dead):
            since = time_of_day(event.since)
            line = f"- {event.site}: {_code(event_line(event))} since {since}"
            left -= len(line) + 1
            if left < 0:
                lines.append(f"- and {len(notice.dead) - at:,} more")
                break
            lines.append(line)
        return "\n".join(lines)


def _comment(notice: Notice) -> str:
    parts = []
    for heading, lines in notice.groups():
        parts.append(
            "\n".join([f"**{heading}**", "", *(f"- {_code(x)}" for x in lines)])
        )
    return "\n\n".join(parts)


def _code(text: str) -> str:
    """Return a text as code, in which nothing is a mention, a link or a mark.

    >>> _code("a `b` <!-- @all")
    "`a 'b' <!-- @all`"
    """
    return f"`{printable(text).replace('`', chr(39))}`"
