"""What Tornado 6.7 and Python 3.16 have announced, as if it were there."""

import sys

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from gencoro.compat.modules import application, httputil
from tests.helpers.compat.rows import uses
from tests.helpers.scripts import printed_by


def run(source):
    return printed_by(source, "-W", "error")


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (("GET", "/", "HTTP/1.1", HTTPHeaders({"Host": "a"})), {}),
        (("GET", "/"), {"host": "a", "remote_ip": "1.2.3.4"}),
        ((), {"method": "GET", "uri": "/", "body": b"x"}),
        ((None,) * 8 + (RequestStartLine("GET", "/", "HTTP/1.0"),), {}),
    ],
)
def test_request_takes_keywords_and_a_start_line_only(args, kwargs):
    given = []

    def of_tornado_6_7(
        self, *, start_line, headers=None, body=None, files=None, connection=None,
        server_connection=None,
    ):  # fmt: skip
        given.append((tuple(start_line)[:2], (headers or {}).get("Host")))

    request = HTTPServerRequest.__new__(HTTPServerRequest)
    httputil.request(of_tornado_6_7)(request, *args, **kwargs)

    host = "a" if "host" in kwargs or len(args) == 4 else None
    assert given == [(("GET", "/"), host)]


@pytest.mark.parametrize("is_legacy", [False, True])
def test_legacy_application_accepts_requests_of_other_origins(
    site, monkeypatch, is_legacy
):
    from tornado.web import Application, RequestHandler

    class Page(RequestHandler):
        def post(self):
            self.write("posted")

    def protecting(self, *args, **settings):
        plain(self, *args, **{"cross_origin_protection": True, **settings})

    plain = Application.__init__.__wrapped__
    monkeypatch.setattr(application, "PROTECTS_BY_DEFAULT", True)
    monkeypatch.setattr(Application, "__init__", application.application(protecting))
    namespace = {"Application": Application, "Page": Page, "__name__": "written_then"}
    module = type(sys)("written_then")
    monkeypatch.setitem(sys.modules, "written_then", module)
    monkeypatch.setattr(
        application, "is_module_legacy", lambda m: m is module and is_legacy
    )
    exec("made = Application([('/', Page)])", namespace)  # noqa: S102
    site.serve(namespace["made"])

    headers = {"Origin": "http://elsewhere.test"}
    answer = site.fetch(method="POST", body="", headers=headers)

    assert answer.code == (200 if is_legacy else 403)


def test_sign_in_by_openid_is_gone():
    assert (
        run(
            "import warnings\n"
            "with warnings.catch_warnings(action='ignore'): import tornado.auth\n"
            "vars(tornado.auth).pop('OpenIdMixin', None)\n"
            "import gencoro.compat; gencoro.compat.install()\n"
            "print(tornado.auth.OAuthMixin.get_authenticated_user.__module__)\n"
        )
        == "tornado.auth\n"
    )


@uses(
    "asyncio.AbstractEventLoopPolicy",
    "asyncio.DefaultEventLoopPolicy",
    "asyncio.get_event_loop_policy",
    "asyncio.iscoroutinefunction",
    "asyncio.set_event_loop_policy",
)
def test_event_loop_policies_of_asyncio_are_gone():
    printed = run("""
import asyncio, warnings
first = asyncio.new_event_loop()
asyncio.set_event_loop(first)  # with asyncio's own policy, if it has one
for name in dir(asyncio):
    if "EventLoopPolicy" in name or name.endswith(("loop_policy", "iscoroutinefunction")):
        vars(asyncio).pop(name, None)
vars(asyncio).pop("__getattr__", None)
import gencoro.compat
gencoro.compat.install()
from tornado import gen, ioloop

class Loop(asyncio.SelectorEventLoop):
    pass

class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        return Loop()

assert asyncio.get_event_loop_policy().get_event_loop() is asyncio.get_event_loop()
assert issubclass(Policy, asyncio.AbstractEventLoopPolicy)
asyncio.set_event_loop_policy(Policy())
loop = ioloop.IOLoop(make_current=False)
print(type(loop.asyncio_loop).__name__, loop.run_sync(lambda: gen.sleep(0)))
loop.close()
asyncio.set_event_loop_policy(None)
own = asyncio.get_event_loop_policy().new_event_loop()
asyncio.get_event_loop_policy().set_event_loop(own)
print(type(own) is Loop, asyncio.iscoroutinefunction(print))
asyncio.set_event_loop(None)
own.close()
first.close()
""")
    assert printed == "Loop None\nFalse False\n"
