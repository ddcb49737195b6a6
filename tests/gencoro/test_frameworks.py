"""Coroutines as the handlers of other frameworks, served by their own servers."""

import asyncio
import contextlib
import copy
import functools
import inspect
import socket
import sys
import unittest.mock

import pytest
from tornado.httpclient import AsyncHTTPClient

from gencoro import gen

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


async def fetch(listening, path):
    """Return the status and the body of a page."""
    client = AsyncHTTPClient(force_instance=True)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}{path}"
    with contextlib.closing(client):
        response = await client.fetch(url, raise_error=False)
    return response.code, response.body.decode()


def served_by_uvicorn(application, listening, *paths):
    """Return the pages that uvicorn serves for an ASGI application."""
    uvicorn = pytest.importorskip("uvicorn")
    config = uvicorn.Config(application, log_level="warning", lifespan="off")

    async def main():
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        pages = [await fetch(listening, path) for path in paths]
        server.should_exit = True
        await serving
        return pages

    return asyncio.run(main())


def test_starlette(listening):
    pytest.importorskip("starlette")
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    @gen.coroutine
    def page(request):
        yield gen.sleep(0)
        return PlainTextResponse(request.path_params["name"])

    class Page:
        @gen.coroutine
        def method(self, request):
            return (yield page(request))

    routes = [Route("/f/{name}", page), Route("/m/{name}", Page().method)]
    pages = served_by_uvicorn(Starlette(routes=routes), listening, "/f/tea", "/m/cake")

    assert pages == [(200, "tea"), (200, "cake")]


def test_fastapi(listening):
    pytest.importorskip("fastapi")
    from fastapi import Depends, FastAPI

    app = FastAPI()

    @gen.coroutine
    def doubled(number: "int"):  # resolved among the names of this module
        yield gen.sleep(0)
        return 2 * number

    @app.get("/double/{number}")
    @gen.coroutine
    def double(number: int, result: int = Depends(doubled)):
        yield gen.sleep(0)
        return {"number": number, "result": result}

    pages = served_by_uvicorn(app, listening, "/double/4", "/double/four")

    assert pages[0] == (200, '{"number":4,"result":8}')
    assert pages[1][0] == 422


def test_django(listening, monkeypatch):
    django = pytest.importorskip("django")
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.http import HttpResponse
    from django.urls import path

    @gen.coroutine
    def view(request, number):
        yield gen.sleep(0)
        return HttpResponse(f"{request.method} {number}")

    monkeypatch.setattr(
        sys.modules[__name__],
        "urlpatterns",
        [path("<int:number>", view)],
        raising=False,
    )
    if not settings.configured:
        settings.configure(
            ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], LOGGING_CONFIG=None
        )
        django.setup()

    pages = served_by_uvicorn(get_asgi_application(), listening, "/4", "/four")

    assert pages[0] == (200, "GET 4")
    assert pages[1][0] == 404


def test_aiohttp(listening):
    web = pytest.importorskip("aiohttp.web")

    @gen.coroutine
    def page(request):
        yield gen.sleep(0)
        return web.Response(text=request.match_info["name"])

    async def main():
        app = web.Application()
        app.router.add_get("/{name}", page)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.SockSite(runner, listening).start()
        try:
            return await fetch(listening, "/tea")
        finally:
            await runner.cleanup()

    assert asyncio.run(main()) == (200, "tea")


@gen.coroutine
def add(a: int, b: int = 1) -> "int":
    """Add two numbers."""
    yield gen.sleep(0)
    return a + b


def test_coroutine_is_an_async_function_for_who_asks():
    if sys.version_info < (3, 14):  # Python 3.16 removes it
        assert asyncio.iscoroutinefunction(add)
    if sys.version_info >= (3, 12):
        assert inspect.iscoroutinefunction(add)
        assert inspect.iscoroutinefunction(functools.partial(add, 1))
    assert not any(inspect.isgeneratorfunction(f) for f in (add, inspect.unwrap(add)))
    assert str(inspect.signature(add)) == "(a: int, b: int = 1) -> 'int'"
    assert copy.deepcopy(inspect.signature(add)) == inspect.signature(add)
    assert str(inspect.signature(add).replace(parameters=[])) == "() -> 'int'"
    assert inspect.signature(add).bind(1).arguments == {"a": 1}
    assert inspect.unwrap(add).__globals__ is globals()
    assert inspect.getsource(add).startswith("@gen.coroutine\ndef add(a: int")


def test_mock_of_a_coroutine_can_be_yielded():
    module = sys.modules[__name__]

    @gen.coroutine
    def main():
        with unittest.mock.patch.object(module, "add", return_value=42):
            return (yield module.add(1))

    async def run():
        return await main()

    assert asyncio.run(run()) == 42
