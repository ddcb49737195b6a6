"""The formats with the text of pages: Markdown files, llms.txt, llms-full.txt, JSON lines.

llms.txt follows https://llmstxt.org: a title, and the links of each section of the site.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote, urlsplit

from crawler_app.base.progress import OnStep
from crawler_app.base.safe_files import create
from crawler_app.base.text.escaping import json_text, one_line, without_controls
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.file_names import href_between
from crawler_app.show.export.markdown.pages import CrawledPages, PageContent
from crawler_app.show.export.markdown.rendering import markdown_of, text_lines
from crawler_app.show.export.replacing import replaced_folder

__all__ = ["write_files", "write_full", "write_index", "write_texts"]

# One line of llms.txt.
MAX_DESCRIPTION_CHARS = 200

# In a title, they could end the link to a page, or begin a tag.
_MARKUP = re.compile(r"[\\`<]")


def write_files(
    crawl: StoredCrawl, directory: Path, on_step: OnStep, *, whole_page: bool = False
) -> None:
    """Write a Markdown file for each page, with links between these files.

    Raises:
        ConfigError: the directory has other files, or cannot be written to.
        StorageError: the disk is full, or has failed.
    """
    pages = CrawledPages(crawl, on_step, whole_page=whole_page, with_empty=True)
    about = {"software": crawl.config().user_agent}
    with replaced_folder(directory, about) as folder:
        _write_pages(pages, folder)


def _write_pages(pages: CrawledPages, directory: Path) -> None:
    file_of = pages.files()
    for page in pages:
        name = file_of(page.url)
        if name is None:  # not in the archive, or fetched since by a running crawl
            continue

        def link_of(url: str, source: str = name) -> str:
            target, mark, fragment = url.partition("#")
            file = file_of(target)
            return href_between(source, file) + mark + fragment if file else url

        text = markdown_of(page.body, page.base, link_of)
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with create(path) as file:
            file.write(_encodable(f"{_front_matter(page.known())}\n{text}"))


def write_index(
    crawl: StoredCrawl, output: TextIO, on_step: OnStep, *, whole_page: bool = False
) -> None:
    """Write llms.txt: the title and the description of each page, by section."""
    pages = CrawledPages(crawl, on_step, whole_page=whole_page)
    lines_by_section: dict[str, list[str]] = {}
    usage: dict[str, None] = {}
    for page in _listed(pages):
        lines_by_section.setdefault(_section_of(page.url), []).append(_link_to(page))
        usage[page.usage] = None
    output.write(f"# {_plain(pages.title) or 'Pages'}\n")
    output.writelines(f"\n> {_plain(each)}\n" for each in usage if each)
    for section, lines in lines_by_section.items():
        output.write(f"\n## {_plain(section)}\n\n")
        output.writelines(lines)


def write_full(
    crawl: StoredCrawl, output: TextIO, on_step: OnStep, *, whole_page: bool = False
) -> None:
    """Write llms-full.txt: the Markdown of all pages, one after the other."""
    for page in _listed(CrawledPages(crawl, on_step, whole_page=whole_page)):
        text = markdown_of(page.body, page.base, str)
        output.write(_encodable(f"{_front_matter(page.known())}\n{text}\n"))


def write_texts(
    crawl: StoredCrawl, output: TextIO, on_step: OnStep, *, whole_page: bool = False
) -> None:
    """Write one page a line, as JSON: what is known of it, its Markdown and its text."""
    for page in CrawledPages(crawl, on_step, whole_page=whole_page):
        text = text_lines(page.body)
        markdown = markdown_of(page.body, page.base, str)
        known = {name: value or None for name, value in page.known().items()}
        output.write(json_text({**known, "text": text, "markdown": markdown}) + "\n")


def _front_matter(values: Mapping[str, str]) -> str:
    """Return some lines of YAML between two rules; values that are empty are left out.

    Strings are written as in JSON, which is YAML too, so that nothing in them has a meaning.

    >>> print(_front_matter({"url": "http://a.test/", "title": 'Say "no: yes"'}), end="")
    ---
    url: "http://a.test/"
    title: "Say \\"no: yes\\""
    ---
    """
    lines = [f"{name}: {json_text(value)}" for name, value in values.items() if value]
    return "\n".join(["---", *lines, "---", ""])


def _listed(pages: Iterable[PageContent]) -> Iterator[PageContent]:
    """Yield the pages for a file that is to be published: those without ``noindex``."""
    return (page for page in pages if not page.is_noindex)


def _section_of(url: str) -> str:
    """Return the first folder of a URL; of a page that is in none, its host.

    >>> _section_of("http://a.test/gr%C3%BCn/1"), _section_of("http://a.test/1")
    ('a.test/gr\u00fcn', 'a.test')
    """
    parts = urlsplit(url)
    folder, slash, _ = parts.path.lstrip("/").partition("/")
    return f"{parts.netloc}/{unquote(folder)}" if slash else parts.netloc


def _link_to(page: PageContent) -> str:
    title = _plain(page.title) or page.url
    description = _plain(one_line(page.description, MAX_DESCRIPTION_CHARS))
    text = f": {description}" if description else ""
    return f"- [{title}]({page.url.replace(')', '%29')}){text}\n"


def _plain(text: str) -> str:
    """Return a text of a page as it can stand in a line of Markdown."""
    line = _encodable(" ".join(text.split())).replace("[", "(").replace("]", ")")
    return _MARKUP.sub(r"\\\g<0>", without_controls(line))


def _encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 does not have."""
    return text.encode(errors="replace").decode()
