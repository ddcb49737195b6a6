"""Recognizes URLs that end a session, which a crawl that is logged in does not ask for.

Pure.  By the words of a URL alone: what a link says, and in which language, is up to the site.
"""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["logs_out"]

# As a whole part of a path, or the name or the value of a parameter; without "-", "_", "." and
# spaces.  Sources: the paths of Django, Rails (Devise), Gitea, GitLab, Drupal, phpBB, Nextcloud,
# Keycloak, Shibboleth, Spring, ASP.NET, OAuth2 Proxy, and their translations.
WORDS = """
    logout logoff logoutuser logmeout dologout userlogout signout signoff endsession
    exitsession endsessionendpoint destroysession abmelden ausloggen deconnexion déconnexion
    sedeconnecter cerrarsesion cerrarsesión desconectar disconnetti uitloggen afmelden loggaut
    loggaud logud kirjauduulos wyloguj odhlasit odhlásit kijelentkezés выход выйти ログアウト 로그아웃
    退出登录 登出
"""

# Of MediaWiki's page Special:UserLogout in other languages, after the name of the namespace.
# Source: the aliases of "Userlogout" in languages/messages of MediaWiki 1.39, those that are
# no word above.
TITLES = """
    aafmelje abmälde afmellen aofmelden atsijungimas brugerlogud claudersession dalja
    daljepërdoruesi desconnexion digevreañimplijer disconnecter ekirar elsaluti esci
    finalitzasessió ieșire isci keluarlog kilépés korisničkaodjava kullanıcıçıkış
    kullanıcıoturumukapatma logkeluar logut logget loggut odhláseniepoužívateľa odjava ofmeld
    pagalissapagkalagdangtagagamit rematarsesión sair salidadelusuario salir saíraoanonimato
    sciorti tekenuit teubietlog uscita utloggning väljalogimine wotzjewić útskrá đăngxuất
    αποσύνδεσηχρήστη вихід завершениесеанса излизане корисничкаодјава одјавување қатысушышығуы
    מהחשבון יציאה יציאהמהחשבון خروجازسامانه خروجالمستخدم लॉगआउट सदस्यबहिर्गमन প্রস্থান
    ব্যবহারকারীপ্রস্থান ล็อกเอาต์ გასვლა 사용자로그아웃 使用者登出 用戶登出 用户退出 退出
"""

_WORDS, _TITLES = frozenset(WORDS.split()), frozenset(TITLES.split())

# Before a URL is taken apart; most have none of these.
_SUSPICIOUS = re.compile(
    r"log|sign|ses|conn?e|meld|ulos|hlas|[%:?]|[^\x00-\x7f]", re.IGNORECASE
)
_SUFFIX = re.compile(r"(?:![a-z]+)?\.(?:action|aspx?|cgi|do|html?|jspa?|php)$")
_JOINTS = re.compile(r"[-_. \u200c]")


def logs_out(url: str) -> bool:
    """Return whether a canonical URL ends the session of the user who asks for it.

    >>> logs_out("http://a.test/accounts/sign-out/"), logs_out("http://a.test/docs/logouts/")
    (True, False)
    >>> logs_out("http://a.test/wp-login.php?action=logout&_wpnonce=7")
    True
    >>> logs_out("http://a.test/index.php?title=Spezial:Abmelden")
    True
    """
    if not _SUSPICIOUS.search(url, url.find("//") + 2):
        return False
    parts = urlsplit(url)
    segments = [segment for segment in unquote(parts.path).split("/") if segment]
    if any(map(_is_word, segments)):
        return True
    try:
        query = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)
    except ValueError:  # a URL of a thousand parameters is no link to log out
        return False
    return any(_is_word(word) for pair in query for word in pair)


def _is_word(text: str) -> bool:
    text = _SUFFIX.sub("", text.casefold())
    # Joomla's task=user.logout, and a title with its namespace.
    last = re.split("[.:]", text)[-1]
    if ":" in text and _joined(last) in _TITLES:
        return True
    return _joined(text) in _WORDS or _joined(last) in _WORDS


def _joined(text: str) -> str:
    return _JOINTS.sub("", text)
