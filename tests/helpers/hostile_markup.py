"""Pages that a parser may take far longer for than for their size.

A page is a few runs, each of one piece many times over: start tags, with attributes that
differ or not, closed or not, with text or not.  What multiplies in a parser is the number
of open elements, of attributes, and of blocks, so these are what the runs are made of.
"""

from hypothesis import strategies as st

__all__ = ["hostile_pages"]

FORMATTING = ("a", "b", "font", "nobr", "code")
BLOCKS = (
    "p",
    "div",
    "li",
    "h1",
    "table",
    "td",
    "dd",
    "option",
    "button",
    "form",
    "header",
)
SCOPES = (
    "svg",
    "math",
    "template",
    "select",
    "ruby",
    "object",
    "frameset",
    "title",
    "html",
    "body",
)

_attributes = st.sampled_from(
    ["", " x", " a{n}", " a{n}=1 b{n}=2", ' href="{n}>"', " {many}"]
)
_endings = st.sampled_from(
    ["", "</{tag}>", "</p>", "</b>", "</a>", "</table>", "x", "&amp", "<!--", "\0"]
)
_tags = st.sampled_from([*FORMATTING * 2, *BLOCKS, *SCOPES])


@st.composite
def _elements(draw):
    tag = draw(_tags)
    ending = draw(_endings)
    return f"<{tag}{draw(_attributes)}>{ending.format(tag=tag)}"


_pieces = st.lists(_elements(), min_size=1, max_size=3).map("".join)


def hostile_pages(size):
    """Return a strategy for pages of about so many characters."""
    return st.lists(_pieces, min_size=1, max_size=4).map(
        lambda pieces: "".join(_run(piece, size // len(pieces)) for piece in pieces)
    )


def _run(piece, size):
    """Repeat a piece, each time with another number, up to a size."""
    many = " ".join(f"m{number}" for number in range(size // 16))
    return "".join(_repeated(piece, many, size))


def _repeated(piece, many, size):
    number = 0
    while size > 0:
        text = piece.format(n=number, many=many)
        yield text
        size -= len(text)
        number += 1
