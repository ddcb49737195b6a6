"""A check says what is new, still there or fixed since the last one, or beside a baseline."""

import json

import pytest


@pytest.fixture
def public(tmp_path, monkeypatch):
    """Return a folder with one page, in the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "public"
    folder.mkdir()
    return Links(folder / "index.html")


class Links:
    def __init__(self, file):
        self.file = file
        self.set("kept", "mended")

    def set(self, *hrefs):
        self.file.write_text("".join(f"<a href={each}>x</a>\n" for each in hrefs))


MEMORIES = [("--baseline", "known.json"), ("--into", "dir", "--fail-on", "new")]


def of_json(text):
    whole = json.loads(text)
    changes = {each["href"]: each["change"] for each in whole["findings"]}
    return changes | {
        each["href"]: each["change"] for each in whole["summary"]["fixed"]
    }


@pytest.mark.parametrize("memory", MEMORIES, ids=["baseline", "directory"])
@pytest.mark.parametrize("style", ["json", "text"])
def test_only_what_is_new_fails_and_programs_get_everything(
    public, gencrawl, memory, style
):
    first = gencrawl("check", "public", *memory)
    same = gencrawl("check", "public", *memory)
    public.set("kept", "added")
    ended = gencrawl("check", "public", *memory, "--format", style)

    assert (first.status, same.status, ended.status) == (0, 0, 3)
    if style == "json":
        wanted = {"kept": "still", "added": "new", "mended": "fixed"}
        assert of_json(ended.out) == wanted
    else:
        assert "public/added  404 Not Found (new)" in ended.out
        assert "public/kept" not in ended.out
        assert "1 new, 1 still there, 1 fixed." in ended.out


def test_finding_is_known_since_it_was_first_seen(public, gencrawl):
    check = ("check", "public", "--into", "dir", "--format", "json")
    gencrawl(*check)
    known = public.file.parent.parent / "dir" / "check.json"
    saved = json.loads(known.read_text())
    for row in saved["findings"]:
        row[-1] = "2001-02-03T04:05:06Z"
    known.write_text(json.dumps(saved))
    gencrawl(*check)
    public.set("kept", "added")

    ended = gencrawl(*check)

    found = {each["href"]: each for each in json.loads(ended.out)["findings"]}
    assert ended.status == 3
    assert found["kept"]["since"] == "2001-02-03T04:05:06Z"
    assert found["added"]["since"] > "2001-02-03T04:05:06Z"
    text = gencrawl("check", "public", "--into", "dir").out
    assert "404 Not Found (since 2001-02-03)" in text


@pytest.mark.parametrize(
    "cause", ["a limit", "no external", "a page that fails", "a wall"]
)
def test_finding_that_was_not_looked_for_is_not_fixed(site, gencrawl, tmp_path, cause):
    site.page("/", "/other", "/last")
    site.page("/other", "http://127.0.0.2:1/external", "/gone", times=1)
    site.page("/last")
    check = ("check", site.url, "--into", tmp_path / "dir", "--tries", "1")
    gencrawl(*check)
    options = {
        "a limit": ("--max-pages", "1"),
        "no external": ("--no-external",),
    }.get(cause, ())
    if cause == "a page that fails":
        site.answer("/other", status=500)
    else:
        site.page("/other", "http://127.0.0.2:1/external", "/gone")
    if cause == "a wall":
        site.answer("/gone", status=429)

    ended = gencrawl(*check, *options)

    assert "Compared with the last check:" in ended.out
    assert "still there, 0 fixed." in ended.out
    saved = json.loads((tmp_path / "dir" / "check.json").read_text())
    assert {"/gone", "http://127.0.0.2:1/external"} <= {r[2] for r in saved["findings"]}


def test_url_that_works_is_fixed_even_if_the_check_is_incomplete(
    site, gencrawl, tmp_path
):
    site.page("/", "/mended", "/last", "/more")
    site.answer("/mended", status=404, times=1)
    site.pages("/mended", "/last", "/more")
    check = ("check", site.url, "--into", tmp_path / "dir")
    gencrawl(*check)

    ended = gencrawl(*check, "--max-pages", "2")

    assert "Incomplete: it was ended by --max-pages 2." in ended.out
    assert "0 still there, 1 fixed." in ended.out


def test_summary_has_the_targets_on_most_pages_first(public, gencrawl):
    public.set("twice", "once", "twice")
    (public.file.parent / "b.html").write_text("<a href=once>x</a>")

    ended = gencrawl("check", "public", "--format", "json")

    targets = json.loads(ended.out)["targets"]
    assert [(e["target"], e["references"], e["pages"]) for e in targets] == [
        ("public/once", 2, 2),
        ("public/twice", 2, 1),
    ]
    table = gencrawl("check", "public", "--format", "markdown").out
    assert table.count("→ public/once") == 1


def test_page_that_other_findings_lead_to_was_read(public, gencrawl):
    other = public.file.with_name("other.html")
    public.set("other.html#nowhere")
    other.write_text("<a href=mended>x</a>")
    gencrawl("check", "public", "--into", "dir")
    other.write_text("x")

    ended = gencrawl("check", "public", "--into", "dir", "--format", "json")

    wanted = {"other.html#nowhere": "still", "mended": "fixed"}
    assert of_json(ended.out) == wanted
