"""A fault of a template is told once, whatever the number of pages that it has made."""

import json
import re

import pytest

PAGES = 40

# Relative to each page: it leads to another URL from each folder.
FOOTER = "<footer><a href=imprint.html>Imprint</a></footer>"


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A site whose navigation bar and footer are wrong, with one fault of its own."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "site"
    for number in range(PAGES):
        page = folder / str(number // 10) / f"{number}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"<a href=/old.html>Manual</a> {FOOTER}")
    (folder / "index.html").write_text("<a href=once.html>x</a>")
    return folder


def test_text_has_a_few_lines_and_the_numbers(built, gencrawl):
    lines = gencrawl("check", "site").out.splitlines()

    assert lines.index("") == 3 + 3 + 1
    footer, bar = lines[lines.index("Fix first:") + 1 :][:2]
    assert re.fullmatch(
        "  site/old.html  404 Not Found: 40 references on 40 pages; "
        'the same "Manual" on 40 pages',
        bar,
    )
    assert re.fullmatch(
        r"  site/\d/imprint.html  404 Not Found: 40 references on 40 pages, "
        'to 3 more URLs as well; the same "Imprint" on 40 pages',
        footer,
    )
    assert "74 more places are not listed here; --format csv has all." in lines
    assert "81 findings: 81 broken" in lines


def test_errors_come_before_warnings_on_more_pages(built, gencrawl):
    for page in built.rglob("?*/*.html"):
        page.write_text("<a href='/a b.html'>x</a>")
    (built / "a b.html").touch()
    (built / "index.html").write_text("<a href=gone>x</a><a href=gone>y</a>")

    lines = gencrawl("check", "site").out.splitlines()

    error, warning, *_ = lines[lines.index("Fix first:") + 1 :]
    assert "site/gone  404 Not Found: 2 references on 1 page" in error
    assert "warning: " in warning and "40 references on 40 pages" in warning


def test_github_has_an_annotation_for_each_cause(built, gencrawl):
    lines = gencrawl("check", "site", "--format", "github").out.splitlines()

    errors = [line for line in lines if line.startswith("::error file=site/")]
    assert len(errors) == 3
    assert "%0Asite/old.html  404 Not Found: 40 references on 40 pages" in errors[1]
    assert len(lines) == 4
    assert lines[3].startswith("::notice::81 findings: 81 broken%0AChecked: ")


def test_github_has_each_finding_if_it_shows_all(built, gencrawl):
    for page in built.rglob("?*/*.html"):
        page.write_text("x")
    (built / "index.html").write_text("<a href=gone>x</a>" * 10)

    lines = gencrawl("check", "site", "--format", "github").out.splitlines()

    assert len([line for line in lines if ",col=" in line]) == 10


def test_json_says_which_findings_belong_together(built, gencrawl):
    whole = json.loads(gencrawl("check", "site", "--format", "json").out)

    assert len(whole["findings"]) == 81
    hrefs = [
        {whole["findings"][index]["href"] for index in each["findings"]}
        for each in whole["targets"]
    ]
    assert sorted(map(sorted, hrefs)) == [
        ["/old.html"],
        ["imprint.html"],
        ["once.html"],
    ]
    assert [
        (each["references"], each["pages"], each["targets"], each["template_pages"])
        for each in sorted(whole["targets"], key=lambda each: -each["targets"])
    ] == [(40, 40, 4, 40), (40, 40, 1, 40), (1, 1, 1, 0)]


def test_new_places_are_shown_beside_known_ones(built, gencrawl):
    gencrawl("check", "site", "--into", "memory")
    (built / "index.html").write_text("<a href=/old.html>Manual</a>")

    ended = gencrawl("check", "site", "--into", "memory", "--fail-on", "new")

    assert ended.status == 3
    assert [line for line in ended.out.splitlines() if "(new)" in line] == [
        'site/index.html:1:9: "Manual" -> site/old.html  404 Not Found (new)'
    ]


def test_malformed_reference_that_names_its_page_is_one_cause(
    tmp_path, monkeypatch, gencrawl
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    for name in "abcde":
        page = tmp_path / "site" / f"{name}.html"
        page.write_text(f"<link rel=canonical href=file:///home/{name}.html>")

    lines = gencrawl("check", "site").out.splitlines()

    assert lines.index("") == 3
    assert "5 references on 5 pages, to 4 more URLs as well" in lines[5]
    assert "2 more places are not listed here; --format csv has all." in lines
