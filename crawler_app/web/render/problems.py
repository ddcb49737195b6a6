"""What a page's scripts get wrong: exceptions, errors that they log, requests that fail.

Pure: events of the DevTools protocol in, values out.
"""

from dataclasses import dataclass
from typing import Any

__all__ = ["ScriptProblem", "problem_of", "request_problem"]

# Of a message, which may hold a whole state.
MAX_CHARS = 300


@dataclass(slots=True, frozen=True)
class ScriptProblem:
    """One problem.

    Attributes:
        kind: ``exception``, ``console`` or ``request``.
        text: In one line.
        url: The script, or the URL that was requested; empty if unknown.
        line: From 1; 0 if there is no place.
        column: From 1.
    """

    kind: str
    text: str
    url: str = ""
    line: int = 0
    column: int = 0


def problem_of(method: str, params: dict[str, Any]) -> ScriptProblem | None:
    """Return the problem that an event tells of; None if it tells of none.

    >>> problem_of("Runtime.consoleAPICalled", {
    ...     "type": "error", "args": [{"value": "no data"}]})
    ScriptProblem(kind='console', text='no data', url='', line=0, column=0)
    """
    if method == "Runtime.exceptionThrown":
        details = params["exceptionDetails"]
        thrown = details.get("exception", {})
        text = thrown.get("description") or str(thrown.get("value", details["text"]))
        return _placed("exception", text.partition("\n")[0], details)
    if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
        words = (each.get("value", each.get("description")) for each in params["args"])
        frames = params.get("stackTrace", {}).get("callFrames", ())
        text = " ".join(str(word) for word in words if word is not None)
        return _placed("console", text, frames[0] if frames else {})
    return None


def request_problem(params: dict[str, Any], text: str) -> ScriptProblem | None:
    """Return the problem of a request that failed, if a script has made it.

    What elements load is in the document, and the crawl checks it itself.

    Args:
        text: Why it failed; empty if it did not.
    """
    if not text or params["resourceType"] not in ("Fetch", "XHR"):
        return None
    request = params["request"]
    return ScriptProblem("request", f"{request['method']}: {text}", request["url"])


def _placed(kind: str, text: str, place: dict[str, Any]) -> ScriptProblem:
    text = " ".join(text.split())[:MAX_CHARS]
    if not (url := place.get("url", "")):
        return ScriptProblem(kind, text)
    line, column = place["lineNumber"] + 1, place["columnNumber"] + 1
    return ScriptProblem(kind, text, url, line, column)
