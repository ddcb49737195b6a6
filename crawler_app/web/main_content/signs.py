"""The signs by which main content is told from what is around it, and their points.

A sign is a bit: it is set by the name of an element, by a role, or by a word in a class or an
id, and holds for everything in that element.  All words of a sign mean the same here.

Points are log odds: by 0.7 a block is twice as likely to be main content.  They are those of a
logistic regression, as `benchmarks/fit_main_content.py` prints them.
"""

from typing import Final, NamedTuple

__all__ = [
    "ARTICLE",
    "HIDDEN",
    "LINK",
    "MAIN",
    "MEANT_TWICE",
    "NAV",
    "SIGNS",
    "SIGN_BY_TAG",
    "SIGN_BY_WORD",
    "TABLE",
    "Sign",
]


class Sign(NamedTuple):
    """A sign: the names of elements, and the words, that set it.

    Attributes:
        points: For or against main content.
    """

    points: float
    tags: str = ""
    words: str = ""


SIGNS: Final = (
    Sign(0.60, "a button"),
    Sign(0.17, "main", "role=main"),
    Sign(0.21, "article", "role=article"),
    Sign(-0.20, "nav", "role=navigation"),
    Sign(-2.66, "footer", "role=contentinfo"),
    Sign(-0.57, "header"),
    Sign(-1.53, "aside", "role=complementary"),
    Sign(-0.56, "form"),
    Sign(0.11, "ul"),
    Sign(0.26, "table"),
    Sign(-0.30, "figure"),
    Sign(-1.06, "label"),
    Sign(-2.95, "dialog"),
    Sign(0.49, "blockquote"),
    Sign(0.11, "details"),
    Sign(0.29, "pre h1 h2 h3 h4 h5 h6 dt dd td th caption summary"),
    Sign(0.15, "", "content main body"),
    Sign(0.23, "", "article post entry hentry story blog single posts"),
    Sign(
        0.16,
        "",
        "text rich richtext rte markdown markup prose paragraph wysiwyg copy description"
        " summary excerpt",
    ),
    Sign(-0.47, "", "message messages thread topic answer question postbody"),
    Sign(0.53, "", "document documentation docs doc reference guide"),
    Sign(0.15, "", "meta date time timestamp tags tag categories category"),
    Sign(-0.33, "", "privacy policy consent cookie cookies gdpr onetrust cmp"),
    Sign(-1.95, "", "terms legal copyright disclaimer"),
    Sign(
        -1.62,
        "",
        "modal popup popover overlay lightbox drawer offcanvas flyout tooltip role=dialog",
    ),
    Sign(-0.63, "", "footer footnav colophon subfooter foot bottom role=contentinfo"),
    Sign(
        -0.58,
        "",
        "menu submenu megamenu dropdown navbar nav navigation subnav gnav mainmenu hamburger"
        " burger menus mega role=menu role=menubar role=menuitem role=navigation",
    ),
    Sign(-0.04, "", "header masthead topbar banner branding logo top role=banner"),
    Sign(
        -0.84,
        "",
        "login signin signup register password account subscribe newsletter cart"
        " checkout",
    ),
    Sign(-0.60, "", "social share sharing twitter facebook follow"),
    Sign(
        -1.19,
        "",
        "related recommended recommendations similar more popular trending also suggested"
        " upsell",
    ),
    Sign(-1.26, "", "comment comments disqus respond reply replies"),
    Sign(-0.25, "", "toolbar actions buttons button btn controls toggle tabs tab"),
    Sign(-0.35, "", "filter filters facet facets sort refine swatch"),
    Sign(-1.18, "", "author byline bio avatar"),
    Sign(-0.38, "", "hidden hide sr visually invisible noprint skip"),
    Sign(-0.51, "", "mobile"),
    Sign(-0.07, "", "language languages locale country lang"),
    Sign(-0.32, "", "alert notice announcement notification warning"),
    Sign(-0.28, "", "product products price"),
    Sign(-0.66, "", "review reviews rating ratings testimonial testimonials"),
)

SIGN_BY_TAG: Final = {
    tag: 1 << at for at, sign in enumerate(SIGNS) for tag in sign.tags.split()
}


def _bits_by_word() -> dict[str, int]:
    bits: dict[str, int] = {}
    for at, sign in enumerate(SIGNS):
        for word in sign.words.split():
            bits[word] = bits.get(word, 0) | 1 << at
    return bits


SIGN_BY_WORD: Final = _bits_by_word()

MAIN, ARTICLE, NAV = (SIGN_BY_TAG[tag] for tag in ("main", "article", "nav"))
# A title is also in the path to its page, and examples have lines in common.
MEANT_TWICE = SIGN_BY_TAG["pre"]
LINK, TABLE = SIGN_BY_TAG["a"], SIGN_BY_TAG["table"]
HIDDEN = SIGN_BY_WORD["hidden"]
