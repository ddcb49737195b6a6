"""Legacy names of `tornado.web` for applications: handlers and output transforms."""

import functools
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import tornado
from tornado.routing import HostMatches, PathMatches, Rule
from tornado.web import Application, OutputTransform, URLSpec

from gencoro.compat.calls.default_attributes import ByDefault
from gencoro.compat.calls.legacy_modules import is_module_legacy

__all__ = [
    "ChunkedTransferEncoding",
    "add_transform",
    "application",
    "find_groups",
    "group_count",
    "handlers",
    "named_handlers",
    "path",
    "transform_first_chunk",
]

# Whether Tornado refuses requests that come from the pages of other origins, as no Tornado
# did for which a legacy program was written.
PROTECTS_BY_DEFAULT = tornado.version_info >= (6, 7)

ANY_HOST = re.compile(".*$")


class ChunkedTransferEncoding(OutputTransform):
    """Leaves the output unchanged: a connection chooses its encoding itself."""


def application(original: Callable[..., None]) -> Callable[..., None]:
    """Accept ``wsgi``, and transforms without a status; serve other origins as before."""

    @functools.wraps(original)
    def wrapper(self: Application, *args: Any, **kwargs: Any) -> None:
        if PROTECTS_BY_DEFAULT:
            caller = sys.modules.get(sys._getframe(1).f_globals.get("__name__", ""))
            if is_module_legacy(caller):
                kwargs.setdefault("cross_origin_protection", False)
        if len(args) > 3:
            kwargs["wsgi"] = args[3]
            args = args[:3] + args[4:]
        is_wsgi = bool(kwargs.get("wsgi"))
        if is_wsgi:
            # It has no running loop, which autoreload needs.
            kwargs.setdefault("autoreload", False)
        original(self, *args, **kwargs)
        self._wsgi = is_wsgi  # type: ignore[attr-defined]
        if any(map(_lacks_status, self.transforms)):
            self.transforms = [_with_status(each) for each in self.transforms]

    return wrapper


def add_transform(original: Callable[..., None]) -> Callable[..., None]:
    """Accept transforms without a status."""

    @functools.wraps(original)
    def wrapper(self: Application, transform_class: Any) -> None:
        original(self, _with_status(transform_class))

    return wrapper


def transform_first_chunk(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept and return no status if a subclass calls the method without one."""

    @functools.wraps(original)
    def wrapper(self: OutputTransform, *args: Any) -> Any:
        if len(args) == 4:
            return original(self, *args)
        _status, *altered = original(self, 200, *args)
        return tuple(altered)

    return wrapper


def _lacks_status(transform_class: Any) -> bool:
    method = getattr(transform_class, "transform_first_chunk", None)
    try:
        parameters = inspect.signature(method).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # some callables have no signature
        return False
    return list(parameters)[1:] == ["headers", "chunk", "finishing"]


def _with_status(transform_class: Any) -> Any:
    if _lacks_status(transform_class):
        return functools.partial(_StatusKeeper, transform_class)
    return transform_class


class _StatusKeeper(OutputTransform):
    """Adapts a transform without a status: returns the status that it gets."""

    def __init__(self, transform_class: Callable[[Any], Any], request: Any) -> None:
        self._transform = transform_class(request)

    def transform_first_chunk(
        self, status_code: int, headers: Any, chunk: bytes, finishing: bool
    ) -> Any:
        altered = self._transform.transform_first_chunk(headers, chunk, finishing)
        return status_code, *altered

    def transform_chunk(self, chunk: bytes, finishing: bool) -> bytes:
        altered: bytes = self._transform.transform_chunk(chunk, finishing)
        return altered


@ByDefault
def handlers(self: Application) -> list[tuple[Any, list[Any]]]:
    """Return an application's handlers in order, as (host pattern, URLSpecs)."""
    return [
        (
            _pattern_of_hosts(rule.matcher),
            [_as_spec(each) for each in rule.target.rules],
        )
        for rule in self.default_router.rules
    ]


def _as_spec(rule: Rule) -> Any:
    if isinstance(rule, URLSpec) or not isinstance(rule.matcher, PathMatches):
        return rule
    pattern = rule.matcher.regex.pattern
    return URLSpec(pattern, rule.target, rule.target_kwargs, rule.name)


def _pattern_of_hosts(matcher: Any) -> Any:
    return matcher.host_pattern if isinstance(matcher, HostMatches) else ANY_HOST


@ByDefault
def named_handlers(self: Any) -> dict[str, Any]:
    """Return an application's named handlers, by name."""
    return {
        spec.name: spec
        for _pattern, specs in self.handlers
        for spec in specs
        if spec.name
    }


def find_groups(self: URLSpec) -> Any:
    """Return a format string for the matching paths, and the number of groups."""
    return self.matcher._find_groups()  # type: ignore[attr-defined]


path = ByDefault(lambda spec: spec.matcher._path)
group_count = ByDefault(lambda spec: spec.matcher._group_count)
