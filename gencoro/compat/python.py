"""Replacements for names that the standard library has removed.

They are installed only where Python no longer has the name.
"""

import functools
import html
import inspect
import ssl
import types
from collections.abc import Callable, Mapping, Sequence
from socket import socket
from typing import Any, NamedTuple

__all__ = [
    "ArgSpec",
    "coroutine",
    "escape",
    "formatargspec",
    "getargspec",
    "wrap_socket",
]


class ArgSpec(NamedTuple):
    """The result of `getargspec`."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """Return the parameters of a function, in the form of Python 2.

    Raises:
        ValueError: the function has keyword-only parameters or annotations.

    >>> getargspec(lambda a, b=1, *c, **d: None)
    ArgSpec(args=['a', 'b'], varargs='c', keywords='d', defaults=(1,))
    """
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError(
            f"getargspec({func!r}): the function has keyword-only parameters or "
            "annotations; "
            "use inspect.getfullargspec"
        )
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def formatargspec(
    args: Sequence[str],
    varargs: str | None = None,
    varkw: str | None = None,
    defaults: Sequence[Any] | None = None,
    kwonlyargs: Sequence[str] = (),
    kwonlydefaults: Mapping[str, Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
    formatarg: Callable[[str], str] = str,
    formatvarargs: Callable[[str], str] = "*{}".format,
    formatvarkw: Callable[[str], str] = "**{}".format,
    formatvalue: Callable[[Any], str] = "={!r}".format,
    formatreturns: Callable[[str], str] = " -> {}".format,
    formatannotation: Callable[[Any], str] = inspect.formatannotation,
) -> str:
    """Return parameters as they are written in a ``def``.

    >>> def tea(cups, *more, sugar: int = 1, **options) -> str: ...
    >>> formatargspec(*inspect.getfullargspec(tea))
    '(cups, *more, sugar: int=1, **options) -> str'
    >>> formatargspec(*getargspec(lambda a, b="x": None))
    "(a, b='x')"
    """
    annotations = annotations or {}

    def written(name: str) -> str:
        text = formatarg(name)
        if name in annotations:
            text += ": " + formatannotation(annotations[name])
        return text

    values = dict(zip(reversed(args), reversed(defaults or ()), strict=False))
    values.update(kwonlydefaults or {})

    def with_value(name: str) -> str:
        return written(name) + (formatvalue(values[name]) if name in values else "")

    specs = [with_value(name) for name in args]
    if varargs is not None:
        specs.append(formatvarargs(written(varargs)))
    elif kwonlyargs:
        specs.append("*")
    specs += [with_value(name) for name in kwonlyargs]
    if varkw is not None:
        specs.append(formatvarkw(written(varkw)))
    text = "(" + ", ".join(specs) + ")"
    if "return" in annotations:
        text += formatreturns(formatannotation(annotations["return"]))
    return text


def coroutine(func: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a generator function, or any other function, into an asyncio coroutine.

    >>> import asyncio
    >>> @coroutine
    ... def nap():
    ...     yield from asyncio.sleep(0.001)
    ...     return 42
    >>> asyncio.run(nap())
    42
    """
    if inspect.iscoroutinefunction(func):
        return func
    generator_function = func
    if not inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def generator_function(*args: Any, **kwargs: Any) -> Any:
            result: Any = func(*args, **kwargs)
            is_to_be_run = inspect.isawaitable(result) or inspect.isgenerator(result)
            return (yield from result) if is_to_be_run else result

    return _as_native(types.coroutine(generator_function))


def _as_native(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a call return a native coroutine, as `asyncio.run` and Tasks require."""

    @functools.wraps(func)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await func(*args, **kwargs)

    return call


def escape(s: str, quote: bool = False) -> str:
    """Escape a text for HTML; quotes only if ``quote`` is true.

    >>> escape("<'x' & \\"y\\">"), escape('"', quote=True)
    ('&lt;\\'x\\' &amp; "y"&gt;', '&quot;')
    """
    escaped = html.escape(s, quote=False)
    return escaped.replace('"', "&quot;") if quote else escaped


def wrap_socket(
    sock: socket,
    keyfile: str | None = None,
    certfile: str | None = None,
    server_side: bool = False,
    cert_reqs: ssl.VerifyMode = ssl.CERT_NONE,
    ssl_version: Any = None,
    ca_certs: str | None = None,
    do_handshake_on_connect: bool = True,
    suppress_ragged_eofs: bool = True,
    ciphers: str | None = None,
) -> ssl.SSLSocket:
    """Wrap a socket in TLS; the peer is verified only if ``cert_reqs`` says so.

    Args:
        ssl_version: Has no effect: both sides use the best version they support.
    """
    del ssl_version
    protocol = ssl.PROTOCOL_TLS_SERVER if server_side else ssl.PROTOCOL_TLS_CLIENT
    context = ssl.SSLContext(protocol)
    context.check_hostname = False
    context.verify_mode = cert_reqs
    if ca_certs is not None:
        context.load_verify_locations(ca_certs)
    if certfile is not None:
        context.load_cert_chain(certfile, keyfile)
    if ciphers is not None:
        context.set_ciphers(ciphers)
    return context.wrap_socket(
        sock,
        server_side=server_side,
        do_handshake_on_connect=do_handshake_on_connect,
        suppress_ragged_eofs=suppress_ragged_eofs,
    )
