"""Links that log out, by their words."""

from crawler_app.run.crawl.logouts import logs_out

LOGOUTS = [
    "/logout",
    "/user/sign_out",
    "/log-off.aspx",
    "/a/Logout!default.jspa",
    "/x?action=logout",
    "/wp-login.php?action=logout&n=1",
    "/index.php?title=Spezial:Abmelden",
    "/wiki/Sp%C3%A9cial:D%C3%A9connexion",
    "/wiki/Speciale:Esci",
    "/?task=user.logout",
    "/?logout",
    "/ucp.php?mode=logout&sid=1",
]
OTHERS = [
    "/esci",
    "/logouts",
    "/how-to-logout",
    "/login?next=/logout",
    "/p?q=a:b",
    "/signage",
    "/logout-help/x",
]


def test_links_that_log_out_are_known():
    host = "http://a.test"
    assert [path for path in LOGOUTS if not logs_out(host + path)] == []
    assert [path for path in OTHERS if logs_out(host + path)] == []
