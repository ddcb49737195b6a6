"""The signs by which main content is told from what is around it, and their points.

A sign is a bit: it is set by the name of an element, by a role, or by a word in a class or an
id, and holds for everything in that element.  All words of a sign mean the same here.

Points are log odds: by 0.7 a block is twice as likely to be main content.  They are those of a
logistic regression on 750 pages of the Web Content Extraction Benchmark.
"""

from typing import Final, NamedTuple

__all__ = [
    "ARTICLE",
    "HIDDEN",
    "LINK",
    "MAIN",
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
    Sign(0.0, "a button"),
    Sign(0.0, "main", "role=main"),
    Sign(0.3, "article", "role=article"),
    Sign(-1.5, "nav", "role=navigation"),
    Sign(-2.3, "footer", "role=contentinfo"),
    Sign(-0.6, "header"),
    Sign(-2.0, "aside", "role=complementary"),
    Sign(-0.7, "form"),
    Sign(0.5, "ul"),
    Sign(0.5, "table"),
    Sign(-0.7, "figure"),
    Sign(-1.1, "label"),
    Sign(-2.1, "dialog"),
    Sign(1.2, "blockquote"),
    Sign(0.9, "details"),
    Sign(0.3, "", "content main body"),
    Sign(0.2, "", "article post entry hentry story blog single posts"),
    Sign(
        0.2,
        "",
        "text rich richtext rte markdown markup prose paragraph wysiwyg copy description"
        " summary excerpt",
    ),
    Sign(0.2, "", "message messages thread topic answer question postbody"),
    Sign(1.2, "", "document documentation docs doc reference guide"),
    Sign(0.2, "", "meta date time timestamp tags tag categories category"),
    Sign(-1.5, "", "privacy policy consent cookie cookies gdpr onetrust cmp"),
    Sign(-3.8, "", "terms legal copyright disclaimer"),
    Sign(
        -1.7,
        "",
        "modal popup popover overlay lightbox drawer offcanvas flyout tooltip role=dialog",
    ),
    Sign(-0.7, "", "footer footnav colophon subfooter foot bottom role=contentinfo"),
    Sign(
        -0.6,
        "",
        "menu submenu megamenu dropdown navbar nav navigation subnav gnav mainmenu hamburger"
        " burger menus mega role=menu role=menubar role=menuitem role=navigation",
    ),
    Sign(-0.3, "", "header masthead topbar banner branding logo top role=banner"),
    Sign(
        -1.2,
        "",
        "login signin signup register password account subscribe newsletter cart"
        " checkout",
    ),
    Sign(-0.9, "", "social share sharing twitter facebook follow"),
    Sign(
        -1.7,
        "",
        "related recommended recommendations similar more popular trending also suggested"
        " upsell",
    ),
    Sign(-1.5, "", "comment comments disqus respond reply replies"),
    Sign(-0.5, "", "toolbar actions buttons button btn controls toggle tabs tab"),
    Sign(-0.1, "", "filter filters facet facets sort refine swatch"),
    Sign(-1.7, "", "author byline bio avatar"),
    Sign(-0.2, "", "hidden hide sr visually invisible noprint skip"),
    Sign(-0.4, "", "mobile"),
    Sign(-0.8, "", "language languages locale country lang"),
    Sign(-1.2, "", "alert notice announcement notification warning"),
    Sign(-0.3, "", "product products price"),
    Sign(-0.6, "", "review reviews rating ratings testimonial testimonials"),
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

MAIN, ARTICLE = SIGN_BY_TAG["main"], SIGN_BY_TAG["article"]
LINK, TABLE = SIGN_BY_TAG["a"], SIGN_BY_TAG["table"]
HIDDEN = SIGN_BY_WORD["hidden"]
