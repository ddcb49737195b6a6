"""One issue of GitHub or GitLab: its text is the list of what is broken, its comments what changes.

The memory has the number of the issue.  If a process may have been killed before it noted that, the
issue is found by a mark in its text, which cannot be guessed; comments are found in the same way.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar
from urllib.parse import quote

from crawler_app.base.config.option import REQUIRED, option
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number, time_of_day
from crawler_app.show.watch.notices.channel import (
    NoticeChannel,
    NoticeError,
    request,
    secret_option,
)
from crawler_app.show.watch.notices.notice import Event, Notice, Outgoing
from gencoro import gen

__all__ = ["GitHubIssue", "GitLabIssue"]

# GitHub takes 65,536 characters.
MAX_CHARS = 60_000
PER_PAGE = 100
# Of the issues of a project, the newest first, and of the comments.
MAX_PAGES = 20


@dataclass(frozen=True, kw_only=True)
class GitHubIssue(NoticeChannel):
    """Keeps an issue of GitHub current; the constants are what another API has otherwise."""

    API = "https://api.github.com"
    ISSUES = "repos/{}/issues"
    SAFE = "/"
    COMMENTS = "comments"
    NUMBER = "number"
    TEXT = "body"
    EDIT = "PATCH"
    OPEN: ClassVar = {"state": "open"}
    CLOSED: ClassVar = {"state": "closed"}

    project: str = option(REQUIRED, "project, such as owner/name")
    token: str = secret_option("token of the API", REQUIRED)
    api: str = option("", "URL of the API")
    title: str = option("Broken links", "title of the issue")

    def __post_init__(self) -> None:
        if self.api and not self.api.startswith(("https://", "http://")):
            raise ConfigError("api must be a URL")

    @gen.coroutine
    def send(self, notice: Notice, out: Outgoing) -> Generator[Any, Any, None]:
        """Write the list into the issue, and the changes into a comment."""
        broken = notice.broken()
        text = f"{_mark(notice.source)}\n{_list_of(broken, notice.at)}"
        is_needed = bool(broken) or notice.events[0].kind == "test"
        url: str = yield self._issue(notice, out, text if is_needed else "")
        if not url:
            return
        mark, comments = _mark(notice.id), f"{url}/{self.COMMENTS}"
        if not (notice.is_repeated and (yield self._find(comments, "body", mark))):
            body = f"{notice.text(_code)}\n\n{mark}"
            yield self._call("POST", comments, {"body": body})
        state = self.OPEN if broken else self.CLOSED
        yield self._call(self.EDIT, url, {self.TEXT: text, **state})

    @gen.coroutine
    def _issue(
        self, notice: Notice, out: Outgoing, text: str
    ) -> Generator[Any, Any, str]:
        """Return the URL of the issue; empty if there is none.

        Args:
            text: That of the issue that is made if there is none; empty to make none.
        """
        project = quote(self.project, safe=self.SAFE)
        issues = f"{(self.api or self.API).rstrip('/')}/{self.ISSUES.format(project)}"
        if out.memo:
            try:
                yield self._call("GET", f"{issues}/{out.memo}")
                return f"{issues}/{out.memo}"
            except NoticeError as exc:
                if exc.status not in (404, 410):  # it was deleted
                    raise
        found = None
        if notice.is_repeated:
            mark = _mark(notice.source)
            found = yield self._find(issues, self.TEXT, mark, "&state=all")
        if not found:
            if not text:
                return ""
            values = {"title": self.title, self.TEXT: text}
            found = yield self._call("POST", issues, values)
        out.memo = str(found[self.NUMBER])
        return f"{issues}/{out.memo}"

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
            found = min(
                [*marked, *filter(None, [found])], key=itemgetter("id"), default=None
            )
            if len(items) < PER_PAGE:
                break
        return found

    @gen.coroutine
    def _call(
        self, method: str, url: str, values: Mapping[str, str] | None = None
    ) -> Generator[Any, Any, Any]:
        headers = {
            "User-Agent": "gencrawl",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self.token}",
        }
        body = None if values is None else json.dumps(values).encode()
        response = yield request(
            url, self.token, method=method, headers=headers, body=body
        )
        try:
            return json.loads(response.body)
        except ValueError:
            raise NoticeError(f"{method} was not answered with JSON") from None


class GitLabIssue(GitHubIssue):
    """Keeps an issue of GitLab current."""

    API = "https://gitlab.com/api/v4"
    ISSUES = "projects/{}/issues"
    SAFE = ""
    COMMENTS = "notes"
    NUMBER = "iid"
    TEXT = "description"
    EDIT = "PUT"
    OPEN: ClassVar = {"state_event": "reopen"}
    CLOSED: ClassVar = {"state_event": "close"}


def _mark(id: str) -> str:
    return f"<!-- gencrawl watch: {id} -->"


def _list_of(broken: Sequence[Event], at: float) -> str:
    """Return what is broken now, as far as an issue has room for it."""
    lines = [f"- {each.site}: {_code(each.line)}, {each.state}" for each in broken]
    kept = "\n".join([*lines, ""])[:MAX_CHARS].rpartition("\n")[0]
    if more := len(lines) - len(kept.splitlines()):
        kept += f"\n- and {more:,} more"
    count = number(sum(event.urls for event in broken), "finding")
    return f"{count}, as of {time_of_day(at)}.\n\n{kept}"


def _code(text: str) -> str:
    """Return a text as code, in which nothing is a mention, a link or a mark.

    >>> _code("a `b` <!-- @all")
    "`a 'b' <!-- @all`"
    """
    return f"`{printable(text).replace('`', chr(39))}`"
