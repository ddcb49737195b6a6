"""The forms of a page, with what a browser would send if they were not filled in.  Pure."""

from dataclasses import dataclass, field

from turbohtml import Element

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import join
from crawler_app.web.documents.charset import decode_html
from crawler_app.web.documents.tree import Tree, tree_of

__all__ = ["Form", "csrf_token_in", "forms_in"]

# A login page has 5 to 300 KB; the rest of a larger one is not read.
MAX_BYTES = 2 * 2**20

_CONTROLS = ("button", "input", "select", "textarea")
# Of inputs, what a browser does not send without being asked.
_NOT_SENT = ("button", "file", "image", "reset")


@dataclass(slots=True)
class Form:
    """One form.

    Attributes:
        action: The canonical URL that it is sent to; empty if that is none.
        is_post: Whether it is sent with POST.
        names: Its id, its name and its action as written.
        value_by_name: The values that it has, hidden ones too, with its first button.
        fields: The names of all its fields.
        asks_for_password: Whether a field is for a password.
        is_hidden: Whether it has nothing to fill in.
    """

    action: str
    is_post: bool
    names: tuple[str, ...]
    value_by_name: dict[str, str] = field(default_factory=dict)
    fields: set[str] = field(default_factory=set)
    asks_for_password: bool = False
    is_hidden: bool = True
    _has_button: bool = False


def forms_in(body: bytes, content_type: str, url: str) -> list[Form]:
    """Return the forms of a page.

    >>> page = b'<form action=in method=post><input type=hidden name=t value=7><input name=u>'
    >>> form, = forms_in(page, "text/html", "http://a.test/x")
    >>> form.action, form.value_by_name
    ('http://a.test/in', {'t': '7', 'u': ''})
    """
    markup, _ = decode_html(body[:MAX_BYTES], content_type)
    tree = tree_of(markup)
    hrefs = [href for each in tree.tags("base") if (href := each.attr("href"))]
    base = _joined(url, hrefs[0]) if hrefs else url
    return [_form_of(tree, element, base or url, url) for element in tree.tags("form")]


def csrf_token_in(body: bytes, content_type: str) -> str:
    """Return the token that a page has for its scripts; empty for none.

    >>> csrf_token_in(b'<meta name="csrf-token" content="t1">', "text/html")
    't1'
    """
    markup, _ = decode_html(body[:MAX_BYTES], content_type)
    for each in tree_of(markup).tags("meta"):
        if (each.attr("name") or "").lower() == "csrf-token":
            token = (each.attr("content") or "").strip()
            return token if token.isascii() and token.isprintable() else ""
    return ""


def _form_of(tree: Tree, element: Element, base: str, url: str) -> Form:
    action = (element.attr("action") or "").strip()
    form = Form(
        _joined(base, action) if action else url,
        (element.attr("method") or "").strip().lower() == "post",
        tuple(filter(None, (element.attr("id"), element.attr("name"), action))),
    )
    for control in element.iter_elements(_CONTROLS):
        if control.attr("form") in (None, element.attr("id")):
            _add(form, control)
    if element.attr("id"):
        elsewhere = (each for name in _CONTROLS for each in tree.tags(name))
        for control in elsewhere:
            if control.attr("form") == element.attr("id"):
                _add(form, control)
    return form


def _add(form: Form, control: Element) -> None:
    """Add a field as a browser would send it."""
    kind = (control.attr("type") or "").strip().lower()
    form.asks_for_password |= control.tag == "input" and kind == "password"
    form.is_hidden &= control.tag == "button" or kind in ("hidden", "submit")
    name = control.attr("name")
    if not name or control.attr("disabled") is not None:
        return
    if control.tag == "button" or kind == "submit":
        if kind in ("button", "reset") or form._has_button:
            return
        form._has_button = True
    elif kind in _NOT_SENT:
        return
    form.fields.add(name)
    if kind in ("checkbox", "radio") and not control.checked:
        return
    value = control.field_value or ""
    if not isinstance(value, str):  # what is selected of several
        value = value[0]
    form.value_by_name.setdefault(name, value)


def _joined(base: str, reference: str) -> str:
    try:
        return join(base, reference)
    except UrlError:
        return ""
