"""One issue of GitHub or GitLab: its text is the list of what is dead, its comments what changes.

The memory has the number of the issue.  If a process may have been killed before it noted that, the
issue is found by a mark in its text, which cannot be guessed; comments are found in the same way.
"""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from crawler_app.base.config.option import option
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number, time_of_day
from crawler_app.show.watch.notices.channel import (
    Channel,
    NoticeError,
    request,
    secret_option,
)
from crawler_app.show.watch.notices.notice import Notice, Outgoing, line_of
from gencoro import gen

__all__ = ["GitHub", "GitLab"]

# GitHub takes 65,536 characters.
MAX_CHARS = 60_000
PER_PAGE = 100
# Of the issues of a project, the newest first, and of the comments.
MAX_PAGES = 20


@dataclass(frozen=True, kw_only=True)
class _Forge:
    """How two APIs differ.

    Attributes:
        comments: The last part of the path of the comments.
        edit: The method that changes an issue.
        states: The fields that close an issue, and those that open it again.
    """

    api: str
    issues: str
    safe: str
    headers: Mapping[str, str]
    number: str
    text: str
    comments: str
    edit: str
    states: tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class _Issue(Channel):
    """Keeps an issue current."""

    forge: ClassVar[_Forge]

    project: str = option("", "project, such as owner/name")
    token: str = secret_option("token of the API")
    api: str = option("", "URL of the API")
    title: str = option("Broken links", "title of the issue")

    def __post_init__(self) -> None:
        self._require("project", "token")
        if self.api and not self.api.startswith(("https://", "http://")):
            raise ConfigError("api must be a URL")

    @property
    def _issues(self) -> str:
        api = (self.api or self.forge.api).rstrip("/")
        return f"{api}/{self.forge.issues.format(quote(self.project, safe=self.forge.safe))}"

    @gen.coroutine
    def send(
        self, notice: Notice, out: Outgoing, *, again: bool
    ) -> Generator[Any, Any, None]:
        """Write the list into the issue, and the changes into a comment."""
        text = _list_of(notice)
        url: str = yield self._issue(notice, out, text, again)
        if not url:
            return
        mark = f"<!-- gencrawl notice: {notice.id} -->"
        comments = f"{url}/{self.forge.comments}"
        if not (again and (yield self._find(comments, "body", mark))):
            yield self._call(
                "POST", comments, {"body": f"{_comment(notice)}\n\n{mark}"}
            )
        state = self.forge.states[bool(notice.dead)]
        yield self._call(self.forge.edit, url, {self.forge.text: text, **state})

    @gen.coroutine
    def _issue(
        self, notice: Notice, out: Outgoing, text: str, again: bool
    ) -> Generator[Any, Any, str]:
        """Return the URL of the issue, which is made if it is needed; empty if not."""
        if out.memo:
            try:
                yield self._call("GET", f"{self._issues}/{out.memo}")
                return f"{self._issues}/{out.memo}"
            except NoticeError as exc:
                if exc.status not in (404, 410):  # it was deleted
                    raise
        found = None
        if again:
            found = yield self._find(
                self._issues, self.forge.text, _mark(notice), "&state=all"
            )
        if not found:
            if not notice.dead and notice.events[0].kind != "test":
                return ""
            values = {"title": self.title, self.forge.text: text}
            found = yield self._call("POST", self._issues, values)
        out.memo = str(found[self.forge.number])
        return f"{self._issues}/{out.memo}"

    @gen.coroutine
    def _find(
        self, url: str, field: str, mark: str, query: str = ""
    ) -> Generator[Any, Any, Any]:
        """Return the first item that was made with a mark in a field; None if none has it.

        A later one is a copy, which anyone can make.
        """
        found = None
        for page in range(1, MAX_PAGES + 1):
            items = yield self._call(
                "GET", f"{url}?per_page={PER_PAGE}&page={page}{query}"
            )
            marked = [each for each in items if mark in (each.get(field) or "")]
            marked = [each for each in marked if "pull_request" not in each]
            found = min(filter(None, [found, *marked]), key=_age, default=None)
            if len(items) < PER_PAGE:
                break
        return found

    @gen.coroutine
    def _call(
        self, method: str, url: str, values: Mapping[str, str] | None = None
    ) -> Generator[Any, Any, Any]:
        headers = {"User-Agent": "gencrawl", "Content-Type": "application/json"}
        for name, value in self.forge.headers.items():
            headers[name] = value.format(self.token)
        body = None if values is None else json.dumps(values).encode()
        response = yield request(
            url, self.token, method=method, headers=headers, body=body
        )
        try:
            return json.loads(response.body)
        except ValueError:
            raise NoticeError(f"{method} was not answered with JSON") from None


class GitHub(_Issue):
    """An issue of GitHub."""

    forge = _Forge(
        api="https://api.github.com",
        issues="repos/{}/issues",
        safe="/",
        headers={
            "Authorization": "Bearer {}",
            "Accept": "application/vnd.github+json",
        },
        number="number",
        text="body",
        comments="comments",
        edit="PATCH",
        states=({"state": "closed"}, {"state": "open"}),
    )


class GitLab(_Issue):
    """An issue of GitLab."""

    forge = _Forge(
        api="https://gitlab.com/api/v4",
        issues="projects/{}/issues",
        safe="",
        headers={"PRIVATE-TOKEN": "{}"},
        number="iid",
        text="description",
        comments="notes",
        edit="PUT",
        states=({"state_event": "close"}, {"state_event": "reopen"}),
    )


def _age(item: Mapping[str, Any]) -> int:
    """Return what is less for an issue or a comment that was made before."""
    return int(item["id"])


def _mark(notice: Notice) -> str:
    return f"<!-- gencrawl watch: {notice.source} -->"


def _list_of(notice: Notice) -> str:
    """Return the text of the issue."""
    count = number(sum(event.urls for event in notice.dead), "finding")
    lines = [_mark(notice), f"{count}, as of {time_of_day(notice.made_at)}.", ""]
    left = MAX_CHARS
    for at, event in enumerate(notice.dead):
        since = time_of_day(event.since)
        how = ", comes and goes" * (event.kind == "flapping")
        line = f"- {event.site}: {_code(line_of(event))}{how} since {since}"
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
