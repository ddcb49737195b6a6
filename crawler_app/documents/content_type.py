"""What a Content-Type header says."""

__all__ = ["is_html"]

HTML_TYPES = ("text/html", "application/xhtml+xml")


def is_html(content_type: str) -> bool:
    """Return whether a Content-Type header announces a page.

    >>> is_html("Text/HTML; charset=utf-8"), is_html("image/png")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() in HTML_TYPES
