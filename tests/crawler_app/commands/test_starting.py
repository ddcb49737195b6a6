"""Start URLs without a scheme, and those that lead to a login page."""

import contextlib
import socket
import threading

import pytest

from crawler_app.commands import scheme_guess
from crawler_app.commands.scheme_guess import with_schemes
from tests.helpers.http.certificates import certificates
from tests.helpers.http.peers import refusing_port

__all__ = ["certificates"]

LOGIN = b"<form method=post><input name=u><input name=p type=Password></form>"


@contextlib.contextmanager
def answering_once(context):
    """Serve two connections on loopback, with TLS if there is a context; yield the port."""

    def serve():
        for _ in range(1 if context else 2):
            sock, _ = listener.accept()
            with contextlib.suppress(OSError), sock:
                if context:
                    context.wrap_socket(sock, server_side=True).close()
                else:
                    sock.recv(1)
                    sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_scheme_is_that_which_the_server_speaks(scheme, certificates, capsys):
    context = certificates.server_context() if scheme == "https" else None

    with answering_once(context) as port:
        (url,) = with_schemes([f"127.0.0.1:{port}/a?b"], False)

    assert url == f"{scheme}://127.0.0.1:{port}/a?b"
    assert f"Starting at {url}" in capsys.readouterr().err


def test_scheme_is_https_if_nothing_answers_or_a_proxy_would_be_passed():
    port, sock = refusing_port()

    with sock:
        (silent,) = with_schemes([f"127.0.0.1:{port}"], False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        (hidden,) = with_schemes([f"127.0.0.1:{listener.getsockname()[1]}"], True)
        with pytest.raises(BlockingIOError):
            listener.accept()

    assert silent.startswith("https://")
    assert hidden.startswith("https://")


@pytest.mark.parametrize(
    "seed", ["http://a.test/", "me:word@a.test", "./a.test", "/a.test/x", "word", ""]
)
def test_what_is_no_host_is_left_to_the_check_of_start_urls(seed):
    assert with_schemes([seed], False) == [seed]


def test_crawl_begins_without_a_scheme(site, gencrawl, tmp_path, monkeypatch):
    # The site waits for more in TLS; a connection on loopback takes no time.
    monkeypatch.setattr(scheme_guess, "ASK_FOR_S", 0.3)
    site.page("/")

    ended = gencrawl(
        "crawl", site.url.removeprefix("http://"), "--into", tmp_path / "x"
    )

    assert ended.status == 0, ended.err
    assert f"Starting at {site.url}" in ended.err


@pytest.mark.parametrize("given", [(), ("--auth", "me:word")])
@pytest.mark.parametrize("command", ["crawl", "check"])
def test_start_that_leads_to_a_login_page_is_named(
    site, gencrawl, tmp_path, command, given
):
    site.redirect("/", "/login")
    site.answer("/login", LOGIN, headers={"Content-Type": "text/html"})

    ended = gencrawl(command, site.url, "--into", tmp_path / "x", *given)

    cure = (
        "is not accepted, or has expired."
        if given
        else "with --cookies, or --login RECIPE."
    )
    lines = (ended.out + ended.err).splitlines()
    (line,) = [each for each in lines if "asks for a password" in each]
    assert f"{site.url} leads to {site.url}login, which asks for" in line
    assert line.endswith(cure)

    assert ended.status == (1 if command == "check" else 0)


@pytest.mark.parametrize("links", [3, 20])
def test_start_that_is_only_a_login_page_leaves_a_check_incomplete(
    site, gencrawl, links
):
    paths = [f"/{number}" for number in range(links)]
    anchors = "".join(f'<a href="{path}">x</a>' for path in paths)
    site.answer("/", LOGIN + anchors.encode())
    site.pages(*paths)

    ended = gencrawl("check", site.url)

    is_mere = links == 3
    assert (
        "is a login page, which asks for a password" in ended.out + ended.err
    ) is is_mere
    assert ended.status == int(is_mere)
