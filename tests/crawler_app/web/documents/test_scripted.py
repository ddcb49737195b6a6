"""Pages that a script makes in the browser."""

import pytest

from crawler_app.web.documents.html import parse_html

SCRIPT = "<script src=/app.js></script>"
SHELLS = [
    f"<title>App</title><div id=root></div>{SCRIPT}",
    f"<body><noscript>You need to enable JavaScript to run this app.</noscript>{SCRIPT}",
    f"<app-root>Loading&hellip;</app-root>{SCRIPT}",
    "<div id=__nuxt></div><script>window.data = 'a long text about telescopes' * 9",
    "<meta http-equiv=refresh content=60><script type=module src=/app.js></script>",
    f"<!-- {'words ' * 90} --><SCRIPT>x</SCRIPT><svg><text>spinning wheel</svg>",
]
PAGES = [
    "<div id=root></div>",
    f"<p>{'The text of a short page. ' * 4}</p>{SCRIPT}",
    f"<img src=/photo.jpg>{SCRIPT}",
    f"<form><input name=q></form>{SCRIPT}",
    f"<iframe src=/a></iframe>{SCRIPT}",
    "<div id=root></div><script type=application/ld+json>{}</script>",
    f"<meta http-equiv=refresh content='0; url=/a'>{SCRIPT}",
]


@pytest.mark.parametrize("markup", SHELLS)
def test_shell_is_made_by_a_script(markup):
    assert parse_html(markup.encode()).is_made_by_script


@pytest.mark.parametrize("markup", PAGES)
def test_page_that_shows_something_is_not(markup):
    assert not parse_html(markup.encode()).is_made_by_script
