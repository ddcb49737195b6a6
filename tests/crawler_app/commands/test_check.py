"""``gencrawl check``: output, formats and exit status."""

import io
import json
import os
import signal
import sys

import pytest

from crawler_app.base.reasons import Reason, meaning_of, never_checked
from tests.helpers.scripts import start_gencrawl
from tests.helpers.site import Answer

PAGE = b"""<!doctype html>
<p><a href="gone">The <b>lost</b> page</a> <a href="there#nowhere">x</a>
<img src="gone.png">"""


@pytest.fixture
def faulty(site):
    """Return a site with three faults."""
    site.answer("/", PAGE)
    site.page("/there")
    return site


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of files with a fault, in the working directory."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "public"
    (root / "sub folder").mkdir(parents=True)
    (root / "index.html").write_text('<a href="sub%20folder">x</a><a href=a.html>x</a>')
    (root / "sub folder" / "index.html").write_text('<p>\n<a href="../gone">x</a>')
    (root / "a.html").write_text("<link rel=stylesheet href=a.css>")
    (root / "orphan.html").write_text("<img src=none.png>")
    (root / "a.css").write_text("p { x: url(none.png) }")
    return root


@pytest.fixture
def found(gencrawl):
    """Return a function that returns the findings of a check."""
    options = ("--format", "json")
    return lambda *words: json.loads(gencrawl("check", *words, *options).out)[
        "findings"
    ]


@pytest.mark.parametrize(
    ("text", "given", "kinds"),
    [
        ("format = 'jsonl'", (), {"broken", "fragments"}),
        ("format = 'csv'", ("--format", "jsonl"), {"broken", "fragments"}),
        ("format = 'jsonl'\nignore = 'gone'", (), {"fragments"}),
        ("format = 'jsonl'\nignore = 'gone'", ("--ignore", "there"), {"broken"}),
        ("format = 'jsonl'\nfail-on = ['external', 'mixed,malformed']", (), None),
        ("format = 'jsonl'\nbaseline = 'accepted.json'\nprocesses = 2", (), set()),
        (
            "format = 'jsonl'\nfrontier = 'postgresql://b.test/c'",
            ("--config", "gencrawl.toml"),
            {"broken", "fragments"},
        ),
        ("format = 'jsonl'\nexternal_fragments = true", (), {"broken", "fragments"}),
    ],
)
def test_options_of_a_check_can_be_in_a_file(
    faulty, gencrawl, tmp_path, monkeypatch, text, given, kinds
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gencrawl.toml").write_text(f"seeds = '{faulty.url}'\n{text}")
    gencrawl("check", "--baseline", "accepted.json", "--format", "text")

    ended = gencrawl("check", *given)

    found = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.status == (3 if kinds else 0)
    if kinds is not None:
        counted = [e for e in found if "kind" in e and not e["is_accepted"]]
        assert {each["kind"] for each in counted} == kinds


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("format = 'html'", "format is 'html'; it must be text or json or"),
        ("fail-on = 'broken,dead'", "fail-on is 'dead'; it must be one of broken"),
        ("ignore = '('", "ignore has '(', which is not a valid regular expression"),
        ("update-baseline = true", "there is no option 'update-baseline'"),
    ],
)
@pytest.mark.parametrize("command", ["check", "crawl"])
def test_check_options_in_a_file_are_always_validated(
    gencrawl, tmp_path, monkeypatch, command, text, complaint
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gencrawl.toml").write_text(text)

    ended = gencrawl(command, "http://a.test/", "--into", "x")

    assert ended.status == 2
    assert f"gencrawl: gencrawl.toml: {complaint}" in ended.err


def test_crawl_ignores_check_options_in_a_file(faulty, gencrawl, tmp_path):
    file = tmp_path / "site.toml"
    file.write_text(f"seeds = '{faulty.url}'\ninto = 'x'\nignore = '.'\nformat = 'csv'")

    assert gencrawl("crawl", "--config", file, "--quiet").status == 0
    assert "/gone" in faulty.paths


def test_csv_begins_with_the_names_of_its_columns(faulty, gencrawl):
    rows = gencrawl("check", faulty.url, "--format", "csv").out.splitlines()

    assert rows[0].startswith("kind,")
    assert len(rows) == 4


def test_verbose_shows_each_request_beside_the_findings(faulty, gencrawl):
    ended = gencrawl("check", faulty.url, "-v")

    assert f"GET {faulty.url}gone -> 404, " in ended.err
    assert f"failed {faulty.url}gone (http_404)" in ended.err
    assert "GET" not in gencrawl("check", faulty.url, "--quiet").err


def test_each_finding_is_a_line_with_its_place(faulty, gencrawl):
    ended = gencrawl("check", faulty.url)

    url = faulty.url
    lines = ended.out.splitlines()
    assert ended.status == 3
    assert sorted(lines[:3]) == sorted(
        [
            f'{url}:2:13: "The lost page" -> {url}gone  404 Not Found',
            f'{url}:2:53: "x" -> {url}there  there is no "#nowhere" on the page',
            f'{url}:3:11: "<img src>" -> {url}gone.png  404 Not Found',
        ]
    )
    assert lines[3:] == [
        "",
        "3 findings: 2 broken, 1 fragment",
        "Checked: 3 references in 2 documents, to 4 URLs.",
        f"Not checked: {never_checked()}.",
    ]


def test_clean_report_names_unchecked_urls(site, gencrawl):
    site.page("/", "http://elsewhere.test/")

    ended = gencrawl("check", site.url, "--no-external", "--assets", "none")

    assert ended.status == 0
    unchecked = (
        f"Not checked: 1 ({meaning_of(Reason.OUT_OF_SCOPE)}); images, style sheets"
    )
    assert ended.out.splitlines() == [
        "No findings",
        "Checked: 1 reference in 1 document, to 1 URL.",
        f"{unchecked}, scripts and frames; {never_checked()}.",
    ]


def test_permanent_redirects_are_found_if_asked_for(site, gencrawl):
    site.page("/", "old")
    site.redirect("/old", site.url + "newer", status=301)
    site.redirect("/newer", site.url + "new", status=301)
    site.page("/new")

    assert gencrawl("check", site.url).status == 0
    ended = gencrawl("check", site.url, "--fail-on", "redirects")
    assert ended.status == 3
    moved = f"moved permanently to {site.url}new, through a chain of 2 redirects\n"
    assert moved in ended.out


def test_baseline_accepts_what_was_found_before(faulty, gencrawl, tmp_path):
    baseline = tmp_path / "accepted.json"
    arguments = ("check", faulty.url, "--baseline", baseline)

    first = gencrawl(*arguments)
    second = gencrawl(*arguments)
    faulty.answer("/new", b"<a href=gone2>x</a>")
    faulty._answers["/"].clear()
    faulty.answer(
        "/", b"\n\n" + PAGE.replace(b'<img src="gone.png">', b"<a href=new>x</a>")
    )
    third = gencrawl(*arguments)
    fourth = gencrawl(*arguments, "--update-baseline")
    fifth = gencrawl(*arguments)

    assert (first.status, second.status) == (0, 0)
    assert f"Wrote {baseline}" in first.err
    assert "Left out: 3 accepted, 0 ignored." in second.out
    assert third.status == 3
    assert third.out.startswith(f'{faulty.url}new:1:9: "x" -> {faulty.url}gone2')
    assert "1 accepted finding is fixed; --update-baseline takes it off" in third.err
    assert (fourth.status, fifth.status) == (0, 0)


@pytest.mark.parametrize("text", ["", "{}", '{"format": "other", "findings": []}'])
def test_invalid_baseline_file_is_refused(gencrawl, tmp_path, text):
    (tmp_path / "b").write_text(text)

    ended = gencrawl("check", "http://a.test/", "--baseline", tmp_path / "b")

    assert ended.status == 2
    assert "is not a baseline" in ended.err


def test_baseline_is_independent_of_the_folder_spelling(folder, gencrawl, monkeypatch):
    baseline = folder.parent / "accepted.json"
    gencrawl("check", "public", "--baseline", baseline)

    for working_directory, name in ((".", folder), (folder / "sub folder", "..")):
        monkeypatch.chdir(working_directory)
        ended = gencrawl("check", name, "--baseline", baseline)

        assert ended.status == 0
        assert "Left out: 3 accepted" in ended.out
    folder.rename(folder.parent / "other")
    assert (
        gencrawl("check", folder.parent / "other", "--baseline", baseline).status == 0
    )


def test_status_of_a_check_names_what_was_checked(folder, gencrawl, faulty):
    gencrawl("check", "public", "--into", "kept")
    gencrawl("check", faulty.url, f"{faulty.url}there", "--into", "site")

    of_folder, of_site = (gencrawl("status", name).out for name in ("kept", "site"))

    assert f"\ncheck of {folder}\nfinished on" in of_folder
    assert gencrawl.json("status", "kept", "--json")["folders"] == [str(folder)]
    assert f"\ncrawl of {faulty.url} and 1 other URL\nfinished on" in of_site


def test_folder_is_checked_with_all_its_pages(folder, gencrawl):
    ended = gencrawl("check", "public/")

    assert ended.status == 3
    assert sorted(ended.out.splitlines()[:3]) == [
        'public/a.css:1:12: "url()" -> public/none.png  404 Not Found',
        'public/orphan.html:1:10: "<img src>" -> public/none.png  404 Not Found',
        'public/sub folder/index.html:2:10: "x" -> public/gone  404 Not Found',
    ]
    assert gencrawl("check", "public/", "--fail-on", "redirects").status == 3


def test_file_is_checked_with_what_it_leads_to(folder, found):
    (finding,) = found("public/a.html")

    assert finding["page"] == "public/a.css"


def test_folder_is_checked_into_a_directory_again(folder, gencrawl):
    first = gencrawl("check", "public", "--into", "kept")
    (folder / "orphan.html").unlink()
    (folder / "new.html").write_text("<a href=gone2>x</a>")
    second = gencrawl("check", "public/", "--into", "kept")

    assert (first.status, second.status) == (3, 3)
    wanted = "Compared with the last check: 1 new, 2 still there, 1 fixed."
    assert wanted in second.out
    assert 'public/new.html:1:9: "x" -> public/gone2' in second.out
    assert gencrawl("report", "kept", "--fail-on", "broken").status == 3
    assert gencrawl("search", "kept", "x").status == 0
    other = gencrawl("check", "public/sub folder", "--into", "kept")
    assert other.status == 2
    assert f"kept holds a check of {folder}; choose another directory" in other.err


@pytest.mark.parametrize(
    "kept", ["a crawl of URLs", "no JSON", "a link", "a busy port"]
)
def test_unusable_directory_for_a_check_is_refused(folder, gencrawl, site, kept):
    site.page("/")
    ports = folder.parent / "kept" / "folders.json"
    if kept == "a crawl of URLs":
        gencrawl("check", site.url, "--into", "kept")
    else:
        gencrawl("check", "public", "--into", "kept")
        ports.unlink()
    if kept == "no JSON":
        ports.write_text("[]")
    elif kept == "a link":
        ports.symlink_to(folder)
    elif kept == "a busy port":
        port = int(site.url.rpartition(":")[2].rstrip("/"))
        ports.write_text(json.dumps({str(folder): port}))

    ended = gencrawl("check", "public", "--into", "kept")

    assert ended.status == 2
    words = {
        "a crawl of URLs": "kept holds a check of something else; choose another",
        "no JSON": "cannot read kept/folders.json: ",
        "a link": "it is a symbolic link",
        "a busy port": "at which public was served before, cannot be used: Address",
    }
    assert words[kept] in ended.err


def test_folder_does_not_serve_its_parent(folder, found):
    (folder.parent / "secret.html").write_text("<p>")
    (folder / "b.html").write_text('<a href="/%2e%2e/secret.html">x</a>')
    (folder / "c.html").write_text('<a href="/..%2fsecret.html">x</a>')

    pages = {each["page"] for each in found("public/")}

    assert {"public/b.html", "public/c.html"} <= pages


def test_only_regular_files_in_the_folder_are_read(folder, found):
    (folder.parent / "secret.html").write_text("<a href=told>x</a>")
    (folder / "out.html").symlink_to("../secret.html")
    (folder / "zero.html").symlink_to("/dev/zero")
    (folder / "away").symlink_to("..")
    (folder / "in.html").symlink_to("a.html")
    (folder / "loop.html").symlink_to("loop.html")
    os.mkfifo(folder / "pipe.html")
    (folder / "large.bin").write_bytes(bytes(3_000_000))
    (folder / "b.html").write_text("<a href=away/secret.html>x</a><a href=large.bin>")

    findings = found("public", "--max-body-bytes", "2MB")

    status_by_href = {e["href"].rpartition("/")[2]: e["status"] for e in findings}
    expected = {"secret.html": 403, "out.html": 403, "zero.html": 403, "pipe.html": 404}
    expected["loop.html"] = 404
    assert status_by_href.items() >= expected.items()
    assert not {"told", "large.bin"} & status_by_href.keys()
    assert [e["href"] for e in findings if e["page"] == "public/in.html"] == []


@pytest.mark.parametrize("options", [(), ("--allow-private",)])
def test_pages_of_a_folder_reach_no_other_private_address(
    folder, faulty, gencrawl, options
):
    (folder / "b.html").write_text(f"<a href={faulty.url}x>x</a><a href=index.html>")

    ended = gencrawl("check", "public/b.html", *options)

    assert bool(faulty.paths) is bool(options)
    assert (f"{faulty.url}x" in ended.out) is bool(options)
    assert "/gone " in ended.out  # found in the folder


def test_list_on_standard_input(faulty, found, monkeypatch):
    faulty.answer("/2", b"<a href=gone2>x</a><a href=3>x</a>")
    faulty.page("/3", "/deeper")

    def check(*options):
        listed = io.StringIO(
            f"\ufeff{faulty.url}\r\n\r\n# the next page\r\n{faulty.url}2\r\n"
        )
        monkeypatch.setattr(sys, "stdin", listed)
        return [each["kind"] for each in found("-", *options)]

    assert check() == ["broken"] * 3
    assert "/deeper" not in faulty.paths
    assert len(check("--max-depth", "9")) == 5


def test_check_that_a_limit_ends_is_not_green(site, gencrawl):
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")

    whole = gencrawl("check", site.url, "--max-pages", "3")
    cut = gencrawl("check", site.url, "--max-pages", "2")
    timed = gencrawl("check", site.url, "--max-time", "0.1", "--host-gap", "1h")

    assert (whole.status, cut.status, timed.status) == (0, 1, 1)
    assert "No findings, but the check is incomplete\n" in cut.out
    assert "Incomplete: it was ended by --max-pages 2.\n" in cut.out
    assert "Incomplete: it was ended by --max-time 100ms.\n" in timed.out


def test_check_of_a_page_that_is_read_in_part_is_not_green(site, gencrawl, monkeypatch):
    monkeypatch.setattr("crawler_app.web.documents.html.MAX_LINKS", 2)
    site.page("/", "/a", "/b", "/c")
    site.pages("/a", "/b", "/c")

    ended = gencrawl("check", site.url)

    assert ended.status == 1
    assert "Incomplete: 1 page was read in part: parsing takes too" in ended.out


def test_start_url_that_was_not_read_is_not_green(site, gencrawl):
    site.answer(
        "/map.txt", f"{site.url}a".encode(), headers={"Content-Type": "text/plain"}
    )
    site.page("/a")
    robots = f"User-agent: *\nDisallow: /start\nSitemap: {site.url}map.txt"
    site.answer("/robots.txt", robots.encode())

    ended = gencrawl("check", site.url + "start")

    assert ended.status == 1
    assert "Incomplete: nothing was read from a start URL: the robots.txt" in ended.out


@pytest.mark.parametrize("command", ["check", "crawl"])
def test_start_url_that_redirects_to_another_site_names_the_cure(
    site, other, gencrawl, command, tmp_path
):
    site.redirect("/", other.url)
    other.page("/")
    into = ("--into", tmp_path / "kept") if command == "crawl" else ()

    ended = gencrawl(command, site.url, *into)

    assert ended.status == 1
    words = f"{site.url} redirects to {other.url}, out of scope; start with that URL"
    assert words in ended.out + ended.err


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("data.json", "public/data.json is not an HTML file; to check a list"),
        ("list.txt", "public/list.txt is not an HTML file; to check a list"),
        ("empty", "there are no HTML files in public/empty"),
    ],
)
def test_what_has_no_page_is_refused(folder, gencrawl, name, complaint):
    (folder / "empty").mkdir()
    (folder / "data.json").touch()
    (folder / "list.txt").touch()

    ended = gencrawl("check", f"public/{name}")

    assert (ended.status, ended.out) == (2, "")
    assert complaint in ended.err


def test_entries_of_a_sitemap_are_checked(site, gencrawl):
    xml = "application/xml"
    entry = f"<url><loc>{site.url}gone</loc></url>"
    urlset = (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>'
    )
    site.answer("/map.xml", urlset.encode(), headers={"Content-Type": xml})

    ended = gencrawl("check", site.url + "map.xml")

    url = site.url
    assert ended.out.startswith(f'{url}map.xml: "sitemap entry" -> {url}gone  404')


def test_start_url_that_is_broken_is_found(site, gencrawl):
    site.page("/")

    one_of_two = gencrawl("check", site.url, site.url + "gone", "--format", "json")
    alone = gencrawl("check", site.url + "gone")

    (finding,) = json.loads(one_of_two.out)["findings"]
    assert (finding["page"], finding["target"]) == ("", site.url + "gone")
    assert one_of_two.status == 3
    assert alone.status == 1
    assert alone.out.splitlines()[:3] == [
        f"start URL -> {site.url}gone  404 Not Found",
        "",
        "Nothing was fetched",
    ]


def test_findings_file_that_is_a_link_is_refused(site, gencrawl, tmp_path):
    site.page("/")
    into = tmp_path / "kept"
    gencrawl("check", site.url, "--into", into)
    (into / "check.json").unlink()
    (into / "check.json").symlink_to(tmp_path / "elsewhere")

    ended = gencrawl("check", site.url, "--into", into)

    assert ended.status == 2
    assert "is a symbolic link" in ended.err
    assert not (tmp_path / "elsewhere").exists()


def test_resume_of_a_check_of_a_folder_says_how_to_continue(folder, gencrawl):
    gencrawl("check", "public", "--into", "kept")

    refused = gencrawl("resume", "kept")
    again = refused.err.splitlines()[-1].split()
    ended = gencrawl(*again[1:], "--format", "jsonl")

    assert refused.status == 2
    assert "kept holds a check of files, which are served only while" in refused.err
    assert again[:2] == ["gencrawl", "check"]
    assert ended.status == 3
    assert "last check: 0 new" in ended.err


def test_check_that_was_stopped_can_be_started_again(faulty, gencrawl, tmp_path):
    faulty.hold("/there")
    command = ("check", faulty.url, "--into", tmp_path / "kept")
    stopped = start_gencrawl(*command)
    stopped.stdout.readline()  # a finding
    stopped.send_signal(signal.SIGINT)
    _, said = stopped.communicate()
    faulty.let_go("/there")

    ended = gencrawl(*command)

    assert stopped.returncode == 130
    assert said.endswith(
        "Stopped.\nThe same check again fetches only what has changed.\n"
    )
    assert "3 findings" in ended.out
    assert "resume" not in ended.err


def test_page_of_a_folder_that_was_not_read_has_its_name(folder, gencrawl):
    (folder / "a.html").write_text("x" * 200)
    (folder / "b.html").write_text("<form action=x><input type=password></form>")

    ended = gencrawl("check", "public", "--max-body-bytes", "100")

    assert "from a start URL: public/a.html: it is larger than" in ended.out
    assert "Incomplete: public/b.html is a login page" in ended.out


def test_page_linked_by_several_names_is_checked_once(folder, gencrawl):
    links = (".", "./index.html#a", "index.html", "none/index.html")
    markup = "".join(f"<a href={link}>x</a>" for link in links)
    (folder / "index.html").write_text(markup)

    ended = gencrawl("check", "public/index.html", "--format", "jsonl")

    *found, last = map(json.loads, ended.out.splitlines())
    assert {(each["href"], each["target"]) for each in found} == {
        ("./index.html#a", "public/index.html"),
        ("none/index.html", "public/none/index.html"),
    }
    assert (len(found), last["summary"]["pages"]) == (2, 1)


@pytest.mark.parametrize("slash", ["", "/"])
def test_folder_is_checked_as_it_will_be_published(folder, found, faulty, slash):
    base = f"{faulty.url}docs/v%201"
    links = [
        *("a.html", f"{base}/a.html", "/docs/v%201/a.html", "//HOST/docs/v%201/a.html"),
        *("/docs/v%201", base, "../v%201/", f"{base}/sub%20folder", "/there"),
        *("gone1", f"{base}/gone2", "/docs/v%201/gone3", "/gone", f"{faulty.url}gone"),
        *(f"{base}/a.html#no", "/a.html", f"{base}0/", "/docs/"),
    ]
    host = faulty.url.split("/")[2]
    markup = "".join(f"<a href='{link}'>x</a>" for link in links).replace("HOST", host)
    for path in (*folder.glob("*.html"), folder / "sub folder" / "index.html"):
        path.write_text("<p id=yes>")
    (folder / "index.html").write_text(markup)

    findings = found("public", "--base-url", base + slash)

    assert {(each["href"], each["target"], each["kind"]) for each in findings} == {
        ("gone1", "public/gone1", "broken"),
        (f"{base}/gone2", "public/gone2", "broken"),
        ("/docs/v%201/gone3", "public/gone3", "broken"),
        ("/gone", f"{faulty.url}gone", "external"),
        (f"{faulty.url}gone", f"{faulty.url}gone", "external"),
        (f"{base}/a.html#no", "public/a.html", "fragments"),
        ("/a.html", f"{faulty.url}a.html", "external"),
        (f"{base}0/", f"{base}0/", "external"),
        ("/docs/", f"{faulty.url}docs/", "external"),
    }
    assert not [path for path in faulty.paths if path.startswith("/docs/v%201/")]


@pytest.mark.parametrize(
    ("targets", "base_url", "complaint"),
    [
        (
            ["public"],
            "example.org/docs",
            "--base-url is 'example.org/docs'; it must be a",
        ),
        (["public"], "https://a.test/?x", "it must be a URL such as"),
        (
            ["public", "public/sub folder"],
            "https://a.test/",
            "a base URL is that of one",
        ),
        (["http://a.test/"], "https://a.test/", "a base URL is that of one folder"),
    ],
)
def test_base_url_is_that_of_one_folder(folder, gencrawl, targets, base_url, complaint):
    ended = gencrawl("check", *targets, "--base-url", base_url)

    assert ended.status == 2
    assert complaint in ended.err


def test_page_beside_a_folder_of_its_name_has_a_clean_url(folder, found):
    (folder / "guide").mkdir()
    (folder / "guide.html").write_text("<p id=x>")
    (folder / "index.html").write_text("<a href=guide#x>x</a><a href=guide/>x</a>")

    (finding,) = found("public/index.html")

    # As GitHub Pages answer: the folder has no page.
    assert (finding["href"], finding["target"]) == ("guide/", "public/guide/index.html")


def test_page_is_found_without_its_suffix(folder, found):
    (folder / "index.html").write_text('<a href="a">x</a><a href="/b.c?y#x">x</a>')
    (folder / "a.html").write_text("x")
    (folder / "b.c.html").write_text("<p id=x><a href=nothing>x</a>")

    (finding,) = found("public/index.html")

    assert (finding["page"], finding["href"]) == ("public/b.c.html?y", "nothing")


@pytest.mark.parametrize(
    ("href", "found"),
    [
        ("htp://a.test/", {("malformed", "error")}),
        ("/the re", {("malformed", "warning")}),
        ("/go ne", {("malformed", "warning"), ("broken", "error")}),
    ],
)
def test_what_browsers_repair_is_a_warning(site, gencrawl, href, found):
    site.answer("/", f'<a href="{href}">x</a><a href=/>x</a>'.encode())
    site.page("/the%20re")

    ended = gencrawl("check", site.url, "--format", "json")
    mild = gencrawl("check", site.url, "--fail-on", "errors")

    findings = json.loads(ended.out)["findings"]
    assert {(each["kind"], each["severity"]) for each in findings} == found
    assert ended.status == 3
    assert mild.status == (
        3 if {severity for _, severity in found} != {"warning"} else 0
    )


def test_site_that_begins_to_refuse_everything_is_named_once(site, gencrawl):
    paths = [f"/{n}" for n in range(30)]
    site.page("/", *paths, times=1)
    site.page("/0", times=1)
    site.otherwise = [Answer(status=403)]
    for path in ("/", "/0"):
        site.answer(path, status=403)

    ended = gencrawl("check", site.url, "--retry-pause", "0")

    assert ended.status == 1
    assert "404 Not Found" not in ended.out and "403 Forbidden" not in ended.out
    assert ended.out.count("refuses every request now (status 403)") == 1


@pytest.mark.parametrize("start", ["", "wall"])
def test_wall_makes_the_check_incomplete_and_names_the_cure(site, gencrawl, start):
    site.page("/", "/wall")
    site.answer("/wall", status=403, headers={"cf-mitigated": "challenge"})

    ended = gencrawl("check", site.url + start, "--retry-pause", "0")

    assert ended.status == 1
    assert ended.out.count("\nIncomplete: ") == 1
    assert "a bot wall answered in place of the page; crawl more slowly" in ended.out
