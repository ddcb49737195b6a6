"""A site whose pages are only for those who are logged in."""

import json
from http.cookies import SimpleCookie

from tests.helpers.site import Site

__all__ = ["PAGES", "PASSWORD", "LoginSite"]

PAGES = 30
PASSWORD = "pass&wörd"

FORM = """<!doctype html><title>Log in</title><form id=search><input name=q></form>
<form id=in method=post action=/login?go><input type=hidden name=csrf value=%s>
<input name=user><input type=password name=pass><button name=do value=in>Go</button></form>"""


class LoginSite(Site):
    """Shows its pages to those who are logged in; forgets them after some requests.

    Attributes:
        forgets_after: Numbers of requests after which the next page finds no session.
        how_out: How it treats visitors: by a redirect, a status, or the form or JSON in place.
        forbidden: Pages that are for no user.
        start: The start page, if it is the same for everyone.
        is_sliding: Whether the session is set anew with each page.
        form_of_user: The login page of those who are logged in; None for the same.
        script: At the end of each page.
        asks_more: What a login shows in place of the start page.
        leads_to: Where a login redirects to.
        login_head, login_cookie: What comes with the form.
    """

    def __init__(self):
        self.sessions = set()
        self.logins = []
        self.forgets_after = []
        self.how_out = "redirect"
        self.forbidden = ()
        self.is_sliding = False
        self.start = self.form_of_user = None
        self.script = self.login_head = self.asks_more = ""
        self.leads_to = "/"
        self.login_cookie = "csrf=t0ken; Path=/"
        self.mark = '<a href="/logout">Log out</a>'
        super().__init__()

    def _write(self, handler, path):
        handler.set_header("Content-Type", "text/html; charset=utf-8")
        cookies = SimpleCookie(handler.request.headers.get("Cookie", ""))
        is_due = self.forgets_after and len(self.requests) >= self.forgets_after[0]
        if is_due and path.startswith("/p"):  # not during a login
            self.forgets_after.pop(0)
            self.sessions.clear()
        session = cookies["sid"].value if "sid" in cookies else ""
        bearer = handler.request.headers.get("Authorization", "")[len("Bearer ") :]
        is_inside = bool({session, bearer} & self.sessions)
        if handler.request.path == "/" and self.start is not None:
            handler.write(self.start)
        elif path.startswith("/login") and is_inside and self.form_of_user is not None:
            handler.write(self.form_of_user)
        elif path.startswith("/login"):
            self._log_in(handler, cookies)
        elif not is_inside or path in self.forbidden:
            self._send_away(handler, path)
        elif path == "/logout":
            self.sessions.clear()
        elif path == "/broken":
            handler.set_status(500)
        else:
            links = "".join(f'<a href="/p{n}">x</a>' for n in range(PAGES))
            mark = "" if path == "/p7" else self.mark
            handler.write(f"<title>{path}</title>{mark}{links}<a href=/private>x</a>")
            handler.write(self.script)
            if self.is_sliding:
                handler.set_header("Set-Cookie", f"sid={session}; Path=/; HttpOnly")

    def _log_in(self, handler, cookies):
        if handler.request.method == "GET":
            self._show_form(handler)
            return
        is_json = handler.request.headers["Content-Type"] == "application/json"
        if is_json:
            given = json.loads(handler.request.body)
        else:
            given = {k: v[0].decode() for k, v in handler.request.arguments.items()}
            assert (given["csrf"], cookies["csrf"].value) == ("t0ken", "t0ken")
            assert given["do"] == "in"
        self.logins.append(given)
        if given["pass"] != PASSWORD:
            handler.write(FORM % "t0ken")
            return
        session = f"s{len(self.logins)}"
        self.sessions.add(session)
        if is_json:
            handler.write(json.dumps({"data": [{"token": session}]}))
        elif self.asks_more:
            handler.write(self.asks_more)
        else:
            handler.set_header("Set-Cookie", f"sid={session}; Path=/; HttpOnly")
            handler.redirect(self.leads_to)

    def _show_form(self, handler):
        handler.set_header("Set-Cookie", self.login_cookie)
        handler.write(self.login_head + FORM % "t0ken")

    def _send_away(self, handler, path):
        if self.how_out == "redirect":
            handler.redirect("/login?next=" + path)
        elif self.how_out == "in place":
            self._show_form(handler)
        elif self.how_out == "json":
            handler.write({"error": "login"})
        else:
            handler.set_status(int(self.how_out))
