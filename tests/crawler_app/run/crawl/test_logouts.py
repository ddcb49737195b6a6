"""Links that log out, by their words."""

from urllib.parse import quote

from crawler_app.run.crawl.logouts import TITLES, WORDS, logs_out

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


def test_words_of_all_languages_are_known():
    words = [f"http://a.test/{quote(word)}" for word in WORDS.split()]
    titles = [f"http://a.test/x?title=S:{quote(word)}" for word in TITLES.split()]
    assert [url for url in words + titles if not logs_out(url)] == []
