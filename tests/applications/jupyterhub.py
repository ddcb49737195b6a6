"""JupyterHub, which starts a notebook server for each user who logs in."""

import asyncio
import contextlib
import urllib.request
from http.cookiejar import CookieJar
from urllib.parse import urlencode

from tests.applications.application import Application, Environment
from tests.applications.notebook_client import Client
from tests.applications.notebook_requirements import FOR_NEW, FOR_OLD
from tests.applications.processes import Running

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    jupyterhub==0.9.6
    notebook==5.4.1
    alembic==1.0.11
    async_generator==1.10
    certipy==0.1.3
    jupyterhub-dummyauthenticator==0.3.1
    jupyterhub-simplespawner==0.1
    pamela==1.2.0
    python_oauth2==1.0.1
    sqlalchemy==1.2.19
"""

# Python 3.6 ended with these.  JupyterHub 0.9 needs Tornado 5.
FURTHER_FOR_OLD = """
    tornado==5.1.1
    certifi==2021.10.8
    cffi==1.15.1
    charset-normalizer==2.0.12
    cryptography==36.0.2
    idna==3.4
    mako==1.1.6
    prometheus_client==0.12.0
    pycparser==2.21
    pyopenssl==22.0.0
    python_editor==1.0.4
    requests==2.27.1
    send2trash==1.8.0
    urllib3==1.26.15
"""

PROXY = ("configurable-http-proxy@4.6.3",)


class Browser:
    """Follows redirects and keeps cookies, as a user's browser does."""

    def __init__(self) -> None:
        self._jar = CookieJar()
        cookies = urllib.request.HTTPCookieProcessor(self._jar)
        self._opener = urllib.request.build_opener(cookies)

    async def open(self, url: str, form: dict[str, str] | None = None) -> str:
        """Return a page; with a form, the one after it has been sent."""
        body = None if form is None else urlencode(form).encode()
        return await asyncio.to_thread(self._open, url, body)

    def _open(self, url: str, body: bytes | None) -> str:
        with self._opener.open(url, body, timeout=60) as response:
            return str(response.read().decode())

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers with which a page at this URL calls its server's API."""
        request = urllib.request.Request(url)
        self._jar.add_cookie_header(request)
        tokens = [cookie.value for cookie in self._jar if cookie.name == "_xsrf"]
        return {
            "Cookie": request.get_header("Cookie", ""),
            "X-XSRFToken": tokens[-1] or "",
        }


async def use_hub(program: Running) -> None:
    """Log in, start a server, and run a cell in it."""
    hub = f"http://127.0.0.1:{program.port}"
    browser = Browser()
    async with program.step("the login page opens"):
        while "username_input" not in await _page(browser, f"{hub}/hub/login"):
            await asyncio.sleep(0.2)  # the proxy is there before the hub
    async with program.step("a user logs in, and a server starts"):
        page = await browser.open(
            f"{hub}/hub/login", {"username": "ann", "password": "x"}
        )
        while "notebook_list" not in page:
            await asyncio.sleep(0.2)
            page = await browser.open(f"{hub}/user/ann/tree")
    client = Client(f"{hub}/user/ann", browser.headers(f"{hub}/user/ann/api"))
    async with program.step("a cell runs"):
        kernel_id = (await client.post("/api/kernels"))["id"]
        async with client.kernel(f"/api/kernels/{kernel_id}") as kernel:
            assert await kernel.printed("print(6 * 7)") == "42\n"
    async with program.step("the server is stopped"):
        home = browser.headers(f"{hub}/hub/api") | {"Referer": f"{hub}/hub/home"}
        await Client(hub, home).delete("/hub/api/users/ann/server")
        assert "my server" in (await browser.open(f"{hub}/hub/home")).lower()


async def _page(browser: Browser, url: str) -> str:
    with contextlib.suppress(OSError):
        return await browser.open(url)
    return ""


APPLICATION = Application(
    name="JupyterHub",
    version="0.9.6",
    job=use_hub,
    command="-m jupyterhub",
    options=("-f", "{here}/files/jupyterhub_config.py", "--port={port}"),
    variables={"HUB_URL": "http://127.0.0.1:{port}"},
    new=Environment(
        REQUIREMENTS + "requests==2.31.0" + FOR_NEW,
        npm=PROXY,
    ),
    old=Environment(REQUIREMENTS + FURTHER_FOR_OLD + FOR_OLD, python="3.6", npm=PROXY),
)
