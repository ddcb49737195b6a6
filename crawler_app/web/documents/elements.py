"""HTML element classes: invisible, block-level, headings and so on.

Each constant holds the alternatives of a regular expression.  Both ways of reading a page
use them, so that both find the same text: `crawler_app.web.documents.text` in a tree, and
`crawler_app.web.documents.tag_scanner` tag by tag.
"""

__all__ = ["AROUND", "BLOCKS", "BOXES", "HEADINGS", "ROWS", "ROW_HOLDERS", "UNSEEN"]

# Invisible elements.  An "rt" is visible (it gives the pronunciation of the characters
# before it), but it would split the word that they are part of.
UNSEEN = "datalist|noembed|noframes|rp|rt|script|style|template|title"

# Images, video and form fields: visible, but not text.  The letters of a formula are not
# words either.
BOXES = "audio|canvas|iframe|math|object|select|svg|textarea|video"

# The parts around the main text, which are the same on every page.
AROUND = "aside|button|dialog|footer|header|nav|noscript|search"

HEADINGS = "h1|h2|h3|h4|h5|h6"

# Block-level elements: their text is separated from the text before and after.  Rows are
# numerous, so only their start is marked; their container marks the end of the last one.
BLOCKS = (
    "address|article|blockquote|center|details|div|fieldset|figcaption|figure|form|hgroup"
    "|legend|listing|main|marquee|p|plaintext|pre|section|summary|xmp"
)
ROWS = "br|caption|dd|dt|hr|input|li|optgroup|option|td|th|tr"
ROW_HOLDERS = "dir|dl|menu|ol|table|ul"
