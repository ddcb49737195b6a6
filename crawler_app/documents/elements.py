"""The elements of a page by what they mean to whoever reads it.

Each table is the alternatives of a regular expression.  Two ways to read a page share
them, so that both find the same text: `crawler_app.documents.text`, in a tree, and
`crawler_app.documents.flat_html`, tag by tag.
"""

__all__ = ["AROUND", "BLOCKS", "BOXES", "HEADINGS", "ROWS", "ROW_HOLDERS", "UNSEEN"]

# Elements of which nothing is seen.  An "rt" is seen: it tells how the characters before
# it are pronounced.  But it would break the word that they are part of.
UNSEEN = "datalist|noembed|noframes|rp|rt|script|style|template|title"

# Pictures, films, and the fields of a form: seen, but not read.  The letters of a formula
# are no words.
BOXES = "audio|canvas|iframe|math|object|select|svg|textarea|video"

# What stands around the text, on each page the same.
AROUND = "aside|button|dialog|footer|header|nav|noscript|search"

HEADINGS = "h1|h2|h3|h4|h5|h6"

# Their words do not run together with those before and after.  Of rows there are many, so
# only their beginnings are marked; what holds them says where the last one ends.
BLOCKS = (
    "address|article|blockquote|center|details|div|fieldset|figcaption|figure|form|hgroup"
    "|legend|listing|main|marquee|p|plaintext|pre|section|summary|xmp"
)
ROWS = "br|caption|dd|dt|hr|input|li|optgroup|option|td|th|tr"
ROW_HOLDERS = "dir|dl|menu|ol|table|ul"
