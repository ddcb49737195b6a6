"""Pages whose parsing may take far longer than their size suggests.

A page consists of a few runs, each of one repeated piece: start tags, with equal or different
attributes, closed or not, with text or not.  The cost of a parser multiplies with open elements,
attributes and blocks, so the runs consist of these.  Before them may be something that looks like
a tag whose attribute ends after them.
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
_beginnings = st.sampled_from(
    [
        *[""] * 4,
        '<b =">',
        '<script><b a="</script>',
        '<script><html a="</script>',
        '<html ="a b=">',
        '<b a="',
    ]
)


@st.composite
def _elements(draw):
    tag = draw(_tags)
    ending = draw(_endings)
    return f"<{tag}{draw(_attributes)}>{ending.format(tag=tag)}"


_pieces = st.lists(_elements(), min_size=1, max_size=3).map("".join)


def hostile_pages(size):
    """Return a strategy for pages of about this number of characters."""
    runs = st.lists(_pieces, min_size=1, max_size=4).map(
        lambda pieces: "".join(_run(piece, size // len(pieces)) for piece in pieces)
    )
    return st.tuples(_beginnings, runs, st.sampled_from(["", '">'])).map("".join)


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
